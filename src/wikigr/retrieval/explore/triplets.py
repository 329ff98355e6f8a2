"""Triplets around given entities: a search that goes on, step by step, where a chooser says that the answer lies.

reference/multi-strategy-retrieval.md, "Agentic triplet retrieval". ``rule_chooser`` needs no model, ``model_chooser``
asks one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step
from wikigr.llm.budget import BudgetError
from wikigr.retrieval.trace import StageRecord

StopReason = Literal["finish", "no_progress", "max_iterations", "max_triplets", "budget"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Option:
    """A relation that leads on from a node, and how many edges it has there (at least, for links and mentions)."""

    node: Node
    step: Step
    edges: int


@dataclass(frozen=True, slots=True)
class Walked:
    """A triplet as the search came to it: from ``node`` along ``edge``."""

    node: Node
    edge: Edge

    @property
    def end(self) -> Node:
        return self.edge.other(self.node)

    @property
    def step(self) -> Step:
        return self.edge.step_from(self.node)


@dataclass(frozen=True, slots=True)
class Chosen(Generic[_T]):
    """What a chooser chose, the best first; ``finish`` says that what was found is enough."""

    items: tuple[_T, ...] = ()
    finish: bool = False


class Guide(Protocol):
    """Chooses for one question. What it returns beyond ``most``, or did not get, is left out."""

    def relations(self, options: Sequence[Option], most: int) -> Chosen[Step]:
        """Choose the relations whose triplets are to be read."""
        ...

    def ranked(self, walked: Sequence[Walked]) -> Sequence[Walked]:
        """Order the triplets of these relations, the best first."""
        ...

    def entities(self, found: Sequence[Edge], walked: Sequence[Walked], most: int) -> Chosen[Node]:
        """Choose the entities to go on from among the ends of ``walked``, or finish with what was ``found``."""
        ...

    def answer(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        """Return the way, along edges of ``found``, from a source to what most likely answers; empty if unknown."""
        ...


class Chooser(Protocol):
    """Makes a guide for each question. ``always_links``: links are options even where there are facts enough."""

    @property
    def always_links(self) -> bool: ...

    def begin(self, question: str, sources: Sequence[Node]) -> Guide: ...


@dataclass(frozen=True, slots=True)
class TripletResult:
    """``triplets`` and ``explored`` entities in the order found; ``last``: the ends of the last iteration's triplets.

    ``chain`` is the way from a source to what most likely answers the question, where the chooser can tell.
    ``truncated`` says that a limit left triplets out of what was chosen.
    """

    triplets: tuple[Edge, ...]
    explored: tuple[Node, ...]
    last: tuple[Node, ...]
    iterations: int
    truncated: bool
    stop_reason: StopReason
    chain: tuple[Edge, ...] = ()


class TripletRetriever:
    """Explores the graph from the entities of a question and returns the triplets on the way.

    Each iteration reads the relations at no more than ``max_num_entities`` entities that were not explored before,
    follows no more than ``max_num_relations`` of them, and keeps the best of their triplets: all iterations together
    ``max_num_triplets``, of which each may use an even share of what is left. At a node no more than
    ``max_edges_per_relation`` edges of a relation are read. Raises ``UsageError`` for a limit below 1.
    """

    def __init__(
        self,
        neighborhood: Neighborhood,
        chooser: Chooser,
        *,
        max_num_relations: int = 5,
        max_num_entities: int = 5,
        max_num_iterations: int = 3,
        max_num_triplets: int = 60,
        max_edges_per_relation: int = 100,
    ) -> None:
        limits = {
            "max_num_relations": max_num_relations,
            "max_num_entities": max_num_entities,
            "max_num_iterations": max_num_iterations,
            "max_num_triplets": max_num_triplets,
            "max_edges_per_relation": max_edges_per_relation,
        }
        for name, limit in limits.items():
            if limit < 1:
                raise UsageError(f"{name} cannot be {limit}: it is at least 1.")
        self._neighborhood = neighborhood
        self._chooser = chooser
        self.max_num_relations = max_num_relations
        self.max_num_entities = max_num_entities
        self.max_num_iterations = max_num_iterations
        self.max_num_triplets = max_num_triplets
        self.max_edges_per_relation = max_edges_per_relation

    def retrieve(
        self, question: str, source_entities: Sequence[Node], record: StageRecord | None = None
    ) -> TripletResult:
        """Return the triplets found for ``question`` from ``source_entities``, the most important first.

        Entities that are not in the pack are left out. ``record`` gets what was scored, and the outcome in its notes. A
        budget that is used up ends the search with what it found (``stop_reason`` "budget"). Raises ``QueryError``, and
        ``LlmError`` where a model is asked.
        """
        stored = self._neighborhood.nodes((node.kind, node.key) for node in source_entities)
        sources = list(dict.fromkeys(self._neighborhood.unified(node) for node in stored))
        search = _Search(self._chooser.begin(question, sources))
        stop = self._search(search, sources)
        result = TripletResult(
            tuple(search.found.values()),
            tuple(search.explored),
            search.last,
            search.iterations,
            search.truncated,
            stop,
            search.guide.answer(tuple(search.found.values())),
        )
        if record is not None:
            record.scored += search.read
            record.notes.update(
                stop_reason=stop,
                iterations=result.iterations,
                explored=[node.label for node in result.explored],
                triplets=[str(edge) for edge in result.triplets],
                truncated=result.truncated,
            )
        return result

    def _search(self, search: _Search, frontier: Sequence[Node]) -> StopReason:
        for iteration in range(self.max_num_iterations):
            search.truncated = search.truncated or len(frontier) > self.max_num_entities
            fresh = frontier[: self.max_num_entities]
            if not fresh:
                return "no_progress"
            options = self._options(fresh)
            if not options:
                search.explored.update(dict.fromkeys(fresh))
                return "no_progress"
            try:
                relations = search.guide.relations(options, self.max_num_relations)
            except BudgetError:
                return "budget"
            if relations.finish:
                return "finish"
            search.explored.update(dict.fromkeys(fresh))
            search.iterations += 1
            offered = {option.step for option in options}
            steps = [step for step in dict.fromkeys(relations.items) if step in offered][: self.max_num_relations]
            kept = self._keep(search, options, steps, self.max_num_iterations - iteration)
            if not kept:
                return "max_triplets" if len(search.found) >= self.max_num_triplets else "no_progress"
            if len(search.found) >= self.max_num_triplets:
                return "max_triplets"
            onwards = [walked for walked in kept if walked.end not in search.explored]
            if iteration + 1 == self.max_num_iterations:
                # Nobody needs the next entities, nor to be asked whether this is enough.
                return "max_iterations"
            try:
                entities = search.guide.entities(list(search.found.values()), onwards, self.max_num_entities)
            except BudgetError:
                return "budget"
            if entities.finish:
                return "finish"
            reached = {walked.end for walked in onwards}
            frontier = [node for node in dict.fromkeys(entities.items) if node in reached]
        return "max_iterations"

    def _options(self, nodes: Sequence[Node]) -> list[Option]:
        """What leads on from the nodes: facts, then links where facts are few or the chooser wants them always."""
        options = [
            Option(node, step, count) for node in nodes for step, count in self._neighborhood.facts_at(node).items()
        ]
        if self._chooser.always_links or len({option.step for option in options}) < self.max_num_relations:
            links = self._neighborhood.expand(nodes, relations=STRUCTURAL, most=self.max_edges_per_relation)
            for node in nodes:
                counts: dict[Step, int] = {}
                for edge in links.edges[node]:
                    step = edge.step_from(node)
                    counts[step] = counts.get(step, 0) + 1
                options += (Option(node, step, count) for step, count in counts.items())
        return options

    def _keep(
        self, search: _Search, options: Sequence[Option], steps: Sequence[Step], iterations_left: int
    ) -> list[Walked]:
        """Read the triplets of the chosen relations, and keep the best that are new."""
        walked: dict[tuple[Node, str, Node], Walked] = {}
        for step in steps:
            nodes = [option.node for option in options if option.step == step]
            read = self._neighborhood.expand(
                nodes, relations=[step.relation], inverse=step.inverse, most=self.max_edges_per_relation
            )
            search.truncated = search.truncated or bool(read.cut)
            for node in nodes:
                for edge in read.edges[node]:
                    search.read += 1
                    if _key(edge) not in search.found:
                        walked.setdefault(_key(edge), Walked(node, edge))
        room = self.max_num_triplets - len(search.found)
        share = max(1, room // iterations_left)
        ranked = list(search.guide.ranked(list(walked.values())))
        search.truncated = search.truncated or len(ranked) > share
        kept = ranked[: min(share, room)]
        search.found.update((_key(item.edge), item.edge) for item in kept)
        if kept:
            search.last = tuple(dict.fromkeys(item.end for item in kept))
        return kept


@dataclass(slots=True)
class _Search:
    """How far one search has come."""

    guide: Guide
    # By ends and relation: the same thing stated in two sections is one triplet.
    found: dict[tuple[Node, str, Node], Edge] = field(default_factory=dict)
    explored: dict[Node, None] = field(default_factory=dict)
    last: tuple[Node, ...] = ()
    iterations: int = 0
    read: int = 0
    truncated: bool = False


def _key(edge: Edge) -> tuple[Node, str, Node]:
    return edge.source, edge.relation, edge.target
