"""Lay out headings, paragraphs, lists, code and superscripts of any format as the plain text of ``SourceSection``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container
from typing import NamedTuple

from wikigr.sources.article import SourceSection
from wikigr.sources.block import CHECK_BOXES, Block, BlockKind, Cell, RowText, TaskState, without_paragraphs

LINE_GAP = 1
PARAGRAPH_GAP = 2
# A longer section is not navigation, however many of its letters are in links.
_MAX_NAVIGATION_CHARS = 300
# The level of ``<h6>``; entries rank below every heading.
_MAX_HEADING_LEVEL = 6
# Lists that are nested deeper look less deep: their text would be mostly white space.
_MAX_INDENT = 80

# Removing control characters from the input frees two of them for internal marks.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")
# At the end of a line, a soft hyphen divides a word.
_CONTROL_IN_LINES = re.compile(rf"(?!\u00ad[^\S\n]*\n){_CONTROL.pattern}")
_BREAK = "\x00"
_REMOVED = "\x01"
# The lookbehind and the possessive quantifier keep each search linear.
_REMOVED_BEFORE_CLOSING = re.compile(f"(?<![ {_REMOVED}]) ?{_REMOVED}[ {_REMOVED}]*+(?=[.,;:!?)\\]])")
_REMOVED_BETWEEN_SPACES = re.compile(f" {_REMOVED}[ {_REMOVED}]*")


def collapse_spaces(text: str) -> str:
    """Return ``text`` on one line, with runs of white space collapsed to one space and none at the ends."""
    return " ".join(_drop_control(text).split())


def _drop_control(text: str, control: re.Pattern[str] = _CONTROL) -> str:
    # Most texts are printable, which is much faster to find out.
    return text if text.isprintable() else control.sub("", text)


# Words are not longer where they are divided; looking back only so far keeps the time linear.
_DIVIDED_WORD = re.compile(r"([^\W\d_]{1,64})([-\u2010\u00ad])[^\S\n]*\n\s*(?=([^\W\d_]+))")
# Finds out much faster that there is none.
_HYPHEN_AT_END = re.compile(r"[-\u2010\u00ad](?<=[^\W\d_].)[^\S\n]*\n")
# A word, with hyphens inside it but not at the end of its line.
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*(?![-\u2010]\s*$)", re.MULTILINE)
# After these, the hyphen stands for the second part of a compound: "pre- and post-war".
_CONJUNCTIONS = frozenset("and or to und oder bis bzw et ou à y o e ed en of och eller".split())


def divides_word(line: str, following: str) -> bool:
    """Return whether a hyphen divides a word between two lines."""
    lines = f"{line[-100:]}\n{following}"
    found = _DIVIDED_WORD.search(lines) if _HYPHEN_AT_END.search(lines) else None
    return found is not None and _is_divided(found)


def _is_divided(found: re.Match[str]) -> bool:
    return found[3][0].islower() and found[3].lower() not in _CONJUNCTIONS


def _join_words(text: str, words: Container[str]) -> str:
    """Return ``text`` with the words joined that a hyphen divides between lines.

    ``words`` are those of the whole text in lower case, with the hyphens inside them. The hyphen stays where the text
    has the word with it elsewhere, or where both parts are words themselves and the whole is not.
    """

    def joined(found: re.Match[str]) -> str:
        if not _is_divided(found):
            return found[0]
        left, right = found[1].lower(), found[3].lower()
        is_compound = f"{left}-{right}" in words or (left in words and right in words and left + right not in words)
        return f"{found[1]}-" if is_compound and found[2] != "\u00ad" else found[1]

    return _DIVIDED_WORD.sub(joined, text)


def close_gaps(text: str, mark: str) -> str:
    """Return ``text`` on one line without ``mark``, where something was omitted, and without the spaces around it."""
    text = " ".join(text.replace(mark, _REMOVED).split())
    text = _REMOVED_BEFORE_CLOSING.sub("", text)
    return _REMOVED_BETWEEN_SPACES.sub(" ", text).replace(_REMOVED, "")


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


class _Row(NamedTuple):
    """A row of the current table in the text of the section."""

    start: int
    end: int
    cells: tuple[Cell, ...]
    is_alone: bool


class PlainTextWriter:
    """Collects the sections of one article, with the blocks of their texts.

    A heading in the lead that repeats ``title`` does not open a section. Sections without text are omitted, but
    their headings stay in the paths of the sections below them.

    Running text is a paragraph, unless it begins an item or stands between ``open_kind`` and ``close_kind``. What is
    written between ``open_indent`` and ``close_indent``, and in an item after its first paragraph, stands inside the
    block before it and has a greater depth.
    """

    def __init__(self, title: str) -> None:
        self._title = fold_title(title)
        self._sections: list[SourceSection] = []
        # Level, text and anchor of each heading above the text.
        self._headings: list[tuple[int, str, str]] = []
        self._place = self._place_anchor = ""
        # Heading levels of the open entries.
        self._entries: list[int] = []
        # The text of the current section, its length, and its blocks.
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        # The current table, and the names of its columns.
        self._rows: list[_Row] = []
        self._columns: tuple[str, ...] = ()
        self._inline: list[str] = []
        # What reads the whole text, and the words in it.
        self._whole: Callable[[], str] | None = None
        self._words: frozenset[str] | None = None
        self._gap = 0
        self._gap_is_fixed = False
        # The white space before lines in each open item, definition and the like, that of those around it included.
        self._indents: list[str] = []
        # The number of indents around each open entry.
        self._entry_indents: list[int] = []
        # The kind and label of running text, and the number of indents around it.
        self._kinds: list[tuple[BlockKind, str, int]] = []
        self._marker = ""
        self._state: TaskState | None = None
        self._marker_column = 0
        # The short texts of the current section, each with whether it is in a link, and the length of the long ones.
        self._short: list[tuple[str, bool]] = []
        self._long = 0

    def write(self, text: str, *, is_link: bool = False) -> None:
        """Add running text to the current block; white space is collapsed when the block ends."""
        self._inline.append(_drop_control(text, _CONTROL_IN_LINES))
        if len(text) <= _MAX_NAVIGATION_CHARS:
            self._short.append((text, is_link))
        else:
            self._long += len(text)

    def join_words(self, whole: Callable[[], str]) -> None:
        """From here on, join the words that a hyphen divides between lines; ``whole`` returns all of the text."""
        self._whole, self._words = whole, None

    def line_break(self) -> None:
        """Start a new line inside the current block."""
        self._inline.append(_BREAK)

    def removed(self) -> None:
        """Mark the place of an omitted inline element, so that no space remains before punctuation after it."""
        self._inline.append(_REMOVED)

    def end_block(self, gap: int = PARAGRAPH_GAP) -> None:
        """End the current block; at least ``gap`` newlines separate it from the next.

        The gap of a paragraph also ends a table.
        """
        self._flush()
        if gap > LINE_GAP:
            self._end_table()
        if not self._gap_is_fixed:
            self._gap = max(self._gap, gap)

    def heading(self, level: int, text: str, anchor: str = "") -> None:
        """Open a section under a heading of ``level`` (1 is the highest), which has the address ``anchor``."""
        self._flush()
        text = collapse_spaces(text)
        if not text:
            return
        # No text stands under a heading yet.
        is_in_lead = not self._sections and (not self._headings or not self._parts)
        if is_in_lead and self._title and fold_title(text) == self._title:
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
        self._entry_indents.append(len(self._indents))
        self._headings.append((level, collapse_spaces(name), anchor))

    def close_entry(self) -> None:
        """Close the innermost entry and return to the section around it."""
        self._flush()
        self._close_section()
        self._leave_headings(self._entries.pop())
        self._entry_indents.pop()

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
        """Whether the current block is inside a list item or an indented definition."""
        return bool(self._indent)

    def open_kind(self, kind: BlockKind, label: str = "") -> None:
        """Make the following running text blocks of ``kind``: quotations, captions, terms, footnotes or headings.

        Only the first paragraph is the footnote, and the others stand inside it.
        """
        self._flush()
        self._kinds.append((kind, label, len(self._indents)))

    def close_kind(self) -> None:
        """End the innermost ``open_kind``."""
        self._flush()
        del self._indents[self._kinds.pop()[2] :]

    def verbatim(self, text: str, language: str = "") -> None:
        """Add code in ``language``, or other text whose white space is kept.

        It is never indented, so that it can be copied.
        """
        self.end_block()
        text = _CONTROL.sub("", text).strip("\n")
        if not text.strip():
            return
        if self._marker:
            self._append_item()
            self._gap = LINE_GAP
        start = self._append(text)
        self._add_block("code", start, collapse_spaces(language))
        self._long += len(text)
        self.end_block()

    def row(self, row: RowText) -> None:
        """Add a row of a table, see ``name_columns``; call ``end_block`` before the first and after the last one.

        Rows with the same columns are one table. A row that is alone is their caption if it stands before them, one
        of them if it stands in between, and otherwise a paragraph.
        """
        if not row.lines:
            return
        self.end_block(LINE_GAP)
        if not row.is_alone and row.columns != self._columns:
            above = len(self._rows)
            while above and self._rows[above - 1].is_alone:
                above -= 1
            captions = self._rows[above:]
            del self._rows[above:]
            self._end_table()
            self._rows = captions
        indent = self._indent
        text = f"\n{indent}".join(row.lines)
        if self._marker:
            position = self._append_item(text, has_text=False)
        else:
            position = self._append(indent + text, is_row=True) + len(indent)
        if not row.is_alone:
            self._columns = row.columns
        start, cells = position, list[Cell]()
        for line, in_line in zip(row.lines, row.cells, strict=True):
            cells += [Cell(column, position + left, position + right) for column, left, right in in_line]
            position += len(line) + 1 + len(indent)
        self._rows.append(_Row(start, self._length, tuple(cells), row.is_alone))
        self._long += len(text)
        self._gap = LINE_GAP

    def add_property(self, name: str, value: str) -> None:
        """Add the line ``name: value`` of a property, whose value may have several lines; without name, a paragraph."""
        name, value = collapse_spaces(name), _CONTROL.sub("", value).strip()
        self.end_block(LINE_GAP)
        if not value:
            return
        start = self._append(f"{name}: {value}" if name else value)
        if name:
            cell = Cell(0, self._length - len(value), self._length)
            self._add_block("property", start, name, rows=((cell,),))
        self._long += self._length - start
        self.end_block(LINE_GAP)

    def open_item(self, marker: str, state: TaskState | None = None) -> None:
        """Open a list item; its first line starts with ``marker``, and the others align with its text.

        With a ``state``, it is a task, and its check box is written after the marker.
        """
        self.end_block(LINE_GAP)
        self._marker_column = len(self._indent)
        self._marker, self._state = marker, state
        self._gap_is_fixed = True
        self._add_indent(len(marker))

    def close_item(self) -> None:
        """Close a list item; the next item follows on the next line."""
        self._flush()
        self._marker = ""
        self._indents.pop()
        self._gap = LINE_GAP
        self._gap_is_fixed = False

    def open_indent(self, width: int = 4) -> None:
        """Open a run of blocks that stand inside the one before them, such as a definition.

        They are indented by ``width`` spaces. Without any, a blank line precedes them.
        """
        self.end_block(LINE_GAP if width else PARAGRAPH_GAP)
        self._gap_is_fixed = width > 0
        self._add_indent(width)

    def close_indent(self) -> None:
        """Close the innermost run of ``open_indent``."""
        self._flush()
        if len(self._indents.pop()) > len(self._indent):
            self._gap_is_fixed = False
        else:
            self.end_block()

    def sections(self) -> tuple[SourceSection, ...]:
        """Return everything written so far, in order."""
        self._flush()
        self._close_section()
        return tuple(self._sections)

    def _leave_headings(self, level: int) -> None:
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()

    def _flush(self) -> None:
        if not self._inline:
            return
        text = "".join(self._inline)
        self._inline.clear()
        if self._whole is not None and _HYPHEN_AT_END.search(text):
            if self._words is None:
                self._words = frozenset(_WORD.findall(self._whole().lower()))
            text = _join_words(text, self._words)
        text = text.replace("\u00ad", "")
        if _REMOVED in text:
            text = close_gaps(text, _REMOVED)
        lines = [" ".join(line.split()) for line in text.split(_BREAK)]
        lines = [line for line in lines if line]
        if not lines:
            return
        if not self._sections and not self._headings and not self._parts and not self._marker:
            # Some pages show their title in a plain box instead of a heading.
            lines = lines[1:] if fold_title(lines[0]) == self._title else lines
            if not lines:
                return
        indent = self._indent
        text = f"\n{indent}".join(lines)
        if self._marker:
            self._append_item(text)
            return
        start = self._append(indent + text) + len(indent)
        kind, label, _ = self._kinds[-1] if self._kinds else ("paragraph", "", 0)
        self._add_block(kind, start, label)
        if kind == "footnote":
            self._kinds[-1] = ("paragraph", "", len(self._indents))
            self._add_indent(0)

    def _append_item(self, text: str = "", *, has_text: bool = True) -> int:
        """Append ``text`` after the marker of the current item; return where it begins.

        The block of the item consists of the marker, and of the text if it ``has_text``.
        """
        indent = self._indent
        column = self._marker_column
        prefix = indent[:column] + self._marker + indent[column + len(self._marker) :]
        if self._state:
            prefix += f"{CHECK_BOXES[self._state]} "
        kind: BlockKind = "task" if self._state else "item"
        label = self._state or self._marker.strip()
        if self._kinds and self._kinds[-1][0] == "footnote":
            kind, label, _ = self._kinds[-1]
            self._kinds[-1] = ("paragraph", "", len(self._indents))
        self._marker = ""
        start = self._append(prefix + text if text else prefix.rstrip())
        end = self._length if has_text else start + len(prefix.rstrip())
        self._blocks.append(Block(kind, start + column, end, self._depth - 1, label))
        return start + len(prefix)

    def _append(self, text: str, *, is_row: bool = False) -> int:
        if not is_row:
            self._end_table()
        if self._parts:
            gap = "\n" * max(self._gap, LINE_GAP)
            self._parts.append(gap)
            self._length += len(gap)
        self._parts.append(text)
        start = self._length
        self._length += len(text)
        self._gap = 0
        self._gap_is_fixed = False
        return start

    @property
    def _indent(self) -> str:
        return self._indents[-1] if self._indents else ""

    def _add_indent(self, width: int) -> None:
        self._indents.append(f"{self._indent}{' ' * width}"[:_MAX_INDENT])

    @property
    def _depth(self) -> int:
        return len(self._indents) - (self._entry_indents[-1] if self._entry_indents else 0)

    def _add_block(self, kind: BlockKind, start: int, label: str = "", rows: tuple[tuple[Cell, ...], ...] = ()) -> None:
        self._blocks.append(Block(kind, start, self._length, self._depth, label, rows=rows))

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        inside = [number for number, row in enumerate(rows) if not row.is_alone]
        first, last = (inside[0], inside[-1]) if inside else (len(rows), len(rows))
        for row in rows[:first]:
            self._blocks.append(Block("caption" if inside else "paragraph", row.start, row.end, self._depth))
        if inside:
            cells = tuple(row.cells for row in rows[first : last + 1])
            width = max(map(max, cells)).column + 1
            columns = (*self._columns, *[""] * (width - len(self._columns)))
            self._blocks.append(
                Block("table", rows[first].start, rows[last].end, self._depth, columns=columns, rows=cells)
            )
        for row in rows[last + 1 :]:
            self._blocks.append(Block("paragraph", row.start, row.end, self._depth))
        self._columns = ()

    def _close_section(self) -> None:
        self._end_table()
        if self._parts:
            text = "".join(self._parts)
            letters = {True: 0, False: self._long}
            for short, is_link in self._short:
                letters[is_link] += sum(map(str.isalnum, short))
            is_navigation = len(text) <= _MAX_NAVIGATION_CHARS and letters[True] >= 0.8 * max(sum(letters.values()), 1)
            blocks = without_paragraphs(self._blocks)
            self._sections.append(SourceSection(self.heading_path, text, is_navigation, self.anchor, blocks))
        self._parts, self._length = [], 0
        self._blocks = []
        self._short = []
        self._long = 0
        self._gap = 0
