"""Answer a question along the relation path that explains it best, without a language model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.fact_graph import FactGraph, Numbers, opposite
from wikigr.graph_search.relation_paths.evidence import WEIGHTS, EvidenceReader, Weights, answer_fit, stem_match
from wikigr.graph_search.relation_paths.path_scores import MAX_HOPS, ScoredPath, score_paths
from wikigr.graph_search.relation_paths.relation_match import relation_words, share_stem
from wikigr.graph_search.relation_paths.topics import Topic
from wikigr.question.grammar import WHO
from wikigr.question.masked_question import MaskedQuestion, mask
from wikigr.reader.passage import as_probability
from wikigr.retrieval.chain import PathAnswers, StatedFact

# Distinct steps that are compared with one question.
_MAX_STEPS = 96
# Paths whose ends are looked up, best first.
_MAX_TRIED = 24
# The share of the question that a path must explain.
MIN_EXPLAINED = 0.5
# Interrogatives that no date and no number answers.
_PLACES_AND_PERSONS = WHO | {"where"}


@dataclass(frozen=True, slots=True)
class PathEdge:
    """One fact on the way from the topic to an answer; ``row`` is its number in the fact graph."""

    row: int
    source: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundPath:
    """A path with its ends: ``ends`` are sorted by name, and ``cut`` says that there are more."""

    topic: int
    steps: tuple[int, ...]
    score: float
    explained: float
    ends: tuple[int, ...]
    chains: tuple[tuple[PathEdge, ...], ...]
    cut: bool

    @property
    def is_explained(self) -> bool:
        """Whether the path explains enough of the question to be an answer to it."""
        return self.explained >= MIN_EXPLAINED


class PathSearch:
    """Searches one pack's facts. Caches texts and vectors; not thread-safe."""

    def __init__(self, facts: FactGraph, encoder: Embedder, weights: Weights = WEIGHTS) -> None:
        self.facts = facts
        self._evidence = EvidenceReader(facts, encoder, weights)
        self._weights = weights

    def find(
        self, question: str, topics: Sequence[Topic], *, seconds: float, most: int
    ) -> tuple[list[FoundPath], bool]:
        """Return at most ``most`` paths from ``topics`` that have ends, best first, and whether the time ran out."""
        deadline = time.monotonic() + seconds
        out_of_time = False
        scored: list[tuple[ScoredPath, int]] = []
        for topic in topics:
            masked = mask(question, topic.start, topic.end)
            if not masked.tokens:
                continue
            for node in topic.nodes:
                out_of_time = out_of_time or time.monotonic() > deadline
                if out_of_time:
                    break
                scored += ((path, node) for path in self.score(masked, node, _MAX_TRIED))
        scored.sort(key=lambda item: (item[0].rank, item[1]))
        found: list[FoundPath] = []
        for path, node in scored[:_MAX_TRIED]:
            if len(found) == most:
                break
            out_of_time = out_of_time or time.monotonic() > deadline
            if out_of_time:
                break
            follow = self.follow(node, path.steps)
            if follow is not None:
                ends, chains, cut = follow
                found.append(FoundPath(node, path.steps, path.score, path.explained, ends, chains, cut))
        return found, out_of_time

    def describe(self, path: FoundPath) -> str:
        """Return the path as a line: its relations, its topic, its score, and the number of its ends."""
        steps = " > ".join(str(self.facts.steps[step]) for step in path.steps)
        ends = f"{len(path.ends):,}{'+' if path.cut else ''} end{'s' * (len(path.ends) != 1)}"
        topic = self.facts.names[path.topic]
        return f"{steps}  from {topic}, score {path.score:.2f}, explains {path.explained:.0%}, {ends}"

    def facts_of(self, path: FoundPath, most: int) -> PathAnswers:
        """Return the first ``most`` answers of ``path`` with the facts that lead to them."""
        facts = self.facts
        chains = []
        for chain in path.chains[:most]:
            stated = []
            for link, number in zip(chain, path.steps, strict=True):
                step = facts.steps[number]
                near, far = facts.names[link.source], facts.names[link.end]
                subject, value = (far, near) if step.inverse else (near, far)
                stated.append(StatedFact(subject, step.relation, value, facts.section_of(link.row)))
            chains.append(tuple(stated))
        names = tuple(facts.names[end] for end in path.ends[:most])
        explained = min(1.0, max(0.0, path.explained))
        return PathAnswers(names, tuple(chains), len(path.ends), path.cut, explained * as_probability(path.score))

    def score(self, question: MaskedQuestion, node: int, most: int) -> list[ScoredPath]:
        """Return the best ``most`` paths from ``node``, best first, whether or not they lead anywhere from there."""
        _, leaving = self.facts.steps_at(np.array([node]))
        first = self._preselect(question, leaving.tolist())
        if not first:
            return []
        steps = dict.fromkeys(first)
        level = first
        for _ in range(MAX_HOPS - 1):
            ahead = {s for step in level for s in self._evidence.text(step).following.tolist()} - steps.keys()
            level = self._preselect(question, sorted(ahead))[: max(0, _MAX_STEPS - len(steps))]
            steps.update(dict.fromkeys(level))
        numbers = list(steps)
        following = {step: self._evidence.text(step).following for step in numbers}
        evidence = self._evidence.compare(question, numbers, leaving.tolist())
        paths = score_paths(question, numbers, first, following, evidence, most, self._weights)
        return [path if self._keeps(question, path) else replace(path, explained=0.0) for path in paths]

    def _keeps(self, question: MaskedQuestion, path: ScoredPath) -> bool:
        """Return whether ``path`` can answer ``question``.

        Its relations contain all words that must not be left out, as often as needed. It goes along a relation and back
        only if the question says that two things share something or names the relation twice ("written by the writer
        of"), and it does not end in dates or numbers if a person or a place is asked for.
        """
        if len(path.steps) < question.nested:
            return False
        for one, other in pairwise(path.steps):
            if opposite(one) == other and not question.is_shared:
                words = self._evidence.text(one).words
                # Words of two phrases name the relation: "written by the writer of".
                if len({token.run for token in question.tokens if stem_match(token.text, words)}) < 2:
                    return False
        kind = self._evidence.text(path.steps[-1]).kind
        if question.asks in _PLACES_AND_PERSONS and answer_fit(question.asks, kind) < 0:
            return False
        said = {word for step in path.steps for word in self._evidence.text(step).words}
        return said.issuperset(question.restrictions)

    def _preselect(self, question: MaskedQuestion, steps: Sequence[int]) -> list[int]:
        """Return at most half of ``_MAX_STEPS``: steps that share a stem with the question, then frequent ones."""
        most = _MAX_STEPS // 2
        if len(steps) <= most:
            return list(steps)

        def rank(step: int) -> tuple[bool, int, int]:
            named = relation_words(self.facts.steps[step].relation).split()
            shared = any(share_stem(token.text, word) for token in question.tokens for word in named)
            return not shared, -int(self.facts.counts[step]), step

        return sorted(steps, key=rank)[:most]

    def follow(
        self, topic: int, steps: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[tuple[PathEdge, ...], ...], bool] | None:
        """Return the ends of ``steps`` from ``topic``, one chain of facts to each, and whether there are more.

        ``None`` if the path leads nowhere. The topic itself is none of them.
        """
        chains: dict[int, tuple[PathEdge, ...]] = {topic: ()}
        any_cut = False
        for step in steps:
            nodes: Numbers = np.fromiter(chains, dtype=np.int64, count=len(chains))
            reached, cut = self.facts.follow(nodes, step, 20_000)
            any_cut = any_cut or cut
            longer: dict[int, tuple[PathEdge, ...]] = {}
            for source, end, row in zip(
                reached.sources.tolist(), reached.ends.tolist(), reached.rows.tolist(), strict=True
            ):
                if end not in longer:
                    longer[end] = (*chains[source], PathEdge(row, source, end))
            chains = longer
        # The topic does not answer a question about itself.
        chains.pop(topic, None)
        if not chains:
            return None
        ends = sorted(chains, key=lambda node: (self.facts.names[node], self.facts.keys[node]))
        return tuple(ends), tuple(chains[end] for end in ends), any_cut
