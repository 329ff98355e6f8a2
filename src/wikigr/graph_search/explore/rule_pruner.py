"""A pruner for triplet retrieval without a language model: it follows the relation paths that explain the question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.graph.fact_graph import read_facts
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Node, Step
from wikigr.graph.schema import section_id
from wikigr.graph_search.explore.triplets import CandidateRelation, FollowedTriplet, QuestionPruner, Selection
from wikigr.graph_search.relation_paths.path_scores import ScoredPath
from wikigr.graph_search.relation_paths.path_search import MIN_EXPLAINED, PathSearch
from wikigr.names import bare_name, name_words, strip_possessive
from wikigr.question.label_type import label_fits
from wikigr.question.masked_question import mask
from wikigr.stop_words import FUNCTION_WORDS

# The score of a path that explains nothing.
_UNSCORED = -1e9


class RulePruner:
    """Prunes by the evidence of ``relation_paths``: what is on a path that explains the question well comes first.

    Articles that are only linked come after facts, ordered by the vectors of their first sections. Caches vectors; not
    thread-safe.
    """

    always_links = False

    def __init__(self, encoder: Embedder, graph: Graph) -> None:
        self.encoder = encoder
        self._graph = graph

    @cached_property
    def search(self) -> PathSearch:
        """Search the facts of the graph, which are read on first use."""
        return PathSearch(read_facts(self._graph), self.encoder)

    def begin(self, question: str, sources: Sequence[Node]) -> QuestionPruner:
        return _RuleQuestionPruner(self, question[:1024], sources)

    def lead_vectors(self, titles: Collection[str]) -> dict[str, np.ndarray]:
        """Return the stored vectors of the first sections of these articles, by title."""
        rows = self._graph.rows(
            "UNWIND $keys AS key MATCH (s:Section {section_id: key}) RETURN s.article_title, s.embedding",
            {"keys": [section_id(title, 0) for title in sorted(titles)]},
        )
        return {str(title): np.asarray(vector, dtype=np.float32) for title, vector in rows}


# The beginning of a path: its source, and the steps, by number, from there to a node that was reached.
_Prefix = tuple[Node, tuple[int, ...]]


class _RuleQuestionPruner:
    def __init__(self, pruner: RulePruner, question: str, sources: Sequence[Node]) -> None:
        self._pruner = pruner
        self._question = question
        self._words = name_words(question)
        self._places = {node: _place_of(node, self._words) for node in sources}
        self._prefixes: dict[Node, _Prefix] = {node: (node, ()) for node in sources}
        self._paths: dict[Node, list[ScoredPath]] = {}
        # The score of the path that ends here and the share that it explains; the best score of one that goes on.
        self._complete: dict[_Prefix, tuple[float, float]] = {}
        self._onward: dict[_Prefix, float] = {}
        self._begun = False

    def prune_relations(self, candidates: Sequence[CandidateRelation], limit: int) -> Selection[Step]:
        nodes = dict.fromkeys(candidate.node for candidate in candidates)
        self._score_paths(nodes)
        best: dict[Step, tuple[float, int]] = {}
        for candidate in candidates:
            if candidate.step.relation not in STRUCTURAL:
                rank = (-self._value(candidate.node, candidate.step), candidate.edges)
                best[candidate.step] = min(best.get(candidate.step, rank), rank)
        onward = max((-negative for negative, _ in best.values()), default=_UNSCORED)
        if self._begun and (onward == _UNSCORED or onward <= self._answered()):
            return Selection(finish=True)
        self._begun = True
        links = {candidate.step for candidate in candidates if candidate.step.relation in STRUCTURAL}
        ordered = sorted(best, key=lambda step: (*best[step], step))
        ordered += sorted(links, key=lambda step: (step.inverse, STRUCTURAL.index(step.relation)))
        return Selection(tuple(ordered[:limit]))

    def rank_triplets(self, hops: Sequence[FollowedTriplet]) -> Sequence[FollowedTriplet]:
        values = {hop: self._value(hop.node, hop.step) for hop in hops}
        named = {end: place for end in {h.end for h in hops} if (place := _place_of(end, self._words)) is not None}
        near = self._nearness(hops)

        siblings: dict[tuple[Node, Step], int] = {}

        def rank(hop: FollowedTriplet) -> tuple[object, ...]:
            is_link = hop.edge.relation in STRUCTURAL
            names = hop.end.rank, hop.node.rank, hop.edge.section_id
            return is_link, hop.end not in named, -values[hop], -near.get(hop.end.key, 0.0), hop.step, *names

        ranked = sorted(hops, key=rank)
        for hop in ranked:
            number = siblings.get((hop.node, hop.step), 0)
            siblings[hop.node, hop.step] = number + 1
            # One relation must not crowd out others.
            values[hop] -= 0.1 * number
        ranked.sort(key=rank)
        # What the question names is where paths begin, even if the search did not.
        for end in named.keys() - self._places.keys():
            self._places[end], self._prefixes[end] = named[end], (end, ())
        for hop in ranked:
            longer = self._extended(hop.node, hop.step)
            # A source stays one, even if a path leads to it.
            if longer is not None and hop.end not in self._places:
                known = self._prefixes.get(hop.end)
                if known is None or self._best(longer) > self._best(known):
                    self._prefixes[hop.end] = longer
        return ranked

    def prune_entities(self, found: Sequence[Edge], hops: Sequence[FollowedTriplet], limit: int) -> Selection[Node]:
        def rank(node: Node) -> tuple[bool, float]:
            prefix = self._prefixes.get(node, (node, ()))
            return node not in self._places, -self._onward.get(prefix, _UNSCORED)

        ends = dict.fromkeys(hop.end for hop in hops if hop.edge.relation not in STRUCTURAL)
        return Selection(tuple(dict.fromkeys([*sorted(ends, key=rank), *(hop.end for hop in hops)]))[:limit])

    def answer_chain(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        """Return the facts of the best path that ``found`` states, with all its ends, if it explains the question.

        It starts at a source that the question names, if it names any.
        """
        named = [node for node in self._paths if self._places[node] is not None] or list(self._paths)
        ranked = [(path, node) for node in named for path in self._paths[node]]
        ranked.sort(key=lambda item: (item[0].rank, item[1].rank))
        facts: dict[tuple[Node, Step], list[Edge]] = {}
        for edge in sorted(found, key=lambda edge: (edge.source.rank, edge.target.rank, edge.relation)):
            for node in dict.fromkeys((edge.source, edge.target)):
                facts.setdefault((node, edge.step_from(node)), []).append(edge)
        for path, node in ranked:
            chains = self._follow(node, path.steps, facts)
            if chains:
                return _facts_of(chains) if path.explained >= MIN_EXPLAINED else ()
        return ()

    def _follow(
        self, source: Node, steps: Sequence[int], facts: Mapping[tuple[Node, Step], Sequence[Edge]]
    ) -> list[tuple[Edge, ...]]:
        """Return the chains of ``facts`` along ``steps`` to nodes of the type that the question asks for."""
        chains: list[tuple[tuple[Edge, ...], Node]] = [((), source)]
        for number in steps:
            step = self._pruner.search.facts.steps[number]
            chains = [
                ((*chain, edge), edge.other(node))
                for chain, node in chains
                for edge in facts.get((node, step), ())
                if edge not in chain
            ]
        return [chain for chain, end in chains if end != source and label_fits(self._question, end.label)]

    def _score_paths(self, nodes: Collection[Node]) -> None:
        """Score the paths from those of ``nodes`` that are sources."""
        search = self._pruner.search
        for node in nodes:
            number = search.facts.number_of(node)
            if node not in self._places or node in self._paths or number is None:
                continue
            # Words belong to a source that the question does not name as if it stood at the end.
            place = self._places[node] or (len(self._question), len(self._question))
            masked = mask(self._question, *place)
            paths = search.score(masked, number, 200) if masked.tokens else []
            self._paths[node] = paths
            for path in paths:
                self._complete[node, path.steps] = round(path.score, 6), path.explained
                for length in range(len(path.steps)):
                    prefix = node, path.steps[:length]
                    self._onward[prefix] = max(self._onward.get(prefix, _UNSCORED), round(path.score, 6))

    def _answered(self) -> float:
        """Return the score of the best path to a node that was reached, if it explains the whole question."""
        complete = (self._complete[prefix] for prefix in self._prefixes.values() if prefix in self._complete)
        score, explained = max(complete, default=(_UNSCORED, 0.0))
        return score if explained >= 0.9 else _UNSCORED

    def _extended(self, node: Node, step: Step) -> _Prefix | None:
        prefix, number = self._prefixes.get(node), self._pruner.search.facts.step_numbers.get(step)
        return (prefix[0], (*prefix[1], number)) if prefix is not None and number is not None else None

    def _best(self, prefix: _Prefix) -> float:
        return max(self._complete.get(prefix, (_UNSCORED, 0.0))[0], self._onward.get(prefix, _UNSCORED))

    def _value(self, node: Node, step: Step) -> float:
        """Return the best score of a path that takes ``step`` at ``node``."""
        longer = self._extended(node, step)
        return self._best(longer) if longer is not None else _UNSCORED

    def _nearness(self, hops: Sequence[FollowedTriplet]) -> dict[str, float]:
        """Return the cosine of the question with the first section of each linked article, by title."""
        linked = {h.end.key for h in hops if h.edge.relation in STRUCTURAL and h.end.kind == "article"}
        if len(linked) < 2:
            return {}
        asked = self._pruner.encoder.encode([self._question])[0]
        return {title: round(float(lead @ asked), 6) for title, lead in self._pruner.lead_vectors(linked).items()}


def _facts_of(chains: Sequence[tuple[Edge, ...]]) -> tuple[Edge, ...]:
    """Return the facts of the first chain, and those of the others as long as there are few."""
    found = dict.fromkeys(chains[0])
    for chain in chains[1:]:
        longer = {**found, **dict.fromkeys(chain)}
        # Facts of one answer: "which films" asks for all of them.
        if len(longer) <= 12:
            found = longer
    return tuple(found)


def _place_of(node: Node, asked: Sequence[tuple[str, int, int]]) -> tuple[int, int] | None:
    """Return where the words ``asked`` name ``node``, with or without a qualifier and a possessive, or ``None``."""
    for label in dict.fromkeys((node.label, bare_name(node.label))):
        name = [word for word, _, _ in name_words(label[:200])]
        if FUNCTION_WORDS.issuperset(name):
            continue
        for begin in range(len(asked) - len(name) + 1):
            words = [word for word, _, _ in asked[begin : begin + len(name)]]
            bare = strip_possessive(words[-1])
            if name == words or name == [*words[:-1], bare]:
                end = asked[begin + len(name) - 1][2] - (len(words[-1]) - len(name[-1]))
                return asked[begin][1], end
    return None
