"""Triplet retrieval: a beam search from the entities of a question, pruned at each step.

Think-on-Graph (Sun et al. 2024); reference/multi-strategy-retrieval.md, "Agentic triplet retrieval". ``rule_pruner``
prunes without a model, ``model_pruner`` asks one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Generic, Literal, Protocol, TypeVar

from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step
from wikigr.graph_search.explore.paths import check_limits
from wikigr.llm.budget import BudgetError

StopReason = Literal["finish", "no_progress", "max_iterations", "max_triplets", "budget"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CandidateRelation:
    """A relation that leads on from ``node``, with its number of ``edges`` there (a lower bound if structural)."""

    node: Node
    step: Step
    edges: int


@dataclass(frozen=True, slots=True)
class FollowedTriplet:
    """A triplet in the direction of the search: from ``node`` along ``edge`` to ``end``."""

    node: Node
    edge: Edge

    @property
    def end(self) -> Node:
        return self.edge.other(self.node)

    @property
    def step(self) -> Step:
        return self.edge.step_from(self.node)


@dataclass(frozen=True, slots=True)
class Selection(Generic[_T]):
    """What a pruner keeps, best first; ``finish`` means that the triplets found so far suffice."""

    items: tuple[_T, ...] = ()
    finish: bool = False


class QuestionPruner(Protocol):
    """Prunes the search for one question. The caller drops items beyond ``limit`` and items it did not offer."""

    def prune_relations(self, candidates: Sequence[CandidateRelation], limit: int) -> Selection[Step]:
        """Select the relations whose triplets to read."""
        ...

    def rank_triplets(self, hops: Sequence[FollowedTriplet]) -> Sequence[FollowedTriplet]:
        """Return the triplets of the selected relations, best first."""
        ...

    def prune_entities(self, found: Sequence[Edge], hops: Sequence[FollowedTriplet], limit: int) -> Selection[Node]:
        """Select the entities to expand next among the ends of ``hops``, or finish with what was ``found``."""
        ...

    def answer_chain(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        """Return the edges of ``found`` from a source to the most likely answer; empty if unknown."""
        ...


class Pruner(Protocol):
    """Creates a ``QuestionPruner`` per question.

    With ``always_links``, structural relations (links, mentions) are candidates even if there are many facts.
    """

    @property
    def always_links(self) -> bool: ...

    def begin(self, question: str, sources: Sequence[Node]) -> QuestionPruner: ...


@dataclass(frozen=True, slots=True)
class TripletResult:
    """``triplets`` and ``explored`` entities, in the order found.

    ``chain`` leads from a source to the most likely answer, if the pruner knows it.
    """

    triplets: tuple[Edge, ...]
    explored: tuple[Node, ...]
    stop_reason: StopReason
    chain: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """Limits of several searches together: nodes in ``explored`` are not explored again, and at most ``max_nodes`` are.

    Explored nodes are added to ``explored``. ``check`` raises ``BudgetError`` when the time is up.
    """

    explored: dict[Node, None] = field(default_factory=dict)
    max_nodes: int = sys.maxsize
    check: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True)
class TripletRetriever:
    """Explores the graph from the entities of a question and collects triplets.

    Each iteration expands at most ``max_num_entities`` unexplored entities along at most ``max_num_relations``
    relations, reads at most ``max_edges_per_relation`` edges of a relation per node, and keeps the best triplets. All
    iterations together keep at most ``max_num_triplets``; each one may use an even share of the remaining room.
    Raises ``UsageError`` for a limit below 1.
    """

    neighborhood: Neighborhood
    pruner: Pruner
    _: KW_ONLY
    max_num_relations: int = 5
    max_num_entities: int = 5
    max_num_iterations: int = 3
    max_num_triplets: int = 60
    max_edges_per_relation: int = 100

    def __post_init__(self) -> None:
        check_limits(**{field.name: getattr(self, field.name) for field in fields(self) if field.kw_only})

    def retrieve(
        self, question: str, source_entities: Sequence[Node], shared: SharedLimits | None = None
    ) -> TripletResult:
        """Return the triplets found for ``question`` from ``source_entities``, best first within each iteration.

        Skips entities that are not in the pack. An exhausted budget ends the search and keeps what it found
        (``stop_reason`` "budget"). Raises ``QueryError``, and ``LlmError`` if the pruner asks a model.
        """
        stored = self.neighborhood.nodes((node.kind, node.key) for node in source_entities)
        sources = list(dict.fromkeys(self.neighborhood.unified(node) for node in stored))
        state = _SearchState(self.pruner.begin(question, sources), shared or SharedLimits())
        stop = self._search(state, sources)
        state.shared.explored.update(state.explored)
        triplets = tuple(state.found.values())
        chain = state.pruner.answer_chain(triplets)
        return TripletResult(triplets, tuple(state.explored), stop, chain)

    def _search(self, state: _SearchState, frontier: Sequence[Node]) -> StopReason:
        for iteration in range(self.max_num_iterations):
            fresh = frontier[: self.max_num_entities]
            if not fresh:
                return "no_progress"
            candidates = self._candidate_relations(fresh)
            if not candidates:
                state.explored.update(dict.fromkeys(fresh))
                return "no_progress"
            try:
                state.shared.check()
                relations = state.pruner.prune_relations(candidates, self.max_num_relations)
            except BudgetError:
                return "budget"
            if relations.finish:
                return "finish"
            state.shared.explored.update(dict.fromkeys(candidate.node for candidate in candidates))
            state.explored.update(dict.fromkeys(fresh))
            offered = {candidate.step for candidate in candidates}
            steps = [step for step in dict.fromkeys(relations.items) if step in offered][: self.max_num_relations]
            kept = self._keep_best(state, candidates, steps, self.max_num_iterations - iteration)
            if not kept:
                return "max_triplets" if len(state.found) >= self.max_num_triplets else "no_progress"
            if len(state.found) >= self.max_num_triplets:
                return "max_triplets"
            known = state.shared.explored
            unexplored = [hop for hop in kept if hop.end not in state.explored and hop.end not in known]
            room = min(self.max_num_entities, state.shared.max_nodes - len(known))
            if iteration + 1 == self.max_num_iterations:
                # No further iteration: skip the pruner's selection of entities.
                return "max_iterations"
            try:
                state.shared.check()
                if not unexplored or room < 1:
                    return "no_progress"
                entities = state.pruner.prune_entities(list(state.found.values()), unexplored, room)
            except BudgetError:
                return "budget"
            if entities.finish:
                return "finish"
            reached = {hop.end for hop in unexplored}
            frontier = [node for node in dict.fromkeys(entities.items) if node in reached][:room]
        return "max_iterations"

    def _candidate_relations(self, nodes: Sequence[Node]) -> list[CandidateRelation]:
        """Return the facts at ``nodes``, then structural relations if facts are few or the pruner always wants them."""
        candidates = [
            CandidateRelation(node, step, count)
            for node in nodes
            for step, count in self.neighborhood.facts_at(node).items()
        ]
        if self.pruner.always_links or len({candidate.step for candidate in candidates}) < self.max_num_relations:
            links = self.neighborhood.expand(nodes, relations=STRUCTURAL, most=self.max_edges_per_relation)
            for node in nodes:
                counts: dict[Step, int] = {}
                for edge in links.edges[node]:
                    step = edge.step_from(node)
                    counts[step] = counts.get(step, 0) + 1
                candidates += (CandidateRelation(node, step, count) for step, count in counts.items())
        return candidates

    def _keep_best(
        self, state: _SearchState, candidates: Sequence[CandidateRelation], steps: Sequence[Step], iterations_left: int
    ) -> list[FollowedTriplet]:
        """Read the triplets of the selected relations and keep the best new ones."""
        hops: dict[tuple[Node, str, Node], FollowedTriplet] = {}
        for step in steps:
            nodes = [candidate.node for candidate in candidates if candidate.step == step]
            read = self.neighborhood.expand(
                nodes, relations=[step.relation], inverse=step.inverse, most=self.max_edges_per_relation
            )
            for node in nodes:
                for edge in read.edges[node]:
                    if _key(edge) not in state.found:
                        hops.setdefault(_key(edge), FollowedTriplet(node, edge))
        room = self.max_num_triplets - len(state.found)
        share = max(1, room // iterations_left)
        ranked = list(state.pruner.rank_triplets(list(hops.values())))
        kept = ranked[: min(share, room)]
        state.found.update((_key(hop.edge), hop.edge) for hop in kept)
        return kept


@dataclass(slots=True)
class _SearchState:
    """The state of one search."""

    pruner: QuestionPruner
    shared: SharedLimits
    # Keyed by ends and relation: a fact stated in two sections is one triplet.
    found: dict[tuple[Node, str, Node], Edge] = field(default_factory=dict)
    explored: dict[Node, None] = field(default_factory=dict)


def _key(edge: Edge) -> tuple[Node, str, Node]:
    return edge.source, edge.relation, edge.target
