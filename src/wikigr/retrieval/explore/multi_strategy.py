"""The orchestrator: link, follow triplets, follow paths, query, and again, until a planner or a limit ends it.

After reference/multi-strategy-retrieval.md, with its two planners: rules, and a model.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph, QueryError
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step
from wikigr.llm.budget import BudgetError
from wikigr.llm.failures import LlmError
from wikigr.retrieval.cypher.runner import run_query
from wikigr.retrieval.cypher.tokens import BlockedQueryError
from wikigr.retrieval.entity_linking import EntityLinker
from wikigr.retrieval.explore.graph_context import GraphContext, Piece
from wikigr.retrieval.explore.paths import Path, follow_metapath, parse_metapath, shortest_paths
from wikigr.retrieval.explore.planners import Plan, Planner, State
from wikigr.retrieval.explore.triplets import Chooser, Chosen, Guide, Option, TripletRetriever, Walked
from wikigr.retrieval.trace import Trace

StopReason = Literal["finish", "no_progress", "iterations", "budget", "failed"]

# Nodes of a question between which paths are looked for: pairs of the first ones.
_MAX_JOINED = 3
_MAX_PATHS = 20
# A link is a weaker tie than a fact: between two things, one article that both link to says something, two do not.
_LINK_HOPS = 2
_FACT_HOPS = 3
_MAX_ROWS = 20
_SHOWN_VALUE = 200
# A mention links to no more nodes than this.
_MAX_MEANT = 2
# One query of a planner, in seconds, where the question has that many left.
_QUERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Limits:
    """``nodes`` that may be explored, ``seconds`` after which nothing more is looked up, ``tokens`` of context.

    The time is looked at before everything that reads the graph; a query is interrupted when it is up.
    """

    iterations: int = 2
    nodes: int = 200
    seconds: float = 60.0
    tokens: int = 2_000


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was found: the context, the queries as they ran, and every node explored, in order.

    ``iterations`` are those that looked something up. ``chain`` are the facts that lead from a node of the question to
    what most likely answers it.
    """

    context: GraphContext
    explored: tuple[Node, ...]
    queries: tuple[str, ...]
    chain: tuple[Edge, ...]
    stop_reason: StopReason
    iterations: int

    @property
    def facts(self) -> tuple[Edge, ...]:
        """The facts that a section states: those of the chain, then all others, in the order found."""
        edges = (*self.chain, *(edge for piece in self.context.pieces for edge in piece.edges))
        return tuple(dict.fromkeys(edge for edge in edges if edge.section_id))


@dataclass(frozen=True, slots=True)
class _Clock:
    """Counts the seconds of one question."""

    seconds: float
    ends: float

    @classmethod
    def of(cls, seconds: float) -> _Clock:
        return cls(seconds, time.monotonic() + seconds)

    @property
    def left(self) -> float:
        return self.ends - time.monotonic()

    def check(self) -> float:
        """Return the seconds that are left; raises ``BudgetError`` where none are."""
        left = self.left
        if left <= 0:
            raise BudgetError(f"The {self.seconds:g} s of the question were up before its search had ended.")
        return left


@dataclass(slots=True)
class _Search:
    context: GraphContext
    clock: _Clock
    # What the question was linked to: metapaths start there, whether or not its triplets were read.
    linked: dict[Node, None] = field(default_factory=dict)
    explored: dict[Node, None] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    feedback: list[str] = field(default_factory=list)
    chain: tuple[Edge, ...] = ()


class MultiStrategy:
    """Looks a question up in the graph of a pack; ``limits`` hold for every question.

    ``triplets`` makes a retriever of triplets with a chooser: ``chooser``, kept from what was explored before.
    """

    def __init__(
        self,
        graph: Graph,
        neighborhood: Neighborhood,
        linker: EntityLinker,
        chooser: Chooser,
        triplets: Callable[[Chooser], TripletRetriever],
        limits: Limits,
    ) -> None:
        self._graph = graph
        self._neighborhood = neighborhood
        self._linker = linker
        self._chooser = chooser
        self._triplets = triplets
        self._limits = limits

    def explore(self, question: str, planner: Planner, trace: Trace) -> Exploration:
        """Return what the graph says about ``question``; every iteration adds a stage to ``trace``.

        Raises ``QueryError``, and what ``planner`` raises; ``BudgetError`` and ``LlmError`` only end the search.
        """
        search = _Search(GraphContext(self._limits.tokens), _Clock.of(self._limits.seconds))
        stop: StopReason = "iterations"
        followed = 0
        for iteration in range(self._limits.iterations):
            if search.clock.left <= 0 or len(search.explored) >= self._limits.nodes:
                stop = "budget"
                break
            with trace.stage(f"graph_{iteration + 1}") as record:
                before = len(search.context.lines), len(search.explored)
                try:
                    plan = planner.plan(
                        State(question, iteration, search.context.lines, tuple(search.feedback), tuple(search.explored))
                    )
                    record.notes["plan"] = _noted(plan)
                    if plan.finish:
                        stop = "finish"
                        break
                    search.feedback.clear()
                    followed += 1
                    self._follow(question, plan, search)
                except BudgetError as error:
                    stop = "budget"
                    record.warning = error.message
                    break
                except LlmError as error:
                    # What was found before it stands.
                    stop = "failed"
                    record.degrade(error.message)
                    break
                finally:
                    record.scored = len(search.context.lines) - before[0]
                    record.notes["explored"] = [node.label for node in list(search.explored)[before[1] :]]
                    record.notes["feedback"] = list(search.feedback)
                    record.notes["truncated"] = search.context.truncated
                if (len(search.context.lines), len(search.explored)) == before and not search.feedback:
                    stop = "no_progress"
                    break
        return Exploration(search.context, tuple(search.explored), tuple(search.queries), search.chain, stop, followed)

    def _follow(self, question: str, plan: Plan, search: _Search) -> None:
        nodes = [*plan.nodes, *self._linked(plan.mentions, search.clock)]
        room = max(0, self._limits.nodes - len(search.explored))
        fresh = [node for node in dict.fromkeys(nodes) if node not in search.explored][:room]
        search.linked.update(dict.fromkeys(nodes))
        if fresh:
            self._read_triplets(question, fresh, search)
        if plan.metapaths:
            self._follow_metapaths(plan.metapaths, search)
        elif len(fresh) > 1:
            self._join(fresh, search)
        for query in plan.queries:
            self._run(query, search, min(_QUERY_SECONDS, search.clock.check()))

    def _linked(self, mentions: Sequence[str], clock: _Clock) -> list[Node]:
        linked = []
        for mention in mentions:
            clock.check()
            linked += [link.node for link in self._linker.link_mention(mention)[:_MAX_MEANT]]
        return [self._neighborhood.unified(node) for node in linked]

    def _read_triplets(self, question: str, nodes: Sequence[Node], search: _Search) -> None:
        search.clock.check()
        bounded = _Bounded(self._chooser, search.explored, self._limits.nodes, search.clock)
        result = self._triplets(bounded).retrieve(question, nodes)
        search.explored.update(dict.fromkeys(result.explored))
        search.context.add(Piece(str(edge), "triplets", (edge,)) for edge in result.triplets)
        search.chain = search.chain or result.chain
        if result.stop_reason == "budget":
            search.clock.check()
            raise BudgetError("The budget ended the search for triplets.")

    def _follow_metapaths(self, metapaths: Sequence[str], search: _Search) -> None:
        for text in metapaths:
            search.clock.check()
            try:
                steps = parse_metapath(text, self._neighborhood)
            except UsageError as error:
                search.feedback.append(f"The metapath {text} cannot be followed: {error.message} {error.hint or ''}")
                continue
            for node in list({**search.linked, **search.explored})[: self._limits.nodes]:
                search.clock.check()
                found = follow_metapath(self._neighborhood, node, steps, max_paths=_MAX_PATHS)
                search.context.add(_piece(path) for path in found.paths)

    def _join(self, nodes: Sequence[Node], search: _Search) -> None:
        """Add the shortest paths between the first nodes: along facts, or else over one article that both link to."""
        facts = [name for name in self._neighborhood.relations if name not in STRUCTURAL]
        for one, other in combinations(nodes[:_MAX_JOINED], 2):
            for relations, hops in ((facts, _FACT_HOPS), (None, _LINK_HOPS)):
                if relations == []:
                    continue
                search.clock.check()
                found = shortest_paths(
                    self._neighborhood, one, other, max_hops=hops, max_paths=_MAX_PATHS, relations=relations
                )
                search.context.add(_piece(path) for path in found.paths)
                if found.paths:
                    break

    def _run(self, query: str, search: _Search, timeout: float) -> None:
        try:
            result = run_query(self._graph, query, max_rows=_MAX_ROWS, timeout=timeout)
        except BlockedQueryError as error:
            search.feedback.append(f"Blocked, never run: {query}\n{error.message} {error.hint or ''}")
            return
        except QueryError as error:
            search.feedback.append(f"Failed with {type(error).__name__}: {query}\n{error.message}")
            return
        search.queries.append(result.executed)
        if not result.rows:
            search.feedback.append(
                f"Ran, and found nothing: {query}\nCheck names, directions and spelling against the schema."
            )
        lines = (_row(result.columns, row) for row in result.rows)
        search.context.add(Piece(line, "cypher", query=result.executed) for line in lines)


class _Bounded:
    """A chooser that leads to nothing that was ``explored`` before, and to no more than ``most`` nodes in all.

    It raises ``BudgetError`` instead of choosing when the time of ``clock`` is up.
    """

    def __init__(self, chooser: Chooser, explored: dict[Node, None], most: int, clock: _Clock) -> None:
        self._chooser = chooser
        self._explored = explored
        self._most = most
        self._clock = clock

    @property
    def always_links(self) -> bool:
        return self._chooser.always_links

    def begin(self, question: str, sources: Sequence[Node]) -> Guide:
        return _BoundedGuide(self._chooser.begin(question, sources), self._explored, self._most, self._clock)


@dataclass(frozen=True, slots=True)
class _BoundedGuide:
    guide: Guide
    explored: dict[Node, None]
    most: int
    clock: _Clock

    def relations(self, options: Sequence[Option], most: int) -> Chosen[Step]:
        self.clock.check()
        chosen = self.guide.relations(options, most)
        if not chosen.finish:
            self.explored.update(dict.fromkeys(option.node for option in options))
        return chosen

    def ranked(self, walked: Sequence[Walked]) -> Sequence[Walked]:
        return self.guide.ranked(walked)

    def entities(self, found: Sequence[Edge], walked: Sequence[Walked], most: int) -> Chosen[Node]:
        self.clock.check()
        onwards = [item for item in walked if item.end not in self.explored]
        room = min(most, self.most - len(self.explored))
        if not onwards or room < 1:
            return Chosen()
        chosen = self.guide.entities(found, onwards, room)
        return Chosen(chosen.items[:room], chosen.finish)

    def answer(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        return self.guide.answer(found)


def _piece(path: Path) -> Piece:
    return Piece(str(path), "paths", path.edges)


def _row(columns: Sequence[str], row: Sequence[object]) -> str:
    values = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in row)
    # A line, whatever the value is made of.
    shown = (" ".join(value[:_SHOWN_VALUE].split()) for value in values)
    return "; ".join(f"{name}: {value}" for name, value in zip(columns, shown, strict=True))


def _noted(plan: Plan) -> dict[str, object]:
    return {
        "mentions": list(plan.mentions),
        "nodes": [node.label for node in plan.nodes],
        "metapaths": list(plan.metapaths),
        "queries": list(plan.queries),
        "finish": plan.finish,
    }
