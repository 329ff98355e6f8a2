"""Multi-strategy retrieval: link entities, retrieve triplets and paths, run queries, and repeat.

Implements reference/multi-strategy-retrieval.md. A planner, based on rules or a model, decides what to look up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from wikigr.errors import PackError, UsageError
from wikigr.graph.engine import QueryError
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step
from wikigr.index.candidate import FACT, RELEVANCE, Candidate
from wikigr.llm.budget import BudgetError
from wikigr.llm.failures import LlmError
from wikigr.retrieval.cypher.dialect import BlockedQueryError
from wikigr.retrieval.cypher.runner import QueryRunner
from wikigr.retrieval.entity_linking import EntityLinker
from wikigr.retrieval.explore.metapath import follow_metapath, parse_metapath
from wikigr.retrieval.explore.paths import Path, shortest_paths
from wikigr.retrieval.explore.planners import Plan, Planner, PlannerState
from wikigr.retrieval.explore.triplets import (
    CandidateRelation,
    FollowedTriplet,
    Pruner,
    QuestionPruner,
    Selection,
    TripletRetriever,
)
from wikigr.retrieval.trace import Trace

Strategy = Literal["triplets", "paths", "cypher"]

# Characters per token of English text. A rough estimate is enough for a budget.
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """One line of context. ``edges`` are the edges it verbalizes; a row of a Cypher query has a ``query`` instead."""

    text: str
    strategy: Strategy
    edges: tuple[Edge, ...] = ()
    query: str = ""

    @property
    def section_ids(self) -> tuple[str, ...]:
        """The sections that state the edges, in order."""
        return tuple(dict.fromkeys(edge.section_id for edge in self.edges if edge.section_id))


@dataclass(slots=True)
class GraphContext:
    """Distinct pieces from all strategies, in the order they were added, within a budget of ``max_tokens``."""

    max_tokens: int
    truncated: bool = False
    _pieces: dict[str, Piece] = field(default_factory=dict)
    _tokens: int = 0

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(self._pieces.values())

    @property
    def lines(self) -> list[str]:
        """The text of every piece."""
        return list(self._pieces)

    def add(self, pieces: Iterable[Piece]) -> int:
        """Add the pieces that are new and fit the budget; return how many were added."""
        added = 0
        for piece in pieces:
            if piece.text in self._pieces:
                continue
            tokens = len(piece.text) // _CHARS_PER_TOKEN + 1
            if self._tokens + tokens > self.max_tokens:
                self.truncated = True
                continue
            self._pieces[piece.text] = piece
            self._tokens += tokens
            added += 1
        return added


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


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of the time for one question; ``at`` is a value of ``time.monotonic``."""

    seconds: float
    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(seconds, time.monotonic() + seconds)

    @property
    def left(self) -> float:
        return self.at - time.monotonic()

    def check(self) -> float:
        """Return the seconds that are left; raises ``BudgetError`` after the deadline."""
        left = self.left
        if left <= 0:
            raise BudgetError(f"The search of the graph ran out of time ({self.seconds:g} s per question).")
        return left


class BoundedPruner:
    """Wraps a pruner so that it skips nodes in ``explored`` and adds nodes to it up to ``max_nodes``.

    Raises ``BudgetError`` instead of pruning after the deadline.
    """

    def __init__(self, pruner: Pruner, explored: dict[Node, None], max_nodes: int, deadline: Deadline) -> None:
        self._pruner = pruner
        self._explored = explored
        self._max_nodes = max_nodes
        self._deadline = deadline

    @property
    def always_links(self) -> bool:
        return self._pruner.always_links

    def begin(self, question: str, sources: Sequence[Node]) -> QuestionPruner:
        pruner = self._pruner.begin(question, sources)
        return _BoundedQuestionPruner(pruner, self._explored, self._max_nodes, self._deadline)


@dataclass(frozen=True, slots=True)
class _BoundedQuestionPruner:
    pruner: QuestionPruner
    explored: dict[Node, None]
    max_nodes: int
    deadline: Deadline

    def prune_relations(self, candidates: Sequence[CandidateRelation], limit: int) -> Selection[Step]:
        self.deadline.check()
        selected = self.pruner.prune_relations(candidates, limit)
        if not selected.finish:
            self.explored.update(dict.fromkeys(candidate.node for candidate in candidates))
        return selected

    def rank_triplets(self, hops: Sequence[FollowedTriplet]) -> Sequence[FollowedTriplet]:
        return self.pruner.rank_triplets(hops)

    def prune_entities(self, found: Sequence[Edge], hops: Sequence[FollowedTriplet], limit: int) -> Selection[Node]:
        self.deadline.check()
        unexplored = [hop for hop in hops if hop.end not in self.explored]
        room = min(limit, self.max_nodes - len(self.explored))
        if not unexplored or room < 1:
            return Selection()
        selected = self.pruner.prune_entities(found, unexplored, room)
        return Selection(selected.items[:room], selected.finish)

    def answer_chain(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        return self.pruner.answer_chain(found)


StopReason = Literal["finish", "no_progress", "iterations", "budget", "failed"]

# Shortest paths are searched between the first nodes of a question, pair by pair.
_MAX_JOINED_NODES = 3
_MAX_PATHS = 20
# A link is a weaker relation than a fact: one article that two nodes both link to is informative, longer chains of
# links are not.
_MAX_LINK_HOPS = 2
_MAX_FACT_HOPS = 3
_MAX_ROWS = 20
_MAX_VALUE_CHARS = 200
_MAX_LINKS_PER_MENTION = 2
# Seconds per query of a planner, unless less time is left for the question.
_MAX_QUERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ExplorationLimits:
    """Limits per question: iterations, explored nodes, seconds and tokens of context.

    The time is checked before each read of the graph. A Cypher query is interrupted when the time is up.
    """

    iterations: int = 2
    nodes: int = 200
    seconds: float = 60.0
    tokens: int = 2_000


@dataclass(frozen=True, slots=True)
class Exploration:
    """The context, the executed queries and the explored nodes, in order.

    ``iterations`` counts the iterations that looked something up. ``chain`` holds the facts that lead from a node of
    the question to the most likely answer.
    """

    context: GraphContext
    explored: tuple[Node, ...]
    queries: tuple[str, ...]
    chain: tuple[Edge, ...]
    stop_reason: StopReason
    iterations: int

    @property
    def facts(self) -> tuple[Edge, ...]:
        """The facts that a section states: those of the chain first, then the others in the order found."""
        edges = (*self.chain, *(edge for piece in self.context.pieces for edge in piece.edges))
        return tuple(dict.fromkeys(edge for edge in edges if edge.section_id))


@dataclass(slots=True)
class _SearchState:
    context: GraphContext
    deadline: Deadline
    # Metapaths start at all linked nodes, even those whose triplets were not read.
    linked: dict[Node, None] = field(default_factory=dict)
    explored: dict[Node, None] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    feedback: list[str] = field(default_factory=list)
    chain: tuple[Edge, ...] = ()


class MultiStrategy:
    """Explores the graph of a pack for a question, within ``limits`` per question.

    ``create_retriever`` creates a triplet retriever with a given pruner. It receives ``pruner``, bounded by the limits.
    """

    def __init__(
        self,
        queries: QueryRunner,
        neighborhood: Neighborhood,
        linker: EntityLinker,
        pruner: Pruner,
        create_retriever: Callable[[Pruner], TripletRetriever],
        limits: ExplorationLimits,
    ) -> None:
        self._queries = queries
        self._neighborhood = neighborhood
        self._linker = linker
        self._pruner = pruner
        self._create_retriever = create_retriever
        self._limits = limits

    def explore(self, question: str, planner: Planner, trace: Trace) -> Exploration:
        """Return graph evidence for ``question``. Every iteration adds a stage to ``trace``.

        Raises ``QueryError`` and what ``planner`` raises. ``BudgetError``, ``LlmError``, and a ``PackError`` of a query
        end the search and keep what it found.
        """
        state = _SearchState(GraphContext(self._limits.tokens), Deadline.after(self._limits.seconds))
        stop: StopReason = "iterations"
        executed = 0
        for iteration in range(self._limits.iterations):
            if state.deadline.left <= 0 or len(state.explored) >= self._limits.nodes:
                stop = "budget"
                break
            with trace.stage(f"graph_{iteration + 1}") as record:
                before = len(state.context.lines), len(state.explored)
                try:
                    feedback, explored = tuple(state.feedback), tuple(state.explored)
                    plan = planner.plan(PlannerState(question, iteration, state.context.lines, feedback, explored))
                    record.notes["plan"] = _plan_notes(plan)
                    if plan.finish:
                        stop = "finish"
                        break
                    state.feedback.clear()
                    executed += 1
                    self._execute(question, plan, state)
                except BudgetError as error:
                    stop = "budget"
                    record.warning = error.message
                    break
                except (LlmError, PackError) as error:
                    stop = "failed"
                    record.degrade(error.message)
                    break
                finally:
                    record.scored = len(state.context.lines) - before[0]
                    record.notes["explored"] = [node.label for node in list(state.explored)[before[1] :]]
                    record.notes["feedback"] = list(state.feedback)
                    record.notes["truncated"] = state.context.truncated
                if (len(state.context.lines), len(state.explored)) == before and not state.feedback:
                    stop = "no_progress"
                    break
        return Exploration(state.context, tuple(state.explored), tuple(state.queries), state.chain, stop, executed)

    def _execute(self, question: str, plan: Plan, state: _SearchState) -> None:
        nodes = [*plan.nodes, *self._link_mentions(plan.mentions, state.deadline)]
        room = max(0, self._limits.nodes - len(state.explored))
        fresh = [node for node in dict.fromkeys(nodes) if node not in state.explored][:room]
        state.linked.update(dict.fromkeys(nodes))
        if fresh:
            self._retrieve_triplets(question, fresh, state)
        if plan.metapaths:
            self._follow_metapaths(plan.metapaths, state)
        elif len(fresh) > 1:
            self._connect(fresh, state)
        for query in plan.queries:
            self._run_query(query, state, min(_MAX_QUERY_SECONDS, state.deadline.check()))

    def _link_mentions(self, mentions: Sequence[str], deadline: Deadline) -> list[Node]:
        linked = []
        for mention in mentions:
            deadline.check()
            linked += [link.node for link in self._linker.link_mention(mention)[:_MAX_LINKS_PER_MENTION]]
        return [self._neighborhood.unified(node) for node in linked]

    def _retrieve_triplets(self, question: str, nodes: Sequence[Node], state: _SearchState) -> None:
        state.deadline.check()
        bounded = BoundedPruner(self._pruner, state.explored, self._limits.nodes, state.deadline)
        result = self._create_retriever(bounded).retrieve(question, nodes)
        state.explored.update(dict.fromkeys(result.explored))
        state.context.add(Piece(str(edge), "triplets", (edge,)) for edge in result.triplets)
        state.chain = state.chain or result.chain
        if result.stop_reason == "budget":
            state.deadline.check()
            raise BudgetError("The budget ran out during triplet retrieval.")

    def _follow_metapaths(self, metapaths: Sequence[str], state: _SearchState) -> None:
        for text in metapaths:
            state.deadline.check()
            try:
                steps = parse_metapath(text, self._neighborhood)
            except UsageError as error:
                state.feedback.append(f"Cannot follow the metapath {text}: {error.message} {error.hint or ''}")
                continue
            for node in list({**state.linked, **state.explored})[: self._limits.nodes]:
                state.deadline.check()
                found = follow_metapath(self._neighborhood, node, steps, max_paths=_MAX_PATHS)
                state.context.add(_path_piece(path) for path in found.paths)

    def _connect(self, nodes: Sequence[Node], state: _SearchState) -> None:
        """Add the shortest paths between the first nodes: along facts, or else through an article that both link to."""
        facts = [name for name in self._neighborhood.relations if name not in STRUCTURAL]
        for one, other in combinations(nodes[:_MAX_JOINED_NODES], 2):
            for relations, hops in ((facts, _MAX_FACT_HOPS), (None, _MAX_LINK_HOPS)):
                if relations == []:
                    continue
                state.deadline.check()
                found = shortest_paths(
                    self._neighborhood, one, other, max_hops=hops, max_paths=_MAX_PATHS, relations=relations
                )
                state.context.add(_path_piece(path) for path in found.paths)
                if found.paths:
                    break

    def _run_query(self, query: str, state: _SearchState, timeout: float) -> None:
        try:
            result = self._queries.run(query, max_rows=_MAX_ROWS, timeout=timeout)
        except BlockedQueryError as error:
            state.feedback.append(f"Blocked, not run: {query}\n{error.message} {error.hint or ''}")
            return
        except QueryError as error:
            state.feedback.append(f"Failed with {type(error).__name__}: {query}\n{error.message}")
            return
        state.queries.append(result.executed)
        if not result.rows:
            state.feedback.append(
                f"Returned no rows: {query}\nCheck names, directions and spelling against the schema."
            )
        lines = (_verbalize_row(result.columns, row) for row in result.rows)
        state.context.add(Piece(line, "cypher", query=result.executed) for line in lines)


def _path_piece(path: Path) -> Piece:
    return Piece(str(path), "paths", path.edges)


def _verbalize_row(columns: Sequence[str], row: Sequence[object]) -> str:
    values = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in row)
    # Collapse white space so that a row stays on one line.
    short = (" ".join(value[:_MAX_VALUE_CHARS].split()) for value in values)
    return "; ".join(f"{name}: {value}" for name, value in zip(columns, short, strict=True))


def _plan_notes(plan: Plan) -> dict[str, object]:
    return {
        "mentions": list(plan.mentions),
        "nodes": [node.label for node in plan.nodes],
        "metapaths": list(plan.metapaths),
        "queries": list(plan.queries),
        "finish": plan.finish,
    }
