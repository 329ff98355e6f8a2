"""The figures of a profile by group of questions: by number of hops and by type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from wikigr.evaluation.comparison import Means
from wikigr.evaluation.questions import count_hops
from wikigr.evaluation.statistics.bootstrap import Estimate, bootstrap_interval

GROUPED = (
    "accuracy",
    "exact_match",
    "all_found@5",
    "all_found@10",
    "passage_all_found@5",
    "passage_all_found@10",
    "section_all_found@5",
    "section_all_found@10",
)
"""The metrics that are reported by group: whether the answer is right, and whether all its support was found."""

Question = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of the answered questions of a group.

    ``key`` is the number of hops or the type. ``metrics`` maps each metric of ``GROUPED`` that applies to its mean and
    the number of questions that it applies to.
    """

    key: int | str
    questions: int
    metrics: Mapping[str, tuple[Estimate, int]]


def hops_of(question: Question) -> int | None:
    """Return the number of hops of a stored question, or None if it is unanswerable or the number is unknown."""
    if not question["answerable"]:
        return None
    # Earlier releases stored the type only.
    hops = question.get("hops")
    return count_hops(question["type"]) if hops is None else int(hops)


def type_of(question: Question) -> str | None:
    """Return the type of a stored question, or None without one."""
    return question["type"] or None


def group_figures(
    means: Means,
    questions: Mapping[str, Question],
    key: Callable[[Question], int | str | None],
    *,
    seed: int,
    resamples: int,
    clusters: Mapping[str, str] | None = None,
) -> list[Group]:
    """Return the groups of the answered questions by ``key``, in its order, with 95% bootstrap intervals.

    ``means`` holds the mean of each metric by question. Questions whose key is None are left out.
    """
    members: dict[int | str, list[str]] = {}
    for id_ in means.keys() & questions.keys():
        group = key(questions[id_])
        if group is not None:
            members.setdefault(group, []).append(id_)
    found = []
    for group, ids in sorted(members.items()):
        metrics = {}
        for metric in GROUPED:
            applies = [id_ for id_ in sorted(ids) if metric in means[id_]]
            if applies:
                values = [means[id_][metric] for id_ in applies]
                keys = [clusters.get(id_, id_) for id_ in applies] if clusters else None
                interval = bootstrap_interval(values, seed=seed, resamples=resamples, clusters=keys)
                metrics[metric] = (Estimate(fmean(values), interval), len(values))
        found.append(Group(group, len(ids), metrics))
    return found
