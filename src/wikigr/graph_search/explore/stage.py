"""The stage that looks a question up in the graph (reference/multi-strategy-retrieval.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import Edge
from wikigr.graph_search.explore.options import MultiStrategyOptions
from wikigr.index.candidate import FACT, RELEVANCE, Candidate, section_ids
from wikigr.retrieval.state import Resources, RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace

if TYPE_CHECKING:
    from wikigr.graph_search.explore.multi_strategy import Explorer


class MultiStrategyStage(RetrievalStage[MultiStrategyOptions]):
    """Explore the graph, and move the sections that state the facts found to the front."""

    name = "multi_strategy"
    leaves_articles = True

    def __init__(self, resources: Resources, options: MultiStrategyOptions) -> None:
        """Raises ``UsageError`` if the options require Claude and there is no model."""
        if options.planner == "claude" and resources.model is None:
            raise UsageError(
                "The profile requires Claude for planning (multi_strategy.planner), but there is no model.",
                hint="Set ANTHROPIC_API_KEY, or multi_strategy.planner: auto.",
            )
        super().__init__(resources, options)

    @cached_property
    def explorer(self) -> Explorer:
        """Explores the pack's graph; imported on first use, because most questions do not need it."""
        from wikigr.graph_search.explore.multi_strategy import Explorer

        return Explorer(self.resources, self.options)

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        exploration = self.explorer.explore(state.question.text, state.links, state.candidates, trace)
        # A model has already selected the relevant facts. Without one, only facts that answer the question are
        # promoted.
        facts = exploration.facts if self.resources.model else exploration.chain
        candidates = promote_facts(state.candidates, facts)
        record.scored = len(exploration.context.lines)
        record.ranking = section_ids(candidates)
        record.notes.update(
            stop_reason=exploration.stop_reason,
            iterations=exploration.iterations,
            context=exploration.context.lines,
            queries=list(exploration.queries),
        )
        return replace(state, candidates=tuple(candidates), exploration=exploration)


def promote_facts(candidates: Sequence[Candidate], facts: Sequence[Edge]) -> list[Candidate]:
    """Return ``candidates`` with the sections that state ``facts`` moved to the front, in the order of the facts.

    Adds sections that were not candidates. The ``fact`` score is the rank of the section's first fact, from 1.
    """
    ranks: dict[str, int] = {}
    for rank, edge in enumerate(facts, start=1):
        if edge.section_id:
            ranks.setdefault(edge.section_id, rank)
    others = {candidate.section_id: candidate for candidate in candidates}
    promoted = []
    for section, rank in ranks.items():
        candidate = others.pop(section, Candidate(section, 0.0, {RELEVANCE: 0.0}))
        scores = {**candidate.scores, RELEVANCE: candidate.relevance, FACT: float(rank)}
        promoted.append(replace(candidate, score=1.0 + 1.0 / rank, scores=scores))
    return [*promoted, *others.values()]
