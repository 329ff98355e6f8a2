"""The part of a text that matches a query best, with the places of the matching words."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Set
from dataclasses import dataclass, field

from wikigr.index.lexical import stems
from wikigr.languages import ENGLISH, Language
from wikigr.text import MARKS

# What the tokenizer of the lexical index takes for a word.
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
# What a line break inside a paragraph becomes: it separates rows of a table, items of a list and the like.
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
_LINE_START = " · "
_SENTENCE_START = re.compile(rf"(?<=[.!?])[\"”’)]* (?=[\"“‘(]*[^\W\d_a-z])|{_LINE_START}")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The stems of a query in ``language``, each with its weight."""

    weights: Mapping[str, float] = field(default_factory=dict)
    language: Language = ENGLISH


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a text on one line, with ``…`` where words are left out.

    ``matches`` are the offsets (start, end) in ``text`` of the words that have a stem of the query.
    """

    text: str
    matches: tuple[tuple[int, int], ...]


def make_snippet(text: str, query: QueryTerms, length: int) -> Snippet:
    """Return the best part of ``text``, which has at most ``length`` characters and contains whole words only.

    The best part has the greatest weight of distinct stems; of equal parts, the first one. It begins with a sentence or
    a line if possible. Without a match, it is the beginning.
    """
    line = " ".join(_LINE_BREAK.sub(_LINE_START, text.strip()).split())
    matches = list(_matches(line, query.weights, query.language))
    if len(line) <= length:
        return Snippet(line, tuple((start, end) for start, end, _ in matches))
    # Room for an ellipsis and a blank on both sides.
    room = max(length - 4, 1)
    starts = [0, *(found.end() for found in _SENTENCE_START.finditer(line))]
    best, best_weight = 0, 0.0
    for start, end, _ in matches:
        sentence = max(place for place in starts if place <= start)
        # In a sentence that is too long to be shown from its start, this share of the snippet precedes the first
        # match.
        begin = sentence if end - sentence <= room else _word_start(line, start - int(0.25 * room), start)
        held = {stem for first, last, stem in matches if begin <= first and last <= begin + room}
        weight = sum(query.weights[stem] for stem in held)
        if weight > best_weight:
            best, best_weight = begin, weight
    # Near the end there is room for the sentences before.
    best = min([best, *(start for start in starts if len(line) - start <= room)])
    return _cut(line, best, room, [(start, end) for start, end, _ in matches])


def weight_of(text: str, query: QueryTerms) -> float:
    """Return the weight of the distinct stems of the query that ``text`` has."""
    return sum(query.weights[stem] for stem in {stem for *_, stem in _matches(text, query.weights, query.language)})


def find_matches(text: str, query: Set[str], language: Language = ENGLISH) -> tuple[tuple[int, int], ...]:
    """Return the offsets (start, end) of the words of ``text`` that have a stem of ``query``."""
    return tuple((start, end) for start, end, _ in _matches(text, query, language))


def _matches(line: str, query: Container[str], language: Language) -> Iterator[tuple[int, int, str]]:
    known: dict[str, str | None] = {}
    for word in _WORD.finditer(line):
        if word[0] not in known:
            known[word[0]] = next((stem for stem in stems(word[0], language) if stem in query), None)
        stem = known[word[0]]
        if stem is not None:
            yield word.start(), word.end(), stem


def _word_start(line: str, place: int, match: int) -> int:
    """Return the first place after ``place`` where a word begins, at most ``match``."""
    blank = line.find(" ", max(place, 0), match)
    return match if blank < 0 else blank + 1


def _cut(line: str, begin: int, room: int, matches: list[tuple[int, int]]) -> Snippet:
    end = len(line)
    if begin + room < end:
        blank = line.rfind(" ", begin + 1, begin + room + 1)
        end = blank if blank > begin else begin + room
    before, after = "… " if begin else "", " …" if end < len(line) else ""
    moved = len(before) - begin
    kept = tuple((start + moved, stop + moved) for start, stop in matches if begin <= start and stop <= end)
    return Snippet(f"{before}{line[begin:end]}{after}", kept)
