"""The figures of a profile by group of questions, and their variation between the repeats of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from wikigr.evaluation.comparison import Means
from wikigr.evaluation.metrics import METRICS
from wikigr.evaluation.questions import count_hops
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.intervals import bootstrap_mean

Question = Mapping[str, Any]

# The metrics that a table shows by group: whether the answer is right, and whether all of its support was found.
SHOWN = ("accuracy", "all_found@5", "passage_all_found@5", "section_all_found@5")
# The JSON document has more metrics than fit into a table.
_GROUPED = (*SHOWN, "exact_match", "all_found@10", "passage_all_found@10", "section_all_found@10")


def hops_of(question: Question) -> int | None:
    """Return the number of hops of a stored question, or None if it is unanswerable or the number is unknown."""
    if not question["answerable"]:
        return None
    # Earlier releases stored the type only.
    hops = question.get("hops")
    return count_hops(question["type"]) if hops is None else int(hops)


def group_figures(
    name: str,
    key: Callable[[Question], int | str | None],
    means: Means,
    questions: Mapping[str, Question],
    *,
    seed: int,
    resamples: int,
    clusters: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return the groups of the answered questions by ``key``, in its order: ``{name: key, questions, metrics}``.

    ``means`` holds the mean of each metric by question. Questions whose key is None are left out.
    """
    members: dict[Any, list[str]] = {}
    for id_ in sorted(means.keys() & questions.keys()):
        members.setdefault(key(questions[id_]), []).append(id_)
    members.pop(None, None)
    return [
        {
            name: group,
            "questions": len(ids),
            "metrics": metric_figures({id_: means[id_] for id_ in ids}, _GROUPED, seed, resamples, clusters),
        }
        for group, ids in sorted(members.items())
    ]


def metric_figures(
    means: Means, metrics: Iterable[str], seed: int, resamples: int, clusters: Mapping[str, str] | None
) -> dict[str, dict[str, float]]:
    """Return each of ``metrics`` that applies: mean, ends of the 95% bootstrap interval, and number of questions."""
    found: dict[str, dict[str, float]] = {}
    for metric in metrics:
        values = {id_: by_metric[metric] for id_, by_metric in means.items() if metric in by_metric}
        if values:
            keys = [clusters.get(id_, id_) for id_ in values] if clusters else None
            mean = bootstrap_mean(list(values.values()), seed=seed, resamples=resamples, clusters=keys)
            found[metric] = {"mean": mean.value, "low": mean.low, "high": mean.high, "questions": len(values)}
    return found


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
