"""What asking again changes: a run's own noise, when every question was asked several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from wikigr.evaluation.metrics import METRICS
from wikigr.evaluation.samples import Sample


@dataclass(frozen=True, slots=True)
class Repeats:
    """How far the ``count`` repeats of a run differ.

    ``deviations`` holds by metric the standard deviation (that of a sample, divisor ``count - 1``) between the means
    that the repeats had, each over the questions that the metric applied to. ``questions`` are those that failed in no
    repeat; the others are left out, lest a failure look like a change. ``unstable`` are the ids of those whose primary
    metric was not the same in all repeats, ``unstable_share`` is their share of the ``judged`` ones, which it applied
    to at least once: in [0, 1], and None when there are none.
    """

    count: int
    questions: int
    deviations: Mapping[str, float]
    judged: int
    unstable: tuple[str, ...]
    unstable_share: float | None


def repeats(samples: Sequence[Sample], count: int, primary: str) -> Repeats | None:
    """Compare the ``count`` repeats in ``samples`` of one profile; None for fewer than two, or without whole questions.

    A metric that does not apply in some repeat (no citation to be judged) is a change, too.
    """
    if count < 2:
        return None
    by_question: dict[str, dict[int, Sample]] = {}
    for sample in samples:
        if sample.error is None:
            by_question.setdefault(sample.question_id, {})[sample.repeat] = sample
    whole = {id_: found for id_, found in sorted(by_question.items()) if len(found) == count}
    if not whole:
        return None
    deviations = {}
    for metric in METRICS:
        values = [
            [found[repeat].metrics[metric] for found in whole.values() if metric in found[repeat].metrics]
            for repeat in range(count)
        ]
        if all(values):
            deviations[metric] = stdev(map(fmean, values))
    primaries = {id_: {sample.metrics.get(primary) for sample in found.values()} for id_, found in whole.items()}
    judged = [id_ for id_, values in primaries.items() if values != {None}]
    unstable = tuple(id_ for id_ in judged if len(primaries[id_]) > 1)
    share = len(unstable) / len(judged) if judged else None
    return Repeats(count, len(whole), deviations, len(judged), unstable, share)
