"""Rerank candidates by personalized PageRank from the nodes that a question names and the best candidates.

Follows HippoRAG (Gutiérrez et al. 2024), but walks over links, mentions and triples instead of an LLM-extracted graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from wikigr.graph.graph_index import GraphIndex
from wikigr.graph.personalized_pagerank import personalized_pagerank
from wikigr.graph.schema import section_id
from wikigr.index.candidate import DENSE, RELEVANCE, WALK, Candidate, section_ids
from wikigr.options import Limits, Options
from wikigr.retrieval.entity_linking import EntityLink
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace

# Weight of a candidate's own relevance in its score. It orders candidates that the walk does not reach.
_OWN_WEIGHT = 0.05


def seed_weights(index: GraphIndex, candidates: Sequence[Candidate], links: Sequence[EntityLink]) -> dict[int, float]:
    """Return the personalization of the walk: a weight by node number.

    A linked node gets the score of its link. Each article of the best candidates gets its highest relevance to the
    power of four.
    """
    seeds: dict[int, float] = {}
    for link in links:
        number = index.number_of_node(link.node)
        if number is not None:
            seeds[number] = seeds.get(number, 0.0) + link.score
    best: dict[str, float] = {}
    for candidate in candidates:
        title = candidate.title
        # Twenty articles seed the walk.
        if title not in best and len(best) == 20:
            break
        best[title] = max(best.get(title, 0.0), candidate.relevance)
    for title, number in index.numbers_of(list(best)).items():
        if (relevance := best[title]) > 0.0:
            # A high power lets the top candidates dominate.
            seeds[number] = seeds.get(number, 0.0) + relevance**4
    return seeds


def rerank_by_walk(
    index: GraphIndex, candidates: Sequence[Candidate], links: Sequence[EntityLink], *, restart: float
) -> list[Candidate]:
    """Rerank ``candidates`` (best first) and add the leads of articles that only the walk reaches.

    A section's score is its article's PageRank weight, scaled by the section's relevance relative to the article's
    most relevant section. Ties break by section id. ``restart`` lies in (0, 1); a lower value lets the walk go farther.
    Returns the candidates unchanged when nothing seeds the walk.
    """
    seeds = seed_weights(index, candidates, links)
    if not any(seeds.values()):
        return list(candidates)
    weights = personalized_pagerank(index, seeds, restart=restart)
    titles = [candidate.title for candidate in candidates]
    best: dict[str, float] = {}
    for title, candidate in zip(titles, candidates, strict=True):
        best[title] = max(best.get(title, 0.0), candidate.relevance)
    numbers = index.numbers_of(list(best))
    scored = []
    for title, candidate in zip(titles, candidates, strict=True):
        number = numbers.get(title)
        weight = float(weights[number]) if number is not None else 0.0
        top = best[title]
        within = candidate.relevance / top if top > 0.0 else 1.0
        scored.append(_with_walk_score(candidate, within * weight + _OWN_WEIGHT * candidate.relevance, weight))
    # The walk may add twenty articles to the candidates.
    for number in _highest(weights[: index.articles], 20):
        title = index.node(number).key
        if title not in best:
            lead = Candidate(section_id(title, 0), 0.0, {RELEVANCE: 0.0})
            scored.append(_with_walk_score(lead, float(weights[number]), float(weights[number])))
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.section_id))


def _with_walk_score(candidate: Candidate, score: float, weight: float) -> Candidate:
    scores = {**candidate.scores, RELEVANCE: candidate.relevance, WALK: weight}
    return Candidate(candidate.section_id, score / (1.0 + _OWN_WEIGHT), scores)


def _highest(weights: NDArray[np.float64], count: int) -> list[int]:
    """Return the indices of the ``count`` highest positive weights, highest first, ties by index."""
    reached = np.flatnonzero(weights)
    if len(reached) > count:
        # Ties with the last one are kept until they are sorted.
        reached = reached[weights[reached] >= np.partition(weights[reached], -count)[-count]]
    order = np.argsort(-weights[reached], kind="stable")[:count]
    return [int(number) for number in reached[order]]


@dataclass(frozen=True, slots=True)
class GraphWalkOptions(Options):
    """Walking along links, mentions and facts from the nodes that the question names and the articles found."""

    section: ClassVar[str] = "graph_walk"

    enabled: Annotated[bool, "walk along links, mentions and facts from the named nodes and the articles found"] = True
    restart: Annotated[
        float,
        Limits(gt=0.0, lt=1.0),
        "probability of returning to the start at each step; a higher value keeps the walk closer",
    ] = 0.4


class EntityLinking(RetrievalStage[GraphWalkOptions]):
    """Find the nodes that the question names; the best cosine of an article ranks nodes with the same name."""

    name = "entity_linking"
    leaves_articles = True

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        cosines = {c.title: c.scores[DENSE] for c in reversed(state.candidates) if DENSE in c.scores}
        links = self.resources.linker.link_question(state.question.text, relevance=cosines)
        record.warning = self.resources.pack.graph_index_warning
        record.scored = len(links)
        record.notes["links"] = [f"{link.mention} → {link.node.label} ({link.score:.2f})" for link in links]
        return replace(state, links=tuple(links))


class GraphWalk(RetrievalStage[GraphWalkOptions]):
    """Rerank by a walk over the pack's graph, which may also find new articles."""

    name = "graph_walk"
    leaves_articles = True

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        candidates = rerank_by_walk(
            self.resources.pack.graph_index, state.candidates, state.links, restart=self.options.restart
        )
        record.scored = len(candidates)
        record.ranking = section_ids(candidates)
        return replace(state, candidates=tuple(candidates))
