"""The titles of the packs of a server: as a list, and those that the end of a text may begin."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge, nsmallest
from itertools import accumulate, chain, islice, repeat
from typing import TYPE_CHECKING, Literal

from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.graph.graph_index import GraphIndex
from wikigr.names import name_key
from wikigr.pack.open import Pack
from wikigr.question.question import content_stems

if TYPE_CHECKING:
    from wikigr.documents.shapes import TitlesDocument, TitleShape

Order = Literal["title", "links"]
_MAX_PACKS = 8
# Titles that a box offers, and the words before the cursor that may begin one.
_MAX_OFFERED = 7
_MAX_TITLE_WORDS = 6
_MIN_TITLE_CHARS = 2
# Titles that are compared by PageRank, and first letters that a list has.
_MAX_COMPARED = 500
_MAX_LETTERS = 100
_WORD = re.compile(r"\S+")


def list_titles(packs: Sequence[Pack], order: Order, first: int, count: int) -> TitlesDocument:
    """Return ``count`` titles of ``packs`` from number ``first`` in alphabetical order, or the most linked first."""
    listed = [(pack, _title_keys(pack.graph_index)) for pack in packs]
    rows = [map(_with_label, keys.pairs, repeat(pack.label)) for pack, keys in listed]
    if order == "title":
        chosen = list(islice(merge(*rows), first, first + count))
    else:
        ranks = {pack.label: pack.pagerank for pack in packs}
        linked = nsmallest(first + count, chain(*rows), key=lambda row: (-ranks[row[2]].get(row[1], 0.0), row))
        chosen = linked[first:]
    letters = sum((keys.letters for _, keys in listed), Counter())
    begins = accumulate((letters[letter] for letter in sorted(letters)), initial=0)
    document = _document([{"title": title, "pack": label} for _, title, label in chosen], first, letters.total())
    if order == "title":
        for letter, begin in islice(zip(sorted(letters), begins, strict=False), _MAX_LETTERS):
            document["letters"].append({"letter": letter.upper() or "#", "first": begin})
    return document


def _document(titles: list[TitleShape], first: int, total: int, ending: str = "") -> TitlesDocument:
    return {
        "schema_version": SCHEMA_VERSION,
        "titles": titles,
        "first": first,
        "total": total,
        "letters": [],
        "ending": ending,
    }


def _with_label(pair: tuple[str, str], label: str) -> tuple[str, str, str]:
    return *pair, label


def complete_title(packs: Sequence[Pack], text: str) -> TitlesDocument:
    """Return the titles of ``packs`` in which the last words of ``text`` begin a word, the most likely one first.

    Of the last words, as many count as a title has. A single one counts unless it is too common to name anything.
    """
    found: list[TitleShape] = []
    tail = ""
    for start in [word.start() for word in _WORD.finditer(text)][-_MAX_TITLE_WORDS:]:
        tail = text[start:]
        if start and len(tail.split()) == 1 and not content_stems(tail):
            break
        if found := _titles_with(packs, tail):
            break
    return _document(found, 0, len(found), tail if found else "")


def _titles_with(packs: Sequence[Pack], name: str) -> list[TitleShape]:
    """Return titles in which ``name`` begins a word, whatever its case and accents.

    Those that begin with it come first, then those with the highest PageRank.
    """
    key = name_key(name)
    if len(key) < _MIN_TITLE_CHARS:
        return []
    found: list[tuple[bool, float, str, str]] = []
    for pack in packs:
        keys, ranks = _title_keys(pack.graph_index), pack.pagerank
        for match in islice(re.finditer(rf"(?:^| ){re.escape(key)}", keys.text, re.MULTILINE), _MAX_COMPARED):
            title = keys.pairs[bisect_left(keys.ends, match.end())][1]
            found.append((match[0].startswith(" "), -ranks.get(title, 0.0), title, pack.label))
    offered: dict[str, str] = {}
    for *_, title, label in sorted(found):
        offered.setdefault(title, label)
    return [{"title": title, "pack": label} for title, label in islice(offered.items(), _MAX_OFFERED)]


@dataclass(frozen=True, slots=True)
class _TitleKeys:
    """The titles of a pack with their keys (``name_key``) in alphabetical order; ``text`` has the keys, one a line.

    ``ends`` are the places in ``text`` where each key ends, and ``letters`` counts the keys by their first letter.
    """

    pairs: tuple[tuple[str, str], ...]
    text: str
    ends: tuple[int, ...]
    letters: Counter[str]


@lru_cache(maxsize=_MAX_PACKS)
def _title_keys(index: GraphIndex) -> _TitleKeys:
    titles = (index.node(number).key for number in range(index.articles))
    pairs = tuple(sorted((name_key(title), title) for title in titles))
    ends = tuple(accumulate((len(key) + 1 for key, _ in pairs), initial=-1))[1:]
    return _TitleKeys(pairs, "\n".join(key for key, _ in pairs), ends, Counter(key[:1] for key, _ in pairs))
