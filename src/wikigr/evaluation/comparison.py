"""The comparison of two arms over the same questions, and the questions on which they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from wikigr.errors import UsageError
from wikigr.evaluation.metrics import METRICS, known_metric
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.paired import PairedResult, Verdict, compare_paired, correct_secondary

PRIMARY = "accuracy"
# Two arms whose difference is smaller count as equivalent.
MARGIN = 0.02

Means = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """``second`` compared with ``first``: one paired result per metric, the primary metric first.

    ``unpaired`` is the number of questions that only one arm answered; they are left out.
    """

    first: str
    second: str
    primary: str
    margin: float
    seed: int
    questions: int
    unpaired: int
    results: tuple[PairedResult, ...]

    @property
    def primary_result(self) -> PairedResult | None:
        """The result of the primary metric, or None if it applies to no question that both arms answered."""
        return next((result for result in self.results if result.metric == self.primary), None)

    @property
    def summary(self) -> str:
        """The comparison on the primary metric in one line."""
        result = self.primary_result
        said = "it applies to no question that both answered" if result is None else result.summary
        return f"{self.second} against {self.first} in {self.primary}: {said}"


@dataclass(frozen=True, slots=True)
class Flip:
    """A question whose value of the primary metric changed between two arms."""

    question_id: str
    first: Sample
    second: Sample
    difference: float
    worse: bool


def means_by_question(samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """Return the mean of each metric over the repeats, by question; failed samples are left out."""
    values: dict[str, dict[str, list[float]]] = {}
    for sample in samples:
        if sample.error is None:
            by_metric = values.setdefault(sample.question_id, {})
            for metric, value in sample.metrics.items():
                by_metric.setdefault(metric, []).append(value)
    return {question: {m: fmean(v) for m, v in metrics.items()} for question, metrics in sorted(values.items())}


def compare(
    first: Sequence[Sample],
    second: Sequence[Sample],
    *,
    names: tuple[str, str],
    seed: int,
    primary: str = PRIMARY,
    margin: float = MARGIN,
    clusters: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare two arms on the questions that both answered.

    Raises ``UsageError`` for an unknown primary metric, an invalid margin, or two arms without a common question.
    """
    known_metric(primary)
    if not 0.0 <= margin < math.inf:
        raise UsageError(f"The margin must be a finite number of at least 0, not {margin}.")
    left, right = means_by_question(first), means_by_question(second)
    shared = left.keys() & right.keys()
    if not shared:
        raise UsageError(f"{names[0]} and {names[1]} have no answered question in common.")
    results = []
    for metric in dict.fromkeys((primary, *METRICS)):
        pairs = paired_values(left, right, metric)
        if not pairs:
            continue
        result = compare_paired(
            metric,
            [before for before, _ in pairs.values()],
            [after for _, after in pairs.values()],
            # The mean over several repeats may lie between 0 and 1.
            binary=METRICS[metric].binary and all(v in (0.0, 1.0) for pair in pairs.values() for v in pair),
            seed=seed,
            margin=margin,
            clusters=[clusters.get(q, q) for q in pairs] if clusters else None,
        )
        if not METRICS[metric].higher_is_better:
            opposite = {Verdict.IMPROVED: Verdict.REGRESSED, Verdict.REGRESSED: Verdict.IMPROVED}
            verdict = opposite.get(result.verdict, result.verdict)
            result = replace(result, verdict=verdict, wins=result.losses, losses=result.wins)
        results.append(result)
    return Comparison(
        first=names[0],
        second=names[1],
        primary=primary,
        margin=margin,
        seed=seed,
        questions=len(shared),
        unpaired=len(left.keys() ^ right.keys()),
        results=tuple(correct_secondary(results, primary=primary)),
    )


def paired_values(left: Means, right: Means, metric: str) -> dict[str, tuple[float, float]]:
    """Return the values of both arms by question, for the questions that have ``metric`` in both."""
    return {
        question: (metrics[metric], right[question][metric])
        for question, metrics in left.items()
        if metric in metrics and metric in right.get(question, {})
    }


def flips(first: Sequence[Sample], second: Sequence[Sample], metric: str = PRIMARY) -> list[Flip]:
    """Return the questions whose mean of ``metric`` differs, the worst change first, then by id.

    Raises ``UsageError`` for an unknown metric.
    """
    sign = 1.0 if METRICS[known_metric(metric)].higher_is_better else -1.0
    pairs = paired_values(means_by_question(first), means_by_question(second), metric)
    found = [
        Flip(question, *_most_apart(first, second, question, metric), after - before, sign * (after - before) < 0.0)
        for question, (before, after) in pairs.items()
        if after != before
    ]
    return sorted(found, key=lambda flip: (sign * flip.difference, flip.question_id))


def _most_apart(first: Sequence[Sample], second: Sequence[Sample], question: str, metric: str) -> tuple[Sample, Sample]:
    """Return one sample of each arm: the first pair of repeats with the largest difference."""
    one, other = (
        [s for s in arm if s.question_id == question and s.error is None and metric in s.metrics]
        for arm in (first, second)
    )
    pairs = [(a, b) for a in one for b in other]
    return max(pairs, key=lambda pair: abs(pair[1].metrics[metric] - pair[0].metrics[metric]))
