"""Lays out headings, paragraphs, lists and code as the plain text of ``SourceSection``.

The readers of marked-up formats (HTML, Markdown) drive it with events, so that the same structure gives the
same text whatever it was written in.
"""

from __future__ import annotations

import re
import unicodedata

from wikigr.sources.article import SourceSection

LINE_GAP = 1
PARAGRAPH_GAP = 2
# Of headings; entries are below them.
_LOWEST_LEVEL = 6

# Control characters never carry text; taking them out of the input leaves two free for marks of our own.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")
_BREAK = "\x00"
_REMOVED = "\x01"
_SPACES = re.compile("[ \t\n\r\f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
# Tried only where a run of removals begins, and once.
_REMOVED_BEFORE_CLOSING = re.compile(f"(?<![ {_REMOVED}]) ?{_REMOVED}[ {_REMOVED}]*+(?=[.,;:!?)\\]])")
_REMOVED_BETWEEN_SPACES = re.compile(f" {_REMOVED}[ {_REMOVED}]*")


def collapse_spaces(text: str) -> str:
    """``text`` on one line: every run of white space is one space, none at the ends."""
    return _SPACES.sub(" ", _CONTROL.sub("", text)).strip()


def fold_title(text: str) -> str:
    """The form in which a heading and a title are compared: NFKC, case folded, single spaces."""
    return collapse_spaces(unicodedata.normalize("NFKC", text)).casefold()


class PlainTextWriter:
    """Collects the sections of one article.

    A heading that repeats ``title`` in the lead is the article's own and opens no section. Sections without
    text are left out; their headings stay in the paths of the sections below them.
    """

    def __init__(self, title: str) -> None:
        self._title = fold_title(title)
        self._sections: list[SourceSection] = []
        self._headings: list[tuple[int, str]] = []
        # The levels of the open entries.
        self._entries: list[int] = []
        self._parts: list[str] = []
        self._inline: list[str] = []
        self._gap = 0
        self._gap_is_fixed = False
        self._indents: list[str] = []
        self._marker = ""
        self._marker_column = 0

    def write(self, text: str) -> None:
        """Add running text to the present line; white space is collapsed when the block ends."""
        self._inline.append(_CONTROL.sub("", text))

    def line_break(self) -> None:
        """Break the line inside a block."""
        self._inline.append(_BREAK)

    def removed(self) -> None:
        """Note that an inline element was left out here: no space may stay before punctuation after it."""
        self._inline.append(_REMOVED)

    def end_block(self, gap: int = PARAGRAPH_GAP) -> None:
        """End the present block; the next is set off by at least ``gap`` newlines."""
        self._flush()
        if not self._gap_is_fixed:
            self._gap = max(self._gap, gap)

    def heading(self, level: int, text: str) -> None:
        """Open the section under a heading of ``level`` (1 is the highest)."""
        self._flush()
        text = collapse_spaces(text)
        if not text:
            return
        if self._in_lead() and self._title and fold_title(text) == self._title:
            self._headings.clear()
            self.end_block()
            return
        self._close_section()
        # A heading in an entry is below its name.
        level += self._entries[-1] if self._entries else 0
        self._leave_headings(level)
        self._headings.append((level, text))

    def open_entry(self, name: str) -> None:
        """Begin a section of its own below the present one, to which ``close_entry`` returns."""
        self._flush()
        self._close_section()
        level = max(_LOWEST_LEVEL, self._headings[-1][0] if self._headings else 0) + 1
        self._entries.append(level)
        self._headings.append((level, collapse_spaces(name)))

    def close_entry(self) -> None:
        """End the entry begun last: what follows belongs to the section around it."""
        self._flush()
        self._close_section()
        self._leave_headings(self._entries.pop())

    @property
    def is_indented(self) -> bool:
        """Whether the present block stands in a list item or a definition."""
        return bool(self._indents)

    def verbatim(self, text: str) -> None:
        """Add a block whose white space counts, such as code. Never indented, so that it can be copied."""
        self.end_block()
        text = _CONTROL.sub("", text).strip("\n")
        if not text.strip():
            return
        if self._marker:
            self._append(self._first_prefix().rstrip())
            self._gap = LINE_GAP
        self._append(text)
        self.end_block()

    def open_item(self, marker: str) -> None:
        """Begin a list item: its first line starts with ``marker``, the others line up under its text."""
        self.end_block(LINE_GAP)
        self._marker_column = sum(map(len, self._indents))
        self._marker = marker
        self._gap_is_fixed = True
        self._indents.append(" " * len(marker))

    def close_item(self) -> None:
        """End a list item; the next item follows on the next line."""
        self._flush()
        self._marker = ""
        self._indents.pop()
        self._gap = LINE_GAP
        self._gap_is_fixed = False

    def open_indent(self, width: int = 4) -> None:
        """Begin a run of indented blocks."""
        self.end_block(LINE_GAP)
        self._gap_is_fixed = True
        self._indents.append(" " * width)

    def close_indent(self) -> None:
        """End the run of indented blocks begun last."""
        self._flush()
        self._indents.pop()
        self._gap_is_fixed = False

    def sections(self) -> tuple[SourceSection, ...]:
        """Everything written so far, in order."""
        self._flush()
        self._close_section()
        return tuple(self._sections)

    def _leave_headings(self, level: int) -> None:
        """Leave the headings of ``level`` and below it."""
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()

    def _in_lead(self) -> bool:
        """Whether all text so far stands before the first heading that has text."""
        return not self._sections and (not self._headings or not self._parts)

    def _flush(self) -> None:
        if not self._inline:
            return
        text = _SPACES.sub(" ", "".join(self._inline))
        self._inline.clear()
        if _REMOVED in text:
            text = _REMOVED_BEFORE_CLOSING.sub("", text)
            text = _REMOVED_BETWEEN_SPACES.sub(" ", text).replace(_REMOVED, "")
        lines = [line.strip() for line in text.split(_BREAK)]
        lines = [line for line in lines if line]
        if not lines:
            return
        if not self._sections and not self._headings and not self._parts and not self._marker:
            # A page that shows its title in a plain box instead of a heading.
            lines = lines[1:] if fold_title(lines[0]) == self._title else lines
            if not lines:
                return
        indent = "".join(self._indents)
        first = self._first_prefix()
        self._append(("\n" + indent).join([first + lines[0], *lines[1:]]))

    def _first_prefix(self) -> str:
        indent = "".join(self._indents)
        if self._marker:
            start = self._marker_column
            indent = indent[:start] + self._marker + indent[start + len(self._marker) :]
            self._marker = ""
        return indent

    def _append(self, block: str) -> None:
        if self._parts:
            self._parts.append("\n" * max(self._gap, LINE_GAP))
        self._parts.append(block)
        self._gap = 0
        self._gap_is_fixed = False

    def _close_section(self) -> None:
        if self._parts:
            path = tuple(text for _, text in self._headings)
            self._sections.append(SourceSection(path, "".join(self._parts)))
        self._parts = []
        self._gap = 0
