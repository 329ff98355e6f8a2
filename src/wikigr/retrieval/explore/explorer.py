"""Set up the multi-strategy search over one pack: the planner, the pruner and the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, article
from wikigr.index.candidate import Candidate
from wikigr.llm.budget import CallQuota
from wikigr.pack.layout import DATABASE
from wikigr.retrieval.cypher.runner import QueryRunner
from wikigr.retrieval.entity_linking import EntityLink
from wikigr.retrieval.explore.graph_schema import describe_schema
from wikigr.retrieval.explore.model_planner import ModelPlanner
from wikigr.retrieval.explore.model_pruner import ModelPruner
from wikigr.retrieval.explore.multi_strategy import Exploration, ExplorationLimits, MultiStrategy
from wikigr.retrieval.explore.options import MultiStrategyOptions
from wikigr.retrieval.explore.planners import Planner, RulePlanner
from wikigr.retrieval.explore.rule_pruner import RulePruner
from wikigr.retrieval.explore.triplets import Pruner, TripletRetriever
from wikigr.retrieval.state import Resources
from wikigr.retrieval.trace import Trace
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

# Links with lower scores are usually ordinary words that happen to be names.
_MIN_SCORE = 0.3
# The rules also start from this many retrieved articles.
_MAX_FOUND = 3


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
        self,
        question: str,
        links: Sequence[EntityLink],
        candidates: Sequence[Candidate],
        trace: Trace,
    ) -> Exploration:
        """Return graph evidence, starting from the question's ``links`` and from ``candidates`` (best first)."""
        options = self._options
        pruner: Pruner
        planner: Planner
        if self._model is None:
            pruner = self._rules
            # In a graph that has only links, rules find nothing beyond what the graph walk has already found.
            found = [article(title) for title in _titles(candidates)[:_MAX_FOUND]]
            planner = RulePlanner(self._named(links), found) if self._has_facts else RulePlanner((), ())
        else:
            allowance = CallQuota(self._model, calls=options.max_calls, seconds=options.max_seconds)
            name = self._resources.synthesis.model
            pruner = ModelPruner(allowance, name)
            planner = ModelPlanner(allowance, name, self._schema, self._patterns(question), trace)
        triplets = partial(
            TripletRetriever,
            self.neighborhood,
            max_num_relations=options.max_num_relations,
            max_num_entities=options.max_num_entities,
            max_num_iterations=options.max_num_iterations,
            max_num_triplets=options.max_num_triplets,
        )
        limits = ExplorationLimits(options.iterations, options.max_nodes, options.max_seconds, options.max_tokens)
        search = MultiStrategy(self._queries, self.neighborhood, self._resources.linker, pruner, triplets, limits)
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
        sure = sorted((link for link in links if _is_sure(link)), key=lambda link: -link.score)
        return list(dict.fromkeys(self.neighborhood.unified(link.node) for link in sure))

    def _patterns(self, question: str) -> str:
        examples = self._resources.cypher_examples
        return examples(question) if examples is not None else ""

    @cached_property
    def _has_facts(self) -> bool:
        return any(relation not in STRUCTURAL for relation in self.neighborhood.relations)

    @cached_property
    def _rules(self) -> RulePruner:
        return RulePruner(self._pack.encoder, self._pack.graph)

    @cached_property
    def _schema(self) -> str:
        return describe_schema(self._pack.graph, self.neighborhood).to_text()


def _titles(candidates: Sequence[Candidate]) -> list[str]:
    return list(dict.fromkeys(candidate.title for candidate in candidates))


def _is_sure(link: EntityLink) -> bool:
    """Return whether the mention is surely a name: rare in the pack, or capitalized in the middle of the question."""
    return link.score >= _MIN_SCORE or (link.method == "exact" and link.start > 0 and link.mention[0].isupper())
