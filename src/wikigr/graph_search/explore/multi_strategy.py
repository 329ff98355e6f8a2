"""Multi-strategy retrieval: link entities, retrieve triplets and paths, run queries, and repeat.

Implements reference/multi-strategy-retrieval.md. A planner, based on rules or a model, decides what to look up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from wikigr.errors import PackError, UsageError
from wikigr.graph.engine import QueryError
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, article
from wikigr.graph_search.cypher.dialect import BlockedQueryError
from wikigr.graph_search.cypher.runner import QueryRunner
from wikigr.graph_search.explore.cypher_generation import ModelPlanner, Plan, Planner, PlannerState, RulePlanner
from wikigr.graph_search.explore.graph_schema import describe_schema, schema_text
from wikigr.graph_search.explore.metapath import follow_metapath, parse_metapath
from wikigr.graph_search.explore.model_pruner import ModelPruner
from wikigr.graph_search.explore.options import MultiStrategyOptions
from wikigr.graph_search.explore.paths import shortest_paths
from wikigr.graph_search.explore.rule_pruner import RulePruner
from wikigr.graph_search.explore.triplets import Pruner, SharedLimits, TripletRetriever
from wikigr.index.candidate import Candidate
from wikigr.llm.budget import BudgetError
from wikigr.llm.failures import LlmError
from wikigr.llm.model_client import CallQuota
from wikigr.pack.layout import DATABASE
from wikigr.retrieval.chain import Exploration, GraphContext, StopReason
from wikigr.retrieval.entity_linking import EntityLink, EntityLinker
from wikigr.retrieval.state import Resources
from wikigr.retrieval.trace import Trace
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

_MAX_PATHS = 20


@dataclass(slots=True)
class _SearchState:
    context: GraphContext
    # The limit for this question, in seconds, and its end as a value of ``time.monotonic``.
    seconds: float
    deadline: float
    # Metapaths start at all linked nodes, even those whose triplets were not read.
    linked: dict[Node, None] = field(default_factory=dict)
    explored: dict[Node, None] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    feedback: list[str] = field(default_factory=list)
    chain: tuple[Edge, ...] = ()

    def check(self) -> float:
        """Return the seconds that are left; raises ``BudgetError`` after the deadline."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise BudgetError(f"The search of the graph ran out of time ({self.seconds:g} s per question).")
        return left


@dataclass(frozen=True, slots=True)
class MultiStrategy:
    """Explores the graph of a pack for a question, within the limits of ``options``.

    The time is checked before each read of the graph. A Cypher query is interrupted when the time is up.
    """

    queries: QueryRunner
    neighborhood: Neighborhood
    linker: EntityLinker
    pruner: Pruner
    options: MultiStrategyOptions

    def explore(self, question: str, planner: Planner, trace: Trace) -> Exploration:
        """Return graph evidence for ``question``. Every iteration adds a stage to ``trace``.

        Raises ``QueryError`` and what ``planner`` raises. ``BudgetError``, ``LlmError``, and a ``PackError`` of a query
        end the search and keep what it found.
        """
        seconds = self.options.max_seconds
        state = _SearchState(GraphContext(self.options.max_tokens), seconds, time.monotonic() + seconds)
        stop: StopReason = "iterations"
        executed = 0
        for iteration in range(self.options.iterations):
            if time.monotonic() >= state.deadline or len(state.explored) >= self.options.max_nodes:
                stop = "budget"
                break
            with trace.stage(f"graph_{iteration + 1}") as record:
                before = len(state.context.lines), len(state.explored)
                try:
                    feedback, explored = tuple(state.feedback), tuple(state.explored)
                    plan = planner.plan(PlannerState(question, iteration, state.context.lines, feedback, explored))
                    record.notes["plan"] = {
                        "mentions": list(plan.mentions),
                        "nodes": [node.label for node in plan.nodes],
                        "metapaths": list(plan.metapaths),
                        "queries": list(plan.queries),
                        "finish": plan.finish,
                    }
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
        nodes = list(plan.nodes)
        for mention in plan.mentions:
            state.check()
            nodes += [self.neighborhood.unified(link.node) for link in self.linker.link_mention(mention)[:2]]
        room = max(0, self.options.max_nodes - len(state.explored))
        fresh = [node for node in dict.fromkeys(nodes) if node not in state.explored][:room]
        state.linked.update(dict.fromkeys(nodes))
        if fresh:
            self._retrieve_triplets(question, fresh, state)
        if plan.metapaths:
            self._follow_metapaths(plan.metapaths, state)
        elif len(fresh) > 1:
            self._connect(fresh, state)
        for query in plan.queries:
            self._run_query(query, state, min(10.0, state.check()))

    def _retrieve_triplets(self, question: str, nodes: Sequence[Node], state: _SearchState) -> None:
        state.check()
        options = self.options
        retriever = TripletRetriever(
            self.neighborhood,
            self.pruner,
            max_num_relations=options.max_num_relations,
            max_num_entities=options.max_num_entities,
            max_num_iterations=options.max_num_iterations,
            max_num_triplets=options.max_num_triplets,
        )
        shared = SharedLimits(state.explored, options.max_nodes, state.check)
        result = retriever.retrieve(question, nodes, shared)
        for edge in result.triplets:
            state.context.add(str(edge), (edge,))
        state.chain = state.chain or result.chain
        if result.stop_reason == "budget":
            state.check()
            raise BudgetError("The budget ran out during triplet retrieval.")

    def _follow_metapaths(self, metapaths: Sequence[str], state: _SearchState) -> None:
        for text in metapaths:
            state.check()
            try:
                steps = parse_metapath(text, self.neighborhood)
            except UsageError as error:
                state.feedback.append(f"Cannot follow the metapath {text}: {error.message} {error.hint or ''}")
                continue
            for node in list({**state.linked, **state.explored})[: self.options.max_nodes]:
                state.check()
                found = follow_metapath(self.neighborhood, node, steps, max_paths=_MAX_PATHS)
                for path in found.paths:
                    state.context.add(str(path), path.edges)

    def _connect(self, nodes: Sequence[Node], state: _SearchState) -> None:
        """Add the shortest paths between the first nodes: along facts, or else through an article that both link to."""
        facts = [name for name in self.neighborhood.relations if name not in STRUCTURAL]
        # Shortest paths are searched between the first nodes of a question, pair by pair.
        for one, other in combinations(nodes[:3], 2):
            # A link is a weaker relation than a fact: one article that two nodes both link to is informative, longer
            # chains of links are not.
            for relations, hops in ((facts, 3), (None, 2)):
                if relations == []:
                    continue
                state.check()
                found = shortest_paths(
                    self.neighborhood, one, other, max_hops=hops, max_paths=_MAX_PATHS, relations=relations
                )
                for path in found.paths:
                    state.context.add(str(path), path.edges)
                if found.paths:
                    break

    def _run_query(self, query: str, state: _SearchState, timeout: float) -> None:
        try:
            result = self.queries.run(query, max_rows=20, timeout=timeout)
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
        for row in result.rows:
            state.context.add(_verbalize_row(result.columns, row))


def _verbalize_row(columns: Sequence[str], row: Sequence[object]) -> str:
    values = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in row)
    # Collapse white space so that a row stays on one line.
    short = (" ".join(value[:200].split()) for value in values)
    return "; ".join(f"{name}: {value}" for name, value in zip(columns, short, strict=True))


class Explorer:
    """Explores a pack's graph for questions. Uses a model to plan if there is one, and rules otherwise."""

    def __init__(self, resources: Resources, options: MultiStrategyOptions) -> None:
        self._resources = resources
        (self._pack,) = resources.pack.members
        self._queries = QueryRunner(self._pack.layout.part(DATABASE))
        self._options = options
        self._model = None if options.planner == "rule" else resources.model

    @cached_property
    def neighborhood(self) -> Neighborhood:
        """The edges of the pack's graph."""
        return Neighborhood(self._pack.graph)

    def explore(
        self, question: str, links: Sequence[EntityLink], candidates: Sequence[Candidate], trace: Trace
    ) -> Exploration:
        """Return graph evidence, starting from the question's ``links`` and from ``candidates`` (best first)."""
        pruner: Pruner
        planner: Planner
        if self._model is None:
            pruner, planner = self._rules, RulePlanner((), ())
            # In a graph that has only links, rules find nothing beyond what the graph walk has already found.
            if any(relation not in STRUCTURAL for relation in self.neighborhood.relations):
                titles = list(dict.fromkeys(candidate.title for candidate in candidates))[:3]
                planner = RulePlanner(self._named(links), [article(title) for title in titles])
        else:
            allowance = CallQuota(self._model, calls=self._options.max_calls)
            name = self._resources.synthesis.model
            examples = self._resources.cypher_examples
            pruner = ModelPruner(allowance, name)
            planner = ModelPlanner(allowance, name, self._schema, examples(question) if examples else "", trace)
        search = MultiStrategy(self._queries, self.neighborhood, self._resources.linker, pruner, self._options)
        explored = search.explore(question, planner, trace)
        # The rules also start from retrieved articles. Facts about those alone do not answer the question.
        return explored if self._is_asked(explored.chain, question, links) else replace(explored, chain=())

    def _is_asked(self, chain: Sequence[Edge], question: str, links: Sequence[EntityLink]) -> bool:
        """Return whether an end of the first fact of ``chain`` is linked or shares a word with ``question``."""
        named = {self.neighborhood.unified(link.node) for link in links}
        asked = set(words(question)) - FUNCTION_WORDS
        ends = [end for edge in chain[:1] for end in (edge.source, edge.target)]
        return any(end in named or not asked.isdisjoint(words(end.label)) for end in ends)

    def _named(self, links: Sequence[EntityLink]) -> list[Node]:
        """Return the nodes whose mentions are surely names: rare in the pack, or capitalized within the question."""
        # Links with lower scores are usually ordinary words that happen to be names.
        sure = (
            link
            for link in sorted(links, key=lambda link: -link.score)
            if link.score >= 0.3 or (link.method == "exact" and link.start > 0 and link.mention[0].isupper())
        )
        return list(dict.fromkeys(self.neighborhood.unified(link.node) for link in sure))

    @cached_property
    def _rules(self) -> RulePruner:
        return RulePruner(self._pack.encoder, self._pack.graph)

    @cached_property
    def _schema(self) -> str:
        return schema_text(describe_schema(self._pack.graph, self.neighborhood))
