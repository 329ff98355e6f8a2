"""How well a profile tells the questions that it cannot answer, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikigr.evaluation.metrics.abstention import auroc, precision_recall
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.bootstrap import Interval, bootstrap_statistic_interval

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure in [0, 1] with its 95 % bootstrap interval over questions."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Abstention:
    """Abstaining from unanswerable questions, as a search for them.

    ``precision`` is the share of the abstentions that were right, None without abstentions; ``recall`` the share of
    the unanswerable questions that were abstained from. ``auroc`` is the probability that an answerable question has
    more confidence than an unanswerable one (0.5: confidence tells nothing; 1: it parts them), whatever the threshold;
    None without answerable questions. The counts are of samples, so that a question counts once for each repeat.
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
    """Judge when ``samples`` of one profile abstained; ``answerable`` says by id which questions have an answer.

    Each sample is a row of its own, repeats too, and the bootstrap draws whole questions (or ``clusters`` of them):
    repeats of a question are not independent. Failed samples are left out. None when no question is unanswerable.
    """
    good = [sample for sample in samples if sample.error is None and sample.question_id in answerable]
    should = [not answerable[sample.question_id] for sample in good]
    if not any(should):
        return None
    did = [sample.query_type == "abstained" for sample in good]
    confidence = [sample.confidence for sample in good]
    keys = [(clusters or {}).get(sample.question_id, sample.question_id) for sample in good]
    abstained, due = np.array(did, dtype=np.float64), np.array(should, dtype=np.float64)

    def estimate(value: float, of_weights: Callable[[_Floats], _Floats]) -> Estimate | None:
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
        # High confidence must go with the answerable ones, so these are the true labels.
        auroc=estimate(auroc(confidence, [not s for s in should]), _weighted_auroc(confidence, 1.0 - due)),
    )


def _share(part: _Floats, whole: _Floats) -> _Floats:
    return np.divide(part, whole, out=np.full_like(whole, math.nan), where=whole > 0)


def _weighted_auroc(scores: Sequence[float], labels: _Floats) -> Callable[[_Floats], _Floats]:
    """Return ``auroc`` as a function of weights of shape ``(k, n)``, for k resamples at once."""
    order = np.argsort(scores, kind="stable")
    # Where each group of equal scores starts.
    _, starts = np.unique(np.asarray(scores)[order], return_index=True)

    def of_weights(weights: _Floats) -> _Floats:
        ordered = weights[:, order]
        positive = np.add.reduceat(ordered * labels[order], starts, axis=1)
        negative = np.add.reduceat(ordered * (1.0 - labels[order]), starts, axis=1)
        below = np.cumsum(negative, axis=1) - negative / 2
        return _share((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))

    return of_weights
