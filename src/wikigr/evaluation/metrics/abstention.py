"""AUROC: how well a score tells two kinds of questions apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from wikigr.evaluation.statistics.clusters import Floats


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the probability that a positive scores above a negative, with ties counted as half; in [0, 1].

    This is the area under the ROC curve (Hanley and McNeil 1982). It is NaN if all labels are equal. Raises
    ``ValueError`` if the lengths differ or a score is NaN.
    """
    pairs = list(zip(scores, labels, strict=True))
    if any(math.isnan(score) for score in scores):
        raise ValueError("a score is NaN")
    return float(weighted_auroc(scores, labels)(np.ones((1, len(pairs))))[0]) if pairs else math.nan


def weighted_auroc(scores: Sequence[float], labels: ArrayLike) -> Callable[[Floats], Floats]:
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
        return share((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))

    return of_weights


def share(part: Floats, whole: Floats) -> Floats:
    """Return ``part / whole``, and NaN where ``whole`` is 0."""
    return np.divide(part, whole, out=np.full_like(whole, math.nan), where=whole > 0)
