"""Reliability of a profile's confidence: the diagram, the calibration error, the precision by level, and abstention."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikigr.answer.answer import ABSTAINED
from wikigr.answer.probability import LEVELS
from wikigr.evaluation.samples import Sample, cluster_keys
from wikigr.evaluation.statistics.intervals import (
    Estimate,
    Floats,
    bootstrap_estimate,
    cluster_numbers,
    wilson_estimate,
)

# The metric that decides whether an answer is right.
RIGHT = "accuracy"
_MAX_BINS = 10
# Fewer answers have fewer bins, so that each bin has about this many.
_MIN_BIN_SIZE = 10
# Simulated sets of answers from which ``Reliability.noise`` is estimated.
_SIMULATIONS = 1_000


def reliability(
    samples: Sequence[Sample], *, seed: int, resamples: int = 9999, clusters: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """Measure whether the confidence of the answers of one profile is the probability that they are right.

    ``ece`` is the expected calibration error: the mean over the bins of ``|accuracy - mean confidence|``, weighted by
    their numbers of answers (Naeini, Cooper and Hauskrecht 2015, "Obtaining Well Calibrated Probabilities Using
    Bayesian Binning"; Guo et al. 2017, "On Calibration of Modern Neural Networks"); lower is better. Its bootstrap
    interval is over questions (or ``clusters`` of them). The at most ten ``bins`` have equal mass, about ten answers or
    more, as in Nguyen and O'Connor (2015), "Posterior Calibration and Exploratory Analysis for Natural Language
    Processing Models"; each has the confidences ``from`` and ``to`` which it reaches, the number of answers, their mean
    confidence, and their accuracy with Wilson's interval, in which dependent answers count as one trial.

    The estimate is biased upward. ``noise`` is the ECE to expect with these confidences and bins if each answer were
    right with the probability that its confidence states: an ``ece`` near it is not evidence of miscalibration.
    Abstentions are left out, because nothing says whether the answers they withheld were right, and so are failed
    samples and those without ``RIGHT``. Returns None if none remain.
    """
    good = [s for s in samples if s.error is None and s.query_type != ABSTAINED and RIGHT in s.metrics]
    if not good:
        return None
    confidence = np.array([sample.confidence for sample in good], dtype=np.float64)
    right = np.array([sample.metrics[RIGHT] for sample in good], dtype=np.float64)
    bins = _equal_mass_bins(confidence, max(1, min(_MAX_BINS, len(good) // _MIN_BIN_SIZE)))
    members = np.equal.outer(bins, np.arange(bins.max() + 1)).astype(np.float64)
    gaps = members * (right - confidence)[:, np.newaxis]
    keys = cluster_keys(good, clusters)

    def of_bin(number: int) -> dict[str, Any]:
        inside = np.flatnonzero(bins == number)
        return {
            "from": float(confidence[inside].min()),
            "to": float(confidence[inside].max()),
            "answers": len(inside),
            "confidence": float(confidence[inside].mean()),
            "accuracy": wilson_estimate(float(right[inside].mean()), len({keys[place] for place in inside})),
        }

    def error(weights: Floats) -> Floats:
        return np.asarray(np.abs(weights @ gaps).sum(axis=1) / weights.sum(axis=1))

    return {
        "answers": len(good),
        "ece": bootstrap_estimate(error, len(good), seed=seed, resamples=resamples, clusters=keys),
        "noise": _noise(confidence, members, cluster_numbers([sample.question_id for sample in good]), seed),
        "bins": list(map(of_bin, range(members.shape[1]))),
    }


def _equal_mass_bins(confidence: Floats, count: int) -> NDArray[np.int64]:
    """Return the number of the bin of each answer, from 0 without gaps.

    Answers of equal confidence share a bin: the one of the middle of their ranks. There may be fewer than ``count``.
    """
    _, which, sizes = np.unique(confidence, return_inverse=True, return_counts=True)
    middles = np.cumsum(sizes) - sizes / 2
    bins = (count * middles / len(confidence)).astype(np.int64)
    _, compact = np.unique(bins, return_inverse=True)
    return np.asarray(compact, dtype=np.int64)[which.reshape(-1)]


def _noise(confidence: Floats, members: Floats, questions: NDArray[np.int64], seed: int) -> float:
    """Return the mean ECE of simulated answers that are right as often as ``confidence`` says.

    The repeats of a question are right together.
    """
    draws = np.random.default_rng(seed)
    total = 0.0
    for _ in range(_SIMULATIONS):
        right = draws.random(int(questions.max()) + 1)[questions] < confidence
        total += float(np.abs((right - confidence) @ members).sum())
    return total / (_SIMULATIONS * len(confidence))


def level_precision(
    samples: Sequence[Sample], *, clusters: Mapping[str, str] | None = None
) -> list[dict[str, Any]] | None:
    """Measure each level, the surest first: the number of answers, and the share that is right, None without any.

    The interval is the Wilson interval of the share. Dependent answers (repeats, clusters) count as one trial. Failed
    samples, abstentions, answers from a model's memory (the last level) and samples without ``RIGHT`` are left
    out. Returns None if none remain, as in older runs, whose samples have no level.
    """
    found = []
    for level in LEVELS[:-1]:
        own = [s for s in samples if s.error is None and s.level == level and RIGHT in s.metrics]
        share = sum(sample.metrics[RIGHT] for sample in own) / len(own) if own else 0.0
        trials = len(set(cluster_keys(own, clusters)))
        precision = wilson_estimate(share, trials) if own else None
        found.append({"level": level, "answers": len(own), "precision": precision})
    return found if any(each["answers"] for each in found) else None


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
