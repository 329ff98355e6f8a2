"""Fuse ranked lists, by reciprocal ranks or by weighted min-max scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from wikigr.index.candidate import RELEVANCE, Candidate, Hit

# Cormack, Clarke, Buettcher (2009), "Reciprocal Rank Fusion outperforms Condorcet".
RRF_K = 60

_Item = TypeVar("_Item")

# Scores are normalized over this many hits of a run, however deep it goes, so that the top of a fused list does not
# depend on how many results are requested.
POOL = 100


def best_of(
    runs: Iterable[Iterable[_Item]], *, key: Callable[[_Item], str], score: Callable[[_Item], float]
) -> list[_Item]:
    """Return the item with the highest ``score`` for each ``key`` in ``runs``, best first, ties by key."""
    best: dict[str, _Item] = {}
    for run in runs:
        for item in run:
            known = best.get(key(item))
            if known is None or score(item) > score(known):
                best[key(item)] = item
    return sorted(best.values(), key=lambda item: (-score(item), key(item)))


def reciprocal_rank_fusion(runs: Mapping[str, Sequence[Hit]]) -> list[Candidate]:
    """Fuse ``runs`` by ``sum(1 / (RRF_K + rank))``, rank from 1; best first, ties by section id.

    ``relevance`` is the score as a share of the highest possible one.
    """
    totals: dict[str, float] = {}
    for run in runs.values():
        for rank, hit in enumerate(run, start=1):
            totals[hit.section_id] = totals.get(hit.section_id, 0.0) + 1.0 / (RRF_K + rank)
    highest = len(runs) / (RRF_K + 1)
    return [
        replace(candidate, scores={**candidate.scores, RELEVANCE: candidate.score / highest})
        for candidate in _candidates(totals, runs)
    ]


def weighted_fusion(runs: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Candidate]:
    """Fuse ``runs`` by the weighted sum of their min-max normalized scores; best first, ties by section id.

    A section that is missing from a run has that run's lowest score, 0. Fused scores lie in [0, 1] if the weights
    sum to 1. Raises ``KeyError`` for a run without a weight.
    """
    totals: dict[str, float] = {}
    for name, run in runs.items():
        if not run:
            continue
        low, high = run[:POOL][-1].score, run[0].score
        for hit in run:
            value = max(0.0, (hit.score - low) / (high - low)) if high > low else 1.0
            totals[hit.section_id] = totals.get(hit.section_id, 0.0) + weights[name] * value
    return _candidates(totals, runs)


def _candidates(totals: Mapping[str, float], runs: Mapping[str, Sequence[Hit]]) -> list[Candidate]:
    scores: dict[str, dict[str, float]] = {section_id: {} for section_id in totals}
    for name, run in runs.items():
        for rank, hit in enumerate(run, start=1):
            scores[hit.section_id][name] = hit.score
            scores[hit.section_id][f"{name}_rank"] = rank
    fused = [Candidate(section_id, score, scores[section_id]) for section_id, score in totals.items()]
    return sorted(fused, key=lambda candidate: (-candidate.score, candidate.section_id))
