"""Abstention metrics: correctness for one question; AUROC, precision and recall over a set of questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from wikigr.evaluation.metrics.answered import AnsweredQuestion


def measure_abstention(answered: AnsweredQuestion) -> float:
    """Return 1.0 if the pack answers an answerable question or abstains from an unanswerable one, otherwise 0.0."""
    return float(answered.answer.abstained != answered.question.answerable)


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the probability that a positive scores above a negative, with ties counted as half; in [0, 1].

    This is the area under the ROC curve (Hanley and McNeil 1982). It is NaN if all labels are equal. Raises
    ``ValueError`` if the lengths differ or a score is NaN.
    """
    pairs = sorted(zip(scores, labels, strict=True), key=lambda pair: pair[0])
    if any(math.isnan(value) for value, _ in pairs):
        raise ValueError("a score is NaN")
    positives = sum(bool(label) for _, label in pairs)
    negatives = len(pairs) - positives
    if not positives or not negatives:
        return math.nan
    # Twice the number of correctly ordered pairs. Integers avoid rounding before the division.
    doubled = 0
    negatives_below = 0
    start = 0
    while start < len(pairs):
        end = start
        tied_positives = 0
        while end < len(pairs) and pairs[end][0] == pairs[start][0]:
            tied_positives += bool(pairs[end][1])
            end += 1
        tied_negatives = end - start - tied_positives
        doubled += tied_positives * (2 * negatives_below + tied_negatives)
        negatives_below += tied_negatives
        start = end
    return doubled / (2 * positives * negatives)


class PrecisionRecall(NamedTuple):
    """Precision and recall, each in [0, 1], or NaN if its denominator is 0."""

    precision: float
    recall: float


def precision_recall(predicted_abstain: Sequence[bool], should_abstain: Sequence[bool]) -> PrecisionRecall:
    """Return the precision and the recall of abstaining.

    Precision is NaN if no question was abstained from, recall is NaN if every question is answerable. Raises
    ``ValueError`` if the lengths differ.
    """
    pairs = list(zip(predicted_abstain, should_abstain, strict=True))
    both = sum(bool(predicted and due) for predicted, due in pairs)
    predicted = sum(bool(p) for p, _ in pairs)
    due = sum(bool(d) for _, d in pairs)
    return PrecisionRecall(both / predicted if predicted else math.nan, both / due if due else math.nan)
