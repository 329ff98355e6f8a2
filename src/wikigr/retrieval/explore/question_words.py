"""The words of a question that the rule pruner must match with relations, and those that a partial path has left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wikigr.graph.neighborhood import Node
from wikigr.names import strip_possessive
from wikigr.retrieval.explore.triplets import Hop
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

_MAX_WORDS = 32
# Content words that the next step is compared with.
_NEXT_WORDS = 3

_ASKED = re.compile(r"\b(?:which|what)\s+(\w+)", re.IGNORECASE)
_ASKED_NOUN = re.compile(
    r"\b(?:which\s+(\w+)|what\s+(\w+)\s+(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\bhow\s+(many|much)\s+(\w+)", re.IGNORECASE)
# Words that graphs typically use for the answer to a question that begins with these words.
_INTERROGATIVES = {"when": "date", "where": "place"}
_ARTICLES = frozenset("the a an his her its their this that".split())

# Words with their positions in the question.
Words = tuple[tuple[int, str], ...]


def join_words(remaining: Words) -> str:
    return " ".join(word for _, word in remaining)


def content_words(remaining: Words) -> list[str]:
    return list(dict.fromkeys(word for _, word in remaining if word not in FUNCTION_WORDS))


@dataclass(frozen=True, slots=True)
class PartialPath:
    """A path from a source to a node.

    ``remaining`` holds the words of the question that no step has matched yet, ``position`` the place in the question
    that the path has reached.
    """

    score: float
    remaining: Words
    position: int
    last_hop: Hop | None = None

    def content_words(self) -> list[str]:
        """Return the remaining content words, in the order of the question."""
        return content_words(self.remaining)

    def nearest_words(self) -> list[str]:
        """Return the remaining content words, nearest to ``position`` first."""
        ordered = sorted(self.remaining, key=lambda item: (abs(item[0] - self.position), item[0]))
        return content_words(tuple(ordered))

    def next_words(self) -> Words:
        """Return the remaining words from the first to the last of the nearest content words."""
        near = set(self.nearest_words()[:_NEXT_WORDS])
        places = [place for place, word in self.remaining if word in near]
        return tuple(item for item in self.remaining if places and min(places) <= item[0] <= max(places))


class QuestionWords:
    """The words of a question, split into names of sources and words to match."""

    def __init__(self, question: str, sources: Sequence[Node]) -> None:
        self.text = question
        self._words = words(question)[:_MAX_WORDS]
        remaining, positions, self._owners = _remove_names(self._words, sources)
        self.remaining: Words = tuple((n, _INTERROGATIVES.get(word, word) if not n else word) for n, word in remaining)
        self.named = frozenset(positions)
        """The sources whose names occur in the question."""
        # A source that the question does not name is treated as if it stood at the end of the question.
        self.positions = {node: positions.get(node, _MAX_WORDS) for node in sources}
        asked = _ASKED.search(question)
        counted = _COUNTED.search(question)
        # Words for the kind of the answer. No step has to match them, since graphs rarely state the kind.
        self.answer_kind = {asked[1].lower()} if asked else set()
        self.answer_kind |= {word for n, word in self.remaining if not n and word in _INTERROGATIVES.values()}
        self.answer_kind |= {counted[1].lower()} if counted else set()
        noun = _ASKED_NOUN.search(question)
        self.answer_noun = (noun[1] or noun[2]).lower() if noun else ""
        """The noun after "which" or "what", if any: it describes the end of the path."""
        if self.answer_noun in FUNCTION_WORDS:
            self.answer_noun = ""
        self.counted_noun = counted[2].lower() if counted else ""

    def head_noun(self, path: PartialPath) -> str:
        """Return the noun in "noun of X" or "X's noun", where X is at the position of ``path``; "" if there is none."""
        remaining = dict(path.remaining)
        if path.last_hop is None and path.position in self._owners:
            return next((word for place, word in path.remaining if place >= self._owners[path.position]), "")
        place = min(path.position, len(self._words)) - 1
        while place >= 0 and self._words[place] in _ARTICLES:
            place -= 1
        if place < 1 or self._words[place] != "of":
            return ""
        word = remaining.get(place - 1, "")
        return "" if word in FUNCTION_WORDS or word in self.answer_kind else word


def _remove_names(asked: list[str], sources: Sequence[Node]) -> tuple[Words, dict[Node, int], dict[int, int]]:
    """Return the words without the names of ``sources``, the positions of the names, and the possessive names.

    A possessive name maps the position where it begins to the position after it.
    """
    remaining = dict(enumerate(asked))
    positions: dict[Node, int] = {}
    owners: dict[int, int] = {}
    for node in sorted(sources, key=lambda node: (-len(words(node.label)), node.rank)):
        name = words(node.label)
        for begin in range(len(asked) - len(name) + 1):
            span = range(begin, begin + len(name))
            written = asked[begin : begin + len(name)]
            owner = written[:-1] + [strip_possessive(word) for word in written[-1:]]
            if name and name in (written, owner) and all(place in remaining for place in span):
                positions[node] = begin
                if written != name:
                    owners[begin] = span.stop
                for place in span:
                    del remaining[place]
                break
    return tuple(remaining.items()), positions, owners
