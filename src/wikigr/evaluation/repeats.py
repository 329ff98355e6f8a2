"""The variation between the repeats of a run that asked every question several times."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from wikigr.evaluation.metrics import METRICS
from wikigr.evaluation.samples import Sample


def repeats(samples: Sequence[Sample], count: int, primary: str) -> dict[str, Any] | None:
    """Compare the ``count`` repeats in the samples of one profile; return None for a single repeat or no good question.

    ``deviations`` maps each metric to the sample standard deviation (divisor ``count - 1``) of the means of the
    repeats, each over the questions that the metric applies to. ``questions`` counts the questions that failed in no
    repeat; the others are left out, because a failure is not a change. ``judged`` counts the questions to which the
    primary metric applied at least once. ``unstable`` holds the ids of those whose primary metric differed between
    repeats, and ``unstable_share`` is their share of ``judged``, in [0, 1], or None if ``judged`` is 0.
    A metric that applies in only some repeats (no citation in the others) also counts as a change.
    """
    if count < 2:
        return None
    by_question: dict[str, dict[int, Sample]] = {}
    for sample in samples:
        if sample.error is None:
            by_question.setdefault(sample.question_id, {})[sample.repeat] = sample
    complete = {id_: found for id_, found in sorted(by_question.items()) if len(found) == count}
    if not complete:
        return None
    deviations = {}
    for metric in METRICS:
        values = [
            [found[repeat].metrics[metric] for found in complete.values() if metric in found[repeat].metrics]
            for repeat in range(count)
        ]
        if all(values):
            deviations[metric] = stdev(map(fmean, values))
    primaries = {id_: {sample.metrics.get(primary) for sample in found.values()} for id_, found in complete.items()}
    judged = [id_ for id_, values in primaries.items() if values != {None}]
    unstable = tuple(id_ for id_ in judged if len(primaries[id_]) > 1)
    share = len(unstable) / len(judged) if judged else None
    return {
        "count": count,
        "questions": len(complete),
        "deviations": deviations,
        "judged": len(judged),
        "unstable": unstable,
        "unstable_share": share,
    }
