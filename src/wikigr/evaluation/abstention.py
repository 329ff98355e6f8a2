"""Abstention of a profile: precision, recall and AUROC with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wikigr.answer.answer import ABSTAINED
from wikigr.evaluation.metrics.abstention import auroc, precision_recall
from wikigr.evaluation.samples import Sample, cluster_keys
from wikigr.evaluation.statistics.bootstrap import Estimate, bootstrap_statistic_interval
from wikigr.evaluation.statistics.clusters import Floats


@dataclass(frozen=True, slots=True)
class Abstention:
    """Abstention seen as the detection of unanswerable questions.

    ``precision`` is the share of abstentions that were right, or None without abstentions. ``recall`` is the share of
    unanswerable questions that were abstained from. ``auroc`` is the probability that an answerable question has a
    higher confidence than an unanswerable one, at any threshold (0.5 is chance, 1 is perfect separation), or None
    without answerable questions. The counts are samples, so each repeat of a question counts.
    """

    questions: int
    answerable: int
    unanswerable: int
    abstained: int
    abstained_rightly: int
    precision: Estimate | None
    recall: Estimate | None
    auroc: Estimate | None


def abstention(
    samples: Sequence[Sample],
    answerable: Mapping[str, bool],
    *,
    seed: int,
    resamples: int = 9999,
    clusters: Mapping[str, str] | None = None,
) -> Abstention | None:
    """Measure the abstention of one profile; ``answerable`` says for each question id whether it has an answer.

    Each sample is a row. The bootstrap draws whole questions (or ``clusters`` of them), because repeats of a question
    are not independent. Failed samples are left out. Returns None if no question is unanswerable.
    """
    good = [sample for sample in samples if sample.error is None and sample.question_id in answerable]
    should = [not answerable[sample.question_id] for sample in good]
    if not any(should):
        return None
    did = [sample.query_type == ABSTAINED for sample in good]
    confidence = [sample.confidence for sample in good]
    keys = cluster_keys(good, clusters)
    abstained, due = np.array(did, dtype=np.float64), np.array(should, dtype=np.float64)

    def estimate(value: float, of_weights: Callable[[Floats], Floats]) -> Estimate | None:
        if math.isnan(value):
            return None
        interval = bootstrap_statistic_interval(of_weights, len(good), seed=seed, resamples=resamples, clusters=keys)
        return Estimate(value, interval)

    precision, recall = precision_recall(did, should)
    return Abstention(
        questions=len({sample.question_id for sample in good}),
        answerable=len(good) - sum(should),
        unanswerable=sum(should),
        abstained=sum(did),
        abstained_rightly=sum(d and s for d, s in zip(did, should, strict=True)),
        precision=estimate(precision, lambda weights: _share(weights @ (abstained * due), weights @ abstained)),
        recall=estimate(recall, lambda weights: _share(weights @ (abstained * due), weights @ due)),
        # Answerable questions should have high confidence, so they are the positive labels.
        auroc=estimate(auroc(confidence, [not s for s in should]), _weighted_auroc(confidence, 1.0 - due)),
    )


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full_like(whole, math.nan), where=whole > 0)


def _weighted_auroc(scores: Sequence[float], labels: Floats) -> Callable[[Floats], Floats]:
    """Return ``auroc`` as a function of weights of shape ``(k, n)``, for k resamples at once."""
    order = np.argsort(scores, kind="stable")
    # The start of each group of equal scores.
    _, starts = np.unique(np.asarray(scores)[order], return_index=True)

    def of_weights(weights: Floats) -> Floats:
        ordered = weights[:, order]
        positive = np.add.reduceat(ordered * labels[order], starts, axis=1)
        negative = np.add.reduceat(ordered * (1.0 - labels[order]), starts, axis=1)
        below = np.cumsum(negative, axis=1) - negative / 2
        return _share((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))

    return of_weights
