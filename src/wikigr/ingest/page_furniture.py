"""Remove what pages repeat or only navigate with, and join sections that are too short to stand on their own."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from wikigr.languages import ENGLISH, Language
from wikigr.segmentation import ends_as_prose, has_statement
from wikigr.sources.article import SourceArticle, SourceSection
from wikigr.sources.block import shift_blocks
from wikigr.sources.bylines import is_byline
from wikigr.sources.facts import FACTS, PROPERTIES

# Characters. A shorter section is joined to one beside it.
MIN_SECTION_CHARS = 40
# A paragraph at the top or the bottom of so many articles, and of this share of them, is a header or a footer. A
# statement is one only at this other share: fewer pages may really say the same.
MIN_REPEATED = 5
MIN_REPEATED_SHARE = 0.1
MIN_REPEATED_SHARE_OF_STATEMENTS = 0.5
# Longer paragraphs are text. Only so many sections and paragraphs at each end are compared.
MAX_REPEATED_CHARS = 400
_MAX_SECTIONS = 2
_MAX_PARAGRAPHS = 4

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_QUESTION = re.compile(r"[?？]$")
_Key = bytes
RepeatedText = frozenset[_Key]
"""Keys of the paragraphs that many articles of a source begin or end with."""


class RepeatedTextFinder:
    """Counts the first and last paragraphs of articles, in time linear in their number."""

    def __init__(self, language: Language = ENGLISH) -> None:
        self._language = language
        self._counts: Counter[_Key] = Counter()
        self._statements: set[_Key] = set()
        self._articles = 0

    def add(self, record: SourceArticle) -> None:
        """Count the paragraphs of one record; those of a graph's facts never count, because nodes share them."""
        self._articles += 1
        if _is_of_graph(record):
            return
        found = {_key(place, heading, text): text for place, heading, text in _ends(record.sections)}
        self._counts.update(found.keys())
        # Paragraphs found in a single article are forgotten when so many are counted, so that memory is bounded.
        if len(self._counts) > 200_000:
            self._counts = Counter({key: count for key, count in self._counts.items() if count > 1})
        for key, text in found.items():
            if self._counts[key] == MIN_REPEATED and has_statement(text, self._language):
                self._statements.add(key)

    def result(self) -> RepeatedText:
        """Return the paragraphs that are repeated often enough."""

        def least(key: _Key) -> float:
            share = MIN_REPEATED_SHARE_OF_STATEMENTS if key in self._statements else MIN_REPEATED_SHARE
            return max(MIN_REPEATED, share * self._articles)

        return frozenset(key for key, count in self._counts.items() if count >= least(key))


def tidy_sections(record: SourceArticle, repeated: RepeatedText) -> tuple[SourceSection, ...]:
    """Return the sections of ``record`` without headers, footers and navigation, and without tiny ones.

    A tiny section that is not a sentence becomes a line, with its heading, of the section before it, or the beginning
    of the one below it. It stays under a heading that is a question, which an answer stays with. An article that
    consists of such text only keeps it. The facts of an infobox are not text of the page and are kept as they are.
    """
    sections = [section for section in record.sections if section.text.strip()]
    kept = sections if _is_of_graph(record) else _without_furniture(sections, repeated)
    return tuple(_join_tiny(kept or sections))


def _without_furniture(sections: Sequence[SourceSection], repeated: RepeatedText) -> list[SourceSection]:
    kept = [
        section
        for section in sections
        if not section.is_navigation
        or (
            len(section.text.strip()) >= MIN_SECTION_CHARS
            and _key("any", _heading(section), section.text) not in repeated
        )
    ]
    for place in ("end", "start"):
        while (at := _outermost(kept, place)) is not None:
            section = _without_repeated(kept[at], repeated, place)
            if section.text and not section.is_navigation:
                kept[at] = section
                break
            del kept[at]
    return kept


def _is_of_graph(record: SourceArticle) -> bool:
    """Return whether ``record`` is a node of a graph: a description and facts, without text under headings."""
    return bool(record.triples) and all(section.heading_path in ((), (FACTS,)) for section in record.sections)


def _is_stated(section: SourceSection) -> bool:
    """Return whether ``section`` is one of facts, or of the properties of a note, which are kept as they are."""
    heading = _heading(section)
    return heading == FACTS or (heading == PROPERTIES and any(block.kind == "property" for block in section.blocks))


def _outermost(sections: Sequence[SourceSection], place: str) -> int | None:
    """Return the index of the first or last of ``sections`` that does not state facts, if any."""
    shown = [number for number, section in enumerate(sections) if not _is_stated(section)]
    return (shown[0] if place == "start" else shown[-1]) if shown else None


def _without_repeated(section: SourceSection, repeated: RepeatedText, place: str) -> SourceSection:
    """Return ``section`` without the repeated paragraphs at its start or end; itself if there are none."""
    paragraphs = _spans(section.text)
    while paragraphs:
        start, end = paragraphs[0 if place == "start" else -1]
        if _key(place, _heading(section), section.text[start:end]) not in repeated:
            break
        paragraphs.pop(0 if place == "start" else -1)
    start, end = (paragraphs[0][0], paragraphs[-1][1]) if paragraphs else (0, 0)
    return section if section.text[start:end] == section.text.strip() else section.cut(start, end)


def _ends(sections: Sequence[SourceSection]) -> Iterator[tuple[str, str, str]]:
    """Yield the short paragraphs at both ends, and the sections that only navigate, with place and heading."""
    shown = [section for section in sections if section.text.strip() and not _is_stated(section)]
    for place, at_end in (("start", shown[:_MAX_SECTIONS]), ("end", shown[-_MAX_SECTIONS:])):
        for section in at_end:
            spans = _spans(section.text)
            for start, end in spans[:_MAX_PARAGRAPHS] if place == "start" else spans[-_MAX_PARAGRAPHS:]:
                if end - start <= MAX_REPEATED_CHARS and not is_byline(section.text[start:end]):
                    yield place, _heading(section), section.text[start:end]
    for section in shown:
        if section.is_navigation:
            yield "any", _heading(section), section.text


def _spans(text: str) -> list[tuple[int, int]]:
    """Return the paragraphs of ``text``."""
    cuts = [match.span() for match in _BLANK_LINES.finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip()]


def _heading(section: SourceSection) -> str:
    return section.heading_path[-1] if section.heading_path else ""


def _key(place: str, heading: str, text: str) -> _Key:
    whole = "\0".join((place, heading, text.strip()))
    return hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=12).digest()


def _join_tiny(sections: Iterable[SourceSection]) -> list[SourceSection]:
    waiting = list(sections)
    joined: list[SourceSection] = []
    for number, section in enumerate(waiting):
        following = waiting[number + 1] if number + 1 < len(waiting) else None
        path = section.heading_path
        text = section.text.strip("\n").rstrip()
        if path and following is not None and _is_stated(following):
            following = None
        is_complete = len(text) >= MIN_SECTION_CHARS or ends_as_prose(text) or _is_stated(section)
        before = next((n for n in reversed(range(len(joined))) if not _is_stated(joined[n])), None)
        if is_complete or _QUESTION.search(_heading(section)):
            joined.append(section)
        elif following is not None and following.heading_path[: len(path)] == path:
            # The headings of the section below it include its own.
            waiting[number + 1] = _before(section, following)
        elif before is not None and joined[before].heading_path[: len(path) - 1] == path[:-1]:
            joined[before] = joined[before].followed_by(_labeled(section))
        elif following is not None and following.heading_path[: len(path) - 1] == path[:-1]:
            waiting[number + 1] = _before(_labeled(section), following)
        else:
            joined.append(section)
    return joined


def _before(tiny: SourceSection, section: SourceSection) -> SourceSection:
    """Return ``section`` with the text of a tiny one before its own."""
    whole = tiny.followed_by(section)
    return replace(section, text=whole.text, blocks=whole.blocks, is_navigation=False)


def _labeled(section: SourceSection) -> SourceSection:
    """Return a tiny section with its heading before the text."""
    tiny = section.trimmed()
    gap = "\n" if "\n" in tiny.text or tiny.text.startswith("- ") else " "
    label = f"{_heading(section).rstrip(' :')}:{gap}"
    return replace(tiny, text=label + tiny.text, blocks=shift_blocks(tiny.blocks, len(label)))
