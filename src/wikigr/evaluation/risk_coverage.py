"""Risk–coverage of a profile: the accuracy among its most confident answers, and the area under the curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wikigr.answer.answer import ABSTAINED
from wikigr.evaluation.samples import Sample, cluster_keys
from wikigr.evaluation.statistics.clusters import Floats
from wikigr.evaluation.statistics.intervals import Estimate, bootstrap_estimate

# The metric that decides whether an answer is right.
RIGHT = "accuracy"
COVERAGES = (0.5, 0.7, 0.9)
# Points of the curve that a report draws.
_MAX_POINTS = 100


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """How well the confidence of a profile ranks its answers.

    Coverage is a share of all questions, answerable or not, with the most confident ones first (El-Yaniv and Wiener
    2010, "On the Foundations of Noise-free Selective Classification"; Geifman and El-Yaniv 2017, "Selective
    Classification for Deep Neural Networks"). Risk is the error rate among the questions covered. An answer is right if
    its accuracy is 1, so an answer to an unanswerable question is always wrong.

    The answer that an abstention withheld is unknown. Abstentions are therefore covered last and count as wrong, which
    is exact for unanswerable questions and the worst case for answerable ones. All figures are defined for every
    profile and comparable between profiles, however often these abstain. Beyond ``coverage``, the share of the
    questions that the profile answered, ``accuracy`` is a lower bound.

    ``accuracy`` maps a coverage to the accuracy among the questions covered. ``aurc`` is the area under the curve, the
    mean of the risk over the coverages 1/n, 2/n … 1 for n samples (Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced
    Uncertainty Estimation for Deep Neural Classifiers"); lower is better. ``curve`` holds pairs of coverage and risk.
    Samples of equal confidence are covered in random order: each figure is the expected one. Covering a part of a
    question counts as that part of it. Each repeat of a question is a sample.
    """

    questions: int
    samples: int
    answered: int
    coverage: float
    accuracy: Mapping[float, Estimate]
    aurc: Estimate
    curve: tuple[tuple[float, float], ...]


def risk_coverage(
    samples: Sequence[Sample], *, seed: int, resamples: int = 9999, clusters: Mapping[str, str] | None = None
) -> RiskCoverage | None:
    """Measure the risk–coverage of one profile, with bootstrap intervals over questions (or ``clusters`` of them).

    Failed samples and those without ``RIGHT`` are left out. Returns None if none remain.
    """
    good = [sample for sample in samples if sample.error is None and RIGHT in sample.metrics]
    if not good:
        return None
    answered = np.array([sample.query_type != ABSTAINED for sample in good])
    # No confidence is below 0.
    confidence = np.where(answered, [sample.confidence for sample in good], -1.0)
    right = np.where(answered, [sample.metrics[RIGHT] for sample in good], 0.0)
    covering = _covering(confidence, right)
    keys = cluster_keys(good, clusters)

    def estimate(statistic: Callable[[Floats, Floats], Floats]) -> Estimate:
        return bootstrap_estimate(
            lambda weights: statistic(*covering(weights)), len(good), seed=seed, resamples=resamples, clusters=keys
        )

    whole = covering(np.ones((1, len(good))))
    points = min(len(good), _MAX_POINTS)
    return RiskCoverage(
        questions=len({sample.question_id for sample in good}),
        samples=len(good),
        answered=int(answered.sum()),
        coverage=float(answered.mean()),
        accuracy={coverage: estimate(partial(_accuracy_at, coverage=coverage)) for coverage in COVERAGES},
        aurc=estimate(_aurc),
        curve=tuple(
            (number / points, float(1.0 - _accuracy_at(*whole, coverage=number / points)[0]))
            for number in range(1, points + 1)
        ),
    )


def _covering(confidence: Floats, right: Floats) -> Callable[[Floats], tuple[Floats, Floats]]:
    """Return a function of weights of shape ``(k, n)``, for k resamples at once.

    It returns two arrays of shape ``(k, g + 1)``: the number of samples covered, and how many of them are right, before
    the first and after each of the g groups of equal confidence, most confident first.
    """
    order = np.argsort(-confidence, kind="stable")
    ordered_right = right[order]
    # The last sample of each group.
    last = np.append(np.flatnonzero(np.diff(confidence[order])), len(order) - 1)

    def cumulative(ordered: Floats) -> Floats:
        return np.concatenate([np.zeros((len(ordered), 1)), np.cumsum(ordered, axis=1)[:, last]], axis=1)

    def of_weights(weights: Floats) -> tuple[Floats, Floats]:
        ordered = weights[:, order]
        return cumulative(ordered), cumulative(ordered * ordered_right)

    return of_weights


def _accuracy_at(covered: Floats, right: Floats, *, coverage: float) -> Floats:
    """Return the accuracy at ``coverage``, in (0, 1], for each of the k rows that ``_covering`` describes."""
    wanted = coverage * covered[:, -1]
    rows = np.arange(len(covered))
    # The group that the last covered sample belongs to. Rounding must not lead past the end.
    after = np.minimum((covered < wanted[:, np.newaxis]).sum(axis=1), covered.shape[1] - 1)
    start, end = covered[rows, after - 1], covered[rows, after]
    of_group = np.divide(wanted - start, end - start, out=np.zeros_like(start), where=end > start)
    before = right[rows, after - 1]
    return np.asarray((before + of_group * (right[rows, after] - before)) / wanted)


def _aurc(covered: Floats, right: Floats) -> Floats:
    """Return the mean of the risk over every number of samples covered, for each of the k rows.

    In a group of g samples with e errors, after c samples with E errors, the risk of the i-th sample is
    ``(E + e * i / g) / (c + i)``. Its sum over i is ``e + (E - e * c / g) * (H(c + g) - H(c))`` with the harmonic
    numbers H.
    """
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, int(covered[:, -1].max()) + 1))])
    errors = covered - right
    group, group_errors = np.diff(covered, axis=1), np.diff(errors, axis=1)
    rate = np.divide(group_errors, group, out=np.zeros_like(group), where=group > 0)
    steps = np.diff(harmonic[np.rint(covered).astype(np.int64)], axis=1)
    sums = group_errors + (errors[:, :-1] - rate * covered[:, :-1]) * steps
    return np.asarray(sums.sum(axis=1) / covered[:, -1])
