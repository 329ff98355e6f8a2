"""Personalized PageRank over a pack's graph: what is near to the things that a question names and to what it finds.

Haveliwala 2002 (topic-sensitive PageRank); as a retriever for questions over several articles, Gutiérrez et al. 2024
(HippoRAG), where a language model reads every passage first. Here the edges are links, mentions and triples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikigr.graph.graph_index import GraphIndex
from wikigr.graph.neighborhood import Edge
from wikigr.graph.schema import section_id
from wikigr.index.candidate import Candidate
from wikigr.retrieval.entity_linking import Link

# A walk starts from the articles of so many of the best candidates, each with its relevance to this power: the first
# ones decide, the others break ties.
SEEDS = 20
_SEED_POWER = 4
# Steps of the walk. With the default restart a seed's weight has spread all but (1 - 0.4)^5 = 8 % of its way then; more
# steps change no ranking that was measured.
_STEPS = 5
# What a candidate's own relevance adds to its article's share of the walk: it orders those that no walk reaches.
_OWN = 0.05
# Articles that only the walk found and that come into the running.
_MAX_NEW = 20


def personalized_pagerank(index: GraphIndex, seeds: Mapping[int, float], *, restart: float) -> NDArray[np.float64]:
    """Return the weight of every node after a walk that returns to ``seeds`` with probability ``restart``.

    A step goes to each neighbor in proportion to 1 / sqrt(its degree), so that hubs do not drown what is particular.
    The weights are not negative; the highest is 1 (all are 0 without seeds).
    """
    start = np.zeros(len(index))
    for number, weight in seeds.items():
        start[number] = weight
    total = start.sum()
    if not total:
        return start
    start /= total
    weights = start
    for _ in range(_STEPS):
        arriving = index.pull * index.sum_over_neighbors(weights * index.shares)
        weights = restart * start + (1.0 - restart) * arriving
    highest: float = weights.max()
    return weights / highest


def seed_weights(index: GraphIndex, candidates: Sequence[Candidate], links: Sequence[Link]) -> dict[int, float]:
    """Return where a walk starts: at what the question names, by the links' scores, and at the best candidates."""
    seeds: dict[int, float] = {}
    for link in links:
        number = index.number_of_node(link.node)
        if number is not None:
            seeds[number] = seeds.get(number, 0.0) + link.score
    best: dict[str, float] = {}
    for candidate in candidates:
        if candidate.title not in best and len(best) == SEEDS:
            break
        best[candidate.title] = max(best.get(candidate.title, 0.0), candidate.relevance)
    for title, relevance in best.items():
        number = index.number_of(title)
        if number is not None and relevance > 0.0:
            seeds[number] = seeds.get(number, 0.0) + relevance**_SEED_POWER
    return seeds


def rerank_by_walk(
    index: GraphIndex, candidates: Sequence[Candidate], links: Sequence[Link], *, restart: float
) -> list[Candidate]:
    """Return ``candidates`` (best first) and the leads of articles that only the walk found, ranked anew, ties by id.

    A section's score is its article's share of the walk, and of that as much as the section is relevant beside the
    article's most relevant one. ``restart`` lies in (0, 1): the lower, the farther the walk goes. Without a seed the
    candidates stay as they are.
    """
    seeds = seed_weights(index, candidates, links)
    if not any(seeds.values()):
        return list(candidates)
    weights = personalized_pagerank(index, seeds, restart=restart)
    best: dict[str, float] = {}
    for candidate in candidates:
        best[candidate.title] = max(best.get(candidate.title, 0.0), candidate.relevance)
    numbers = {title: index.number_of(title) for title in best}
    scored = []
    for candidate in candidates:
        number = numbers[candidate.title]
        weight = float(weights[number]) if number is not None else 0.0
        top = best[candidate.title]
        within = candidate.relevance / top if top > 0.0 else 1.0
        scored.append(_walked(candidate, within * weight + _OWN * candidate.relevance, weight))
    for number in _highest(weights[: index.articles], _MAX_NEW):
        title = index.node(number).key
        if title not in best:
            lead = Candidate(section_id(title, 0), 0.0, {"relevance": 0.0})
            scored.append(_walked(lead, float(weights[number]), float(weights[number])))
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.section_id))


def state_facts(candidates: Sequence[Candidate], facts: Sequence[Edge]) -> list[Candidate]:
    """Return ``candidates`` with the sections that state ``facts`` first, in the order of the facts.

    Their ``fact`` score is the place of their first fact, from 1.
    """
    places: dict[str, int] = {}
    for place, edge in enumerate(facts, start=1):
        if edge.section_id:
            places.setdefault(edge.section_id, place)
    known = {candidate.section_id: candidate for candidate in candidates}
    first = []
    for section, place in places.items():
        candidate = known.pop(section, Candidate(section, 0.0, {"relevance": 0.0}))
        scores = {**candidate.scores, "relevance": candidate.relevance, "fact": float(place)}
        first.append(replace(candidate, score=1.0 + 1.0 / place, scores=scores))
    return [*first, *known.values()]


def _walked(candidate: Candidate, score: float, weight: float) -> Candidate:
    scores = {**candidate.scores, "relevance": candidate.relevance, "walk": weight}
    return replace(candidate, score=score / (1.0 + _OWN), scores=scores)


def _highest(weights: NDArray[np.float64], count: int) -> list[int]:
    """Return the numbers of the ``count`` highest weights above 0, highest first, ties by number."""
    order = np.argsort(-weights, kind="stable")[:count]
    return [int(number) for number in order if weights[number] > 0.0]
