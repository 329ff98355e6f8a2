"""The stage that links the names in a question to the pack's graph, for the stages that follow the graph."""

from __future__ import annotations

from dataclasses import replace

from wikigr.index.candidate import DENSE
from wikigr.retrieval.graph_walk import GraphWalkOptions
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace


class EntityLinking(RetrievalStage[GraphWalkOptions]):
    """Find the nodes that the question names; the best cosine of an article decides between nodes of one name."""

    def applies(self, state: State) -> bool:
        return state.within is None and super().applies(state)

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        cosines = {c.title: c.scores[DENSE] for c in reversed(state.candidates) if DENSE in c.scores}
        links = self.resources.linker.link_question(state.question.text, relevance=cosines)
        record.warning = self.resources.pack.graph_index_warning
        record.scored = len(links)
        record.notes["links"] = [f"{link.mention} → {link.node.label} ({link.score:.2f})" for link in links]
        return replace(state, links=tuple(links))
