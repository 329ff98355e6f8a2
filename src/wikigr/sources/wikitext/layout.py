"""Turn rendered wikitext, lines of text with marks, into the sections of an article.

The sections that make up an encyclopedia article's apparatus (lists of works and links) are dropped: they match
questions by the words of titles but answer none. "Bibliography" is as often a reading list as the subject's own works;
the latter are usually under "Works" or "Publications", which are kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from wikigr.sources.article import SourceSection
from wikigr.sources.plain_text import LINE_GAP, PlainTextWriter
from wikigr.sources.wikitext import wikipedia_names
from wikigr.sources.wikitext.preprocess import (
    BLOCK,
    BREAK,
    HEADING,
    LIST,
    PLACEHOLDER,
    PREFORMATTED,
    REMOVED,
    ROW,
    clean_parentheses,
    strip_marks,
)

_LIST_PREFIX = re.compile(f"[ {REMOVED}]*((?:{LIST}[*#:;] ?)+)")
_LIST_MARK = re.compile(f"{LIST}(.)")
_BLOCK_LINE = re.compile(f"{BLOCK}(\\d+)\ue002")
# Lines of a table or template with unbalanced brackets.
_TABLE_MARKUP = re.compile(r"^\s*(?:\|-|\{\||\|\}|\|\+)")
_ORPHANED_ARGUMENT = re.compile(r"^\s*\|\s*[\w -]{1,40}=")
_ORPHANED_CELL = re.compile(r"^\s*[|!]+\s*")


class PageHeading(NamedTuple):
    """A heading of a page; ``is_dropped`` says that the text under it is."""

    level: int
    text: str
    anchor: str
    is_dropped: bool


def is_apparatus(heading: str) -> bool:
    """Return whether the text under ``heading`` is dropped."""
    return _normalize_heading(heading) in wikipedia_names("apparatus")


def has_article_links(heading: str) -> bool:
    """Return whether the links under a dropped heading are the author's links to other articles."""
    return _normalize_heading(heading) == "see also"


def _normalize_heading(heading: str) -> str:
    return heading.casefold().strip(" :")


def lay_out(
    text: str, headings: Sequence[PageHeading], verbatim: Sequence[str], title: str
) -> tuple[SourceSection, ...]:
    """Return the sections of rendered wikitext.

    The numbers after marks of headings and placeholders index ``headings`` and ``verbatim``, the code and formulas.
    """
    layout = _Layout(verbatim, title)
    for line in text.split("\n"):
        if line.startswith(HEADING):
            layout.begin_section(headings[int(line[1:])])
        else:
            layout.add(line)
    return layout.sections()


class _Layout:
    def __init__(self, verbatim: Sequence[str], title: str) -> None:
        self._writer = PlainTextWriter(title)
        self._verbatim = verbatim
        self._items: list[str] = []
        self._counts: list[int] = []
        self._preformatted: list[str] = []
        self._is_dropped = False
        self._in_rows = False
        # Whether the line before was a term or its definition.
        self._after_term = False

    def sections(self) -> tuple[SourceSection, ...]:
        self._end_paragraph()
        return self._writer.sections()

    def begin_section(self, heading: PageHeading) -> None:
        self._end_paragraph()
        self._is_dropped = heading.is_dropped
        if not self._is_dropped:
            self._writer.heading(heading.level, heading.text, heading.anchor)

    def add(self, line: str) -> None:
        if self._is_dropped:
            return
        if line.startswith(PREFORMATTED) and strip_marks(line).strip():
            if not self._preformatted:
                self._end_paragraph()
            self._preformatted.append(self._fill(line[1:].replace(BREAK, "\n")).rstrip())
            return
        if self._preformatted:
            self._end_paragraph()
        if not line.strip() or not line.replace(REMOVED, "").strip():
            # An empty line ends a paragraph, but a line from which everything was omitted does not.
            if not line.strip():
                self._end_paragraph()
        elif line.startswith(ROW):
            self._add_row(line[1:])
        elif prefix := _LIST_PREFIX.match(line):
            self._add_item("".join(_LIST_MARK.findall(prefix[1])), line[prefix.end() :])
        elif (block := _BLOCK_LINE.search(line)) and block[0] == line.strip():
            self._add_block(self._verbatim[int(block[1])])
        else:
            self._add_running_text(line)

    def _add_running_text(self, line: str) -> None:
        if _TABLE_MARKUP.match(line) or _ORPHANED_ARGUMENT.match(line):
            return
        if self._items or self._in_rows:
            self._end_paragraph()
        line = _ORPHANED_CELL.sub("", line)
        self._write(line)
        self._writer.write(" ")

    def _add_row(self, line: str) -> None:
        if not self._in_rows:
            self._end_paragraph()
            self._in_rows = True
        self._write(line)
        self._writer.end_block(LINE_GAP)

    def _add_block(self, code: str) -> None:
        self._writer.end_block()
        self._writer.verbatim(code)

    def _add_item(self, prefix: str, text: str) -> None:
        if self._in_rows:
            self._end_paragraph()
        levels = [character for character in prefix if character in "*#"][:12]
        if not strip_marks(text).strip():
            return
        if not levels:
            self._close_items(0)
            is_definition = prefix[-1] == ":" and self._after_term
            self._after_term = prefix[-1] == ";" or is_definition
            if is_definition:
                self._writer.open_indent()
            else:
                self._writer.end_block(LINE_GAP)
            self._write(text)
            if is_definition:
                self._writer.close_indent()
            self._writer.end_block(LINE_GAP)
            return
        if prefix[-1] in ":;" and levels == self._items[: len(levels)]:
            self._close_items(len(levels))
            self._writer.end_block(LINE_GAP)
        else:
            self._open_items(levels)
        self._write(text)

    def _open_items(self, levels: list[str]) -> None:
        if not self._items:
            self._writer.end_block()
        common = 0
        while common < min(len(levels), len(self._items)) and levels[common] == self._items[common]:
            common += 1
        if common == len(levels):
            # The next item of an open list.
            common -= 1
            number = self._counts[common] + 1
            self._close_items(common)
        else:
            self._close_items(common)
            number = 1
        for level in levels[common:]:
            self._writer.open_item(f"{number}. " if level == "#" else "- ")
            self._items.append(level)
            self._counts.append(number)
            number = 1

    def _close_items(self, keep: int) -> None:
        while len(self._items) > keep:
            self._writer.close_item()
            self._items.pop()
            self._counts.pop()

    def _end_paragraph(self) -> None:
        self._close_items(0)
        self._in_rows = self._after_term = False
        if self._preformatted:
            lines, self._preformatted = self._preformatted, []
            self._writer.verbatim("\n".join(lines))
        self._writer.end_block()

    def _fill(self, text: str) -> str:
        text = _LIST_MARK.sub(r"\1", text)
        return strip_marks(PLACEHOLDER.sub(lambda match: self._verbatim[int(match[1])], text))

    def _write(self, text: str) -> None:
        """Write running text and translate its marks into calls of the writer."""
        for line_number, line in enumerate(clean_parentheses(text).split(BREAK)):
            if line_number:
                self._writer.line_break()
            for piece_number, piece in enumerate(line.split(REMOVED)):
                if piece_number:
                    self._writer.removed()
                self._writer.write(self._fill(piece))
