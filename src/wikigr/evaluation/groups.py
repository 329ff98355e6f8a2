"""The figures of a profile by group of questions: by number of hops and by type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wikigr.evaluation.comparison import Means
from wikigr.evaluation.questions import count_hops
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
