"""Lay out headings, paragraphs, lists, code and superscripts as the plain text of ``SourceSection``.

The readers of HTML, wikitext and plain text drive ``PlainTextWriter`` with events, so that the same structure gives the
same text in every format. Markdown and reStructuredText are read as the HTML that they stand for.
"""

from __future__ import annotations

import re
import unicodedata

from wikigr.sources.article import SourceSection

LINE_GAP = 1
PARAGRAPH_GAP = 2
# A longer section is not navigation, however many of its letters are in links.
_MAX_NAVIGATION_CHARS = 300
# The level of ``<h6>``; entries rank below every heading.
_MAX_HEADING_LEVEL = 6

# Removing control characters from the input frees two of them for internal marks.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")
_BREAK = "\x00"
_REMOVED = "\x01"
# The lookbehind and the possessive quantifier keep each search linear.
_REMOVED_BEFORE_CLOSING = re.compile(f"(?<![ {_REMOVED}]) ?{_REMOVED}[ {_REMOVED}]*+(?=[.,;:!?)\\]])")
_REMOVED_BETWEEN_SPACES = re.compile(f" {_REMOVED}[ {_REMOVED}]*")


def collapse_spaces(text: str) -> str:
    """Return ``text`` on one line, with runs of white space collapsed to one space and none at the ends."""
    return " ".join(_drop_control(text).split())


def _drop_control(text: str) -> str:
    # Most texts are printable, which is much faster to find out.
    return text if text.isprintable() else _CONTROL.sub("", text)


def fold_title(text: str) -> str:
    """Return the form in which headings and titles are compared: NFKC, case-folded, single spaces."""
    return collapse_spaces(unicodedata.normalize("NFKC", text)).casefold()


_EXPONENT = re.compile(r"(?P<sign>[-+−–])?\d+(?:[.,]\d+)*")
_ORDINAL = re.compile(r"st|nd|rd|th", re.IGNORECASE)
_ORDINAL_AFTER_NUMERAL = re.compile(r"e|er|re|ère|ème|eme|o|a")
_NUMERALS = frozenset("0123456789IVXLC")
_CHARGE = re.compile(r"\d{0,2}[-+−–]")
_REFERENCE_MARK = re.compile(r"\[.*\]|[*†‡§¶#]+|[™®©℠]|TM|SM", re.DOTALL)


def format_superscript(text: str, before: str) -> str:
    """Return a superscript as plain text: ``m^2`` and ``e^{x+1}``, but ``19th`` and ``Ca2+``.

    ``before`` is the character in front of it, ``""`` if there is none. Ordinals, charges, footnote marks and
    trademark signs stay as they are, and so does text without a base, such as the mass number before an element. A
    signed number is always an exponent.
    """
    text = collapse_spaces(text)
    number = _EXPONENT.fullmatch(text)
    if number is not None and number["sign"]:
        return f"^{text}"
    if not text or not _is_base(before) or _CHARGE.fullmatch(text) or _REFERENCE_MARK.fullmatch(text):
        return text
    if _ORDINAL.fullmatch(text) or (before in _NUMERALS and _ORDINAL_AFTER_NUMERAL.fullmatch(text)):
        return text
    return f"^{text}" if number is not None or len(text) == 1 else f"^{{{text}}}"


def _is_base(character: str) -> bool:
    return bool(character) and (character.isalnum() or character in "|‖′" or unicodedata.category(character) == "Pe")


class PlainTextWriter:
    """Collects the sections of one article.

    A heading in the lead that repeats ``title`` does not open a section. Sections without text are omitted, but
    their headings stay in the paths of the sections below them.
    """

    def __init__(self, title: str) -> None:
        self._title = fold_title(title)
        self._sections: list[SourceSection] = []
        # Level, text and anchor of each heading above the text.
        self._headings: list[tuple[int, str, str]] = []
        self._place = self._place_anchor = ""
        # Heading levels of the open entries.
        self._entries: list[int] = []
        self._parts: list[str] = []
        self._inline: list[str] = []
        self._gap = 0
        self._gap_is_fixed = False
        self._indents: list[str] = []
        self._marker = ""
        self._marker_column = 0
        # The short texts of the current section, each with whether it is in a link, and the length of the long ones.
        self._short: list[tuple[str, bool]] = []
        self._long = 0

    def write(self, text: str, *, is_link: bool = False) -> None:
        """Add running text to the current block; white space is collapsed when the block ends."""
        self._inline.append(_drop_control(text))
        if len(text) <= _MAX_NAVIGATION_CHARS:
            self._short.append((text, is_link))
        else:
            self._long += len(text)

    def line_break(self) -> None:
        """Start a new line inside the current block."""
        self._inline.append(_BREAK)

    def removed(self) -> None:
        """Mark the place of an omitted inline element, so that no space remains before punctuation after it."""
        self._inline.append(_REMOVED)

    def end_block(self, gap: int = PARAGRAPH_GAP) -> None:
        """End the current block; at least ``gap`` newlines separate it from the next."""
        self._flush()
        if not self._gap_is_fixed:
            self._gap = max(self._gap, gap)

    def heading(self, level: int, text: str, anchor: str = "") -> None:
        """Open a section under a heading of ``level`` (1 is the highest), which has the address ``anchor``."""
        self._flush()
        text = collapse_spaces(text)
        if not text:
            return
        if self._in_lead() and self._title and fold_title(text) == self._title:
            self._headings.clear()
            self.end_block()
            return
        self._close_section()
        # A heading inside an entry ranks below the entry's name.
        level += self._entries[-1] if self._entries else 0
        self._leave_headings(level)
        self._headings.append((level, text, anchor))

    def open_entry(self, name: str, anchor: str = "") -> None:
        """Open a subsection called ``name``; ``close_entry`` returns to the current section."""
        self._flush()
        self._close_section()
        level = max(_MAX_HEADING_LEVEL, self._headings[-1][0] if self._headings else 0) + 1
        self._entries.append(level)
        self._headings.append((level, collapse_spaces(name), anchor))

    def close_entry(self) -> None:
        """Close the innermost entry and return to the section around it."""
        self._flush()
        self._close_section()
        self._leave_headings(self._entries.pop())

    def place(self, name: str, anchor: str) -> None:
        """Say where in the file the following text stands; ``name`` stands before the headings of its sections.

        Their address is ``anchor``, not that of a heading.
        """
        self._flush()
        self._close_section()
        self._place, self._place_anchor = collapse_spaces(name), anchor

    def leave_headings(self) -> None:
        """Close all headings: what follows stands under none of them."""
        self._flush()
        self._close_section()
        self._headings.clear()

    @property
    def heading_path(self) -> tuple[str, ...]:
        """The headings above what is written next."""
        return (*filter(None, [self._place]), *(text for _, text, _ in self._headings))

    @property
    def anchor(self) -> str:
        """The address of what is written next: its place, or the nearest heading above it that has one."""
        return self._place_anchor or next((anchor for _, _, anchor in reversed(self._headings) if anchor), "")

    @property
    def is_indented(self) -> bool:
        """Whether the current block is inside a list item or a definition."""
        return bool(self._indents)

    def verbatim(self, text: str) -> None:
        """Add a block whose white space is kept, such as code; it is never indented, so that it can be copied."""
        self.end_block()
        text = _CONTROL.sub("", text).strip("\n")
        if not text.strip():
            return
        if self._marker:
            self._append(self._first_prefix().rstrip())
            self._gap = LINE_GAP
        self._append(text)
        self._long += len(text)
        self.end_block()

    def open_item(self, marker: str) -> None:
        """Open a list item; its first line starts with ``marker``, and the others align with its text."""
        self.end_block(LINE_GAP)
        self._marker_column = sum(map(len, self._indents))
        self._marker = marker
        self._gap_is_fixed = True
        self._indents.append(" " * len(marker))

    def close_item(self) -> None:
        """Close a list item; the next item follows on the next line."""
        self._flush()
        self._marker = ""
        self._indents.pop()
        self._gap = LINE_GAP
        self._gap_is_fixed = False

    def open_indent(self, width: int = 4) -> None:
        """Open a run of blocks that are indented by ``width`` spaces."""
        self.end_block(LINE_GAP)
        self._gap_is_fixed = True
        self._indents.append(" " * width)

    def close_indent(self) -> None:
        """Close the innermost run of indented blocks."""
        self._flush()
        self._indents.pop()
        self._gap_is_fixed = False

    def sections(self) -> tuple[SourceSection, ...]:
        """Return everything written so far, in order."""
        self._flush()
        self._close_section()
        return tuple(self._sections)

    def _leave_headings(self, level: int) -> None:
        """Close the headings of ``level`` and below."""
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()

    def _in_lead(self) -> bool:
        """Return whether no text stands under a heading yet."""
        return not self._sections and (not self._headings or not self._parts)

    def _flush(self) -> None:
        if not self._inline:
            return
        text = "".join(self._inline)
        self._inline.clear()
        if _REMOVED in text:
            text = " ".join(text.split())
            text = _REMOVED_BEFORE_CLOSING.sub("", text)
            text = _REMOVED_BETWEEN_SPACES.sub(" ", text).replace(_REMOVED, "")
        lines = [" ".join(line.split()) for line in text.split(_BREAK)]
        lines = [line for line in lines if line]
        if not lines:
            return
        if not self._sections and not self._headings and not self._parts and not self._marker:
            # Some pages show their title in a plain box instead of a heading.
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

    def _link_share(self) -> float:
        """Return the share of the current section's letters and digits that are in links, 0 to 1."""
        letters = {True: 0, False: self._long}
        for text, is_link in self._short:
            letters[is_link] += sum(map(str.isalnum, text))
        return letters[True] / max(sum(letters.values()), 1)

    def _close_section(self) -> None:
        if self._parts:
            text = "".join(self._parts)
            is_navigation = len(text) <= _MAX_NAVIGATION_CHARS and self._link_share() >= 0.8
            self._sections.append(SourceSection(self.heading_path, text, is_navigation, self.anchor))
        self._parts = []
        self._short = []
        self._long = 0
        self._gap = 0
