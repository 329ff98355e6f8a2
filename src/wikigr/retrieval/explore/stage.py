"""The stage that looks a question up in the graph (reference/multi-strategy-retrieval.md)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from wikigr.errors import UsageError
from wikigr.index.candidate import section_ids
from wikigr.retrieval.explore.options import MultiStrategyOptions
from wikigr.retrieval.state import Resources, RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace

if TYPE_CHECKING:
    from wikigr.retrieval.explore.explorer import Explorer


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
        from wikigr.retrieval.explore.explorer import Explorer

        return Explorer(self.resources, self.options)

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        from wikigr.retrieval.explore.graph_context import promote_facts

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
