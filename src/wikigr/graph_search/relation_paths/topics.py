"""Find the names in a question from which relation paths may start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wikigr.graph.fact_graph import FactGraph
from wikigr.graph.graph_index import GraphIndex
from wikigr.names import name_key, name_words, strip_possessive
from wikigr.retrieval.name_matching import NameMatcher
from wikigr.stop_words import FUNCTION_WORDS

_MAX_NODES = 8


@dataclass(frozen=True, slots=True)
class Topic:
    """The name ``question[start:end]`` and the nodes of the fact graph that have it."""

    start: int
    end: int
    nodes: tuple[int, ...]


class TopicFinder:
    """Finds topics by name: titles, aliases, names of entities, and the numbers and dates of the facts."""

    def __init__(self, facts: FactGraph, index: GraphIndex) -> None:
        self._facts = facts
        self._index = index
        self._matcher = NameMatcher(index)

    @cached_property
    def _values(self) -> dict[str, list[int]]:
        """The values (numbers, dates), which the graph index leaves out, by lookup key."""
        found: dict[str, list[int]] = {}
        for number in self._facts.is_value.nonzero()[0].tolist():
            found.setdefault(name_key(self._facts.names[number]), []).append(number)
        return found

    def find(self, question: str) -> list[Topic]:
        """Return the topics that ``question`` may have, the longest names first; none lies within another."""
        question = question[:1024]
        tokens = name_words(question)[:64]
        found: list[Topic] = []
        covered: list[tuple[int, int]] = []
        for length in range(min(len(tokens), 16), 0, -1):
            for first in range(len(tokens) - length + 1):
                last = first + length - 1
                if any(begin <= first and last <= end for begin, end in covered):
                    continue
                nodes = self._named([word for word, _, _ in tokens[first : last + 1]])
                if nodes:
                    covered.append((first, last))
                    end = tokens[last][2] - (len(tokens[last][0]) - len(strip_possessive(tokens[last][0])))
                    found.append(Topic(tokens[first][1], end, nodes))
        found.sort(key=lambda topic: (topic.start - topic.end, topic.start))
        return found[:4] or self._misspelled(question, tokens)

    def _named(self, words: Sequence[str]) -> tuple[int, ...]:
        if all(strip_possessive(word) in FUNCTION_WORDS for word in words):
            return ()
        for last in dict.fromkeys((words[-1], strip_possessive(words[-1]))):
            key = " ".join((*words[:-1], last))
            nodes = [*self._numbers(self._index.named(key)), *self._values.get(key, ())]
            if nodes:
                return tuple(dict.fromkeys(nodes))[:_MAX_NODES]
        return ()

    def _numbers(self, found: Sequence[int]) -> list[int]:
        numbers = (self._facts.number_of(self._index.node(number)) for number in found)
        return [number for number in numbers if number is not None]

    def _misspelled(self, question: str, tokens: Sequence[tuple[str, int, int]]) -> list[Topic]:
        """Return the name that is nearest to a run of words, if it is one or two typos away."""
        runs = [
            (first, last)
            for length in range(min(4, len(tokens)), 0, -1)
            for first in range(len(tokens) - length + 1)
            for last in [first + length - 1]
            if not {tokens[first][0], tokens[last][0]} & FUNCTION_WORDS and tokens[last][2] - tokens[first][1] >= 6
        ]
        # Names are usually capitalized, and often stand at the end.
        runs.sort(key=lambda run: (not question[tokens[run[0]][1]].isupper(), run[0] - run[1], -run[1]))
        # Each is compared with all names.
        for first, last in runs[:6]:
            start, end = tokens[first][1], tokens[last][2]
            near, _ = self._matcher.nearest_names(question[start:end])
            nodes = tuple(self._numbers(near[:_MAX_NODES]))
            if nodes:
                return [Topic(start, end, nodes)]
        return []
