"""Abstention of a profile: precision, recall and AUROC with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wikigr.answer.answer import ABSTAINED
from wikigr.evaluation.samples import Sample, cluster_keys
from wikigr.evaluation.statistics.intervals import Estimate, Floats, bootstrap_estimate


def abstention(
    samples: Sequence[Sample],
    answerable: Mapping[str, bool],
    *,
    seed: int,
    resamples: int = 9999,
    clusters: Mapping[str, str] | None = None,
) -> dict[str, Any] | None:
    """Measure abstention as the detection of unanswerable questions; ``answerable`` says which ids have an answer.

    ``precision`` is the share of abstentions that were right, or None without abstentions. ``recall`` is the share of
    unanswerable questions that were abstained from. ``auroc`` is the probability that an answerable question has a
    higher confidence than an unanswerable one, at any threshold (0.5 is chance, 1 is perfect separation), or None
    without answerable questions. The other figures count samples, so each repeat of a question counts.

    Each sample is a row. The bootstrap draws whole questions (or ``clusters`` of them), because repeats of a question
    are not independent. Failed samples are left out. Returns None if no question is unanswerable.
    """
    good = [sample for sample in samples if sample.error is None and sample.question_id in answerable]
    due = np.array([not answerable[sample.question_id] for sample in good], dtype=np.float64)
    if not due.any():
        return None
    abstained = np.array([sample.query_type == ABSTAINED for sample in good], dtype=np.float64)
    keys = cluster_keys(good, clusters)

    def estimate(statistic: Callable[[Floats], Floats]) -> Estimate | None:
        found = bootstrap_estimate(statistic, len(good), seed=seed, resamples=resamples, clusters=keys)
        return None if math.isnan(found.value) else found

    return {
        "questions": len({sample.question_id for sample in good}),
        "answerable": len(good) - int(due.sum()),
        "unanswerable": int(due.sum()),
        "abstained": int(abstained.sum()),
        "abstained_rightly": int((abstained * due).sum()),
        "precision": estimate(lambda weights: _share(weights @ (abstained * due), weights @ abstained)),
        "recall": estimate(lambda weights: _share(weights @ (abstained * due), weights @ due)),
        # Answerable questions should have high confidence, so they are the positive labels.
        "auroc": estimate(_weighted_auroc([sample.confidence for sample in good], 1.0 - due)),
    }


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the probability that a positive scores above a negative, with ties counted as half; in [0, 1].

    This is the area under the ROC curve (Hanley and McNeil 1982). It is NaN if all labels are equal.
    """
    return float(_weighted_auroc(scores, labels)(np.ones((1, len(scores))))[0]) if scores else math.nan


def _weighted_auroc(scores: Sequence[float], labels: ArrayLike) -> Callable[[Floats], Floats]:
    """Return ``auroc`` as a function of weights of shape ``(k, n)``, for k resamples at once."""
    order = np.argsort(scores, kind="stable")
    ordered_labels = np.asarray(labels, dtype=np.float64)[order]
    # The start of each group of equal scores.
    _, starts = np.unique(np.asarray(scores)[order], return_index=True)

    def of_weights(weights: Floats) -> Floats:
        ordered = weights[:, order]
        positive = np.add.reduceat(ordered * ordered_labels, starts, axis=1)
        negative = np.add.reduceat(ordered * (1.0 - ordered_labels), starts, axis=1)
        below = np.cumsum(negative, axis=1) - negative / 2
        return _share((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))

    return of_weights


def _share(part: Floats, whole: Floats) -> Floats:
    """Return ``part / whole``, and NaN where ``whole`` is 0."""
    return np.divide(part, whole, out=np.full_like(whole, math.nan), where=whole > 0)
