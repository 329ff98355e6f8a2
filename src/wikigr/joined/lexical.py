"""The lexical indexes of several packs, searched as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wikigr.index.candidate import Hit
from wikigr.index.lexical import CONTENT, LexicalIndex


class JoinedLexicalIndex(LexicalIndex):
    """The indexes ``parts`` as one: words are weighted by their rarity in all of them together.

    With its own weights, a pack would rate a word highest that it hardly contains. ``rename`` maps the number of a part
    and a section id of that part to the id under which the section is found.
    """

    def __init__(self, parts: Sequence[LexicalIndex], rename: Callable[[int, str], str]) -> None:
        self._parts = parts
        self._rename = rename

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def frequency(self, stem: str, field: str = CONTENT) -> int:
        return sum(part.frequency(stem, field) for part in self._parts)

    def search(self, query: str, limit: int) -> list[Hit]:
        found = [
            Hit(self._rename(number, hit.section_id), hit.score)
            for number, part in enumerate(self._parts)
            for hit in part.search_as_part(query, limit, self)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.section_id))[:limit]
