"""Turn rendered wikitext, lines of text with marks, into the sections of an article, and tables into such lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mwparserfromhell.nodes import Tag
from mwparserfromhell.wikicode import Wikicode

from wikigr.sources.article import SourceSection
from wikigr.sources.block import BlockKind, RowText
from wikigr.sources.header import mark_header
from wikigr.sources.plain_text import LINE_GAP, PlainTextWriter
from wikigr.sources.tables import Cell, Row, name_columns
from wikigr.sources.wikitext import marks
from wikigr.sources.wikitext.marks import clean_parentheses, strip_marks
from wikigr.sources.wikitext.preprocess import PreparedWikitext

_LIST_PREFIX = re.compile(f"[ {marks.REMOVED}]*((?:{marks.LIST}[*#:;] ?)+)")
_LIST_MARK = re.compile(f"{marks.LIST}(.)")
_BLOCK_LINE = re.compile(f"{marks.BLOCK}(\\d+){marks.END}")
# Lines of a table or template with unbalanced brackets.
_TABLE_MARKUP = re.compile(r"^\s*(?:\|-|\{\||\|\}|\|\+)")
_ORPHANED_ARGUMENT = re.compile(r"^\s*\|\s*[\w -]{1,40}=")
_ORPHANED_CELL = re.compile(r"^\s*[|!]+\s*")

# Classes of boxes for navigation or layout. Infoboxes written as tables have no fields to read.
_SKIPPED_CLASSES = re.compile(
    r"\b(?:navbox|vertical-navbox|infobox|sidebar|metadata|ambox|noprint|toc|mbox|succession-box)", re.IGNORECASE
)
# The closing marks are sometimes before a parenthesis.
_BOLD = re.compile(r"\s*'''[^']+'''[^\w\s]?\s*")
_ITEM_OR_ROW = re.compile(f"\\s*+(?:(?:{marks.LIST}.)++|{marks.ROW_NUMBER.pattern})")
_KINDS: dict[str, BlockKind | None] = {
    marks.QUOTATION: "quotation",
    marks.CAPTION: "caption",
    marks.FOOTNOTE: "footnote",
    marks.KIND_END: None,
}


class PageHeading(NamedTuple):
    """A heading of a page; ``is_dropped`` says that the text under it is."""

    level: int
    text: str
    anchor: str
    is_dropped: bool


def lay_out(
    text: str, headings: Sequence[PageHeading], rows: Sequence[RowText], prepared: PreparedWikitext, title: str
) -> tuple[SourceSection, ...]:
    """Return the sections of rendered wikitext.

    The numbers after marks index ``headings``, ``rows`` of tables, and the code and formulas of ``prepared``.
    """
    layout = _Layout(rows, prepared, title)
    for line in text.split("\n"):
        if line.startswith(marks.HEADING):
            layout.begin_section(headings[int(line[1:])])
        else:
            layout.add(line)
    return layout.sections()


class _Layout:
    def __init__(self, rows: Sequence[RowText], prepared: PreparedWikitext, title: str) -> None:
        self._writer = PlainTextWriter(title)
        self._rows = rows
        self._verbatim = prepared.verbatim
        self._languages = prepared.languages
        # Whether a quotation or a caption is open.
        self._in_kind = False
        self._items: list[str] = []
        self._counts: list[int] = []
        self._preformatted: list[str] = []
        self._is_dropped = False
        self._in_rows = False
        # Whether the line before was a term or its definition.
        self._after_term = False

    def sections(self) -> tuple[SourceSection, ...]:
        self._end_kind()
        return self._writer.sections()

    def begin_section(self, heading: PageHeading) -> None:
        self._end_kind()
        self._is_dropped = heading.is_dropped
        if not self._is_dropped:
            self._writer.heading(heading.level, heading.text, heading.anchor)

    def add(self, line: str) -> None:
        if self._is_dropped:
            return
        if line.startswith(marks.PREFORMATTED) and strip_marks(line).strip():
            if not self._preformatted:
                self._end_paragraph()
            self._preformatted.append(self._fill(line[1:].replace(marks.BREAK, "\n")).rstrip())
            return
        if self._preformatted:
            self._end_paragraph()
        if not line.strip() or not line.replace(marks.REMOVED, "").strip():
            # An empty line ends a paragraph, but a line from which everything was omitted does not.
            if not line.strip():
                self._end_paragraph()
        elif (mark := line.strip()) in _KINDS:
            self._end_kind()
            if kind := _KINDS[mark]:
                self._writer.open_kind(kind)
                self._in_kind = True
        elif row := marks.ROW_NUMBER.match(line):
            if not self._in_rows:
                self._end_paragraph()
                self._in_rows = True
            self._writer.row(self._rows[int(row[0][1:-1])])
        elif prefix := _LIST_PREFIX.match(line):
            self._add_item("".join(_LIST_MARK.findall(prefix[1])), line[prefix.end() :])
        elif (block := _BLOCK_LINE.search(line)) and block[0] == line.strip():
            self._writer.end_block()
            self._writer.verbatim(self._verbatim[int(block[1])], self._languages.get(int(block[1]), ""))
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

    def _end_kind(self) -> None:
        self._end_paragraph()
        if self._in_kind:
            self._writer.close_kind()
            self._in_kind = False

    def _add_item(self, prefix: str, text: str) -> None:
        if self._in_rows:
            self._end_paragraph()
        levels = [character for character in prefix if character in "*#"][:12]
        if not strip_marks(text).strip():
            return
        if not levels:
            self._close_items(0)
            term, _, definition = text.partition(f"{marks.LIST}:") if prefix[-1] == ";" else ("", "", text)
            if prefix[-1] == ";":
                self._writer.end_block(LINE_GAP)
                self._writer.open_kind("term")
                self._write(term)
                self._writer.close_kind()
                self._after_term = True
            if definition.strip():
                if self._after_term:
                    self._writer.open_indent()
                else:
                    self._writer.end_block(LINE_GAP)
                self._write(definition)
                if self._after_term:
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
        return strip_marks(marks.PLACEHOLDER.sub(lambda match: self._verbatim[int(match[1])], text))

    def _write(self, text: str) -> None:
        """Write running text and translate its marks into calls of the writer."""
        for line_number, line in enumerate(clean_parentheses(text).split(marks.BREAK)):
            if line_number:
                self._writer.line_break()
            for piece_number, piece in enumerate(line.split(marks.REMOVED)):
                if piece_number:
                    self._writer.removed()
                self._writer.write(self._fill(piece))


def render_table(
    table: Tag, render: Callable[[Wikicode], str], plain: Callable[[str], str], page_rows: list[RowText]
) -> str:
    """Return lines for the rows, which are added to those of the page; a layout table is rendered as its blocks.

    ``render`` gives text with marks, and ``plain`` what is left of it in a cell. Navigation boxes and infoboxes give
    ``""``.
    """
    classes = _attribute(table, "class")
    if _SKIPPED_CLASSES.search(classes):
        return ""
    is_data = "wikitable" in classes
    rows: list[Row] = []
    # What is written before a row, and instead of it.
    captions: dict[int, str] = {}
    blocks: dict[int, list[str]] = {}
    for row in _rows(table):
        if row and str(row[0]).startswith("|+"):
            # The parser reads a caption as a cell.
            captions[len(rows)] = plain(_flat(render(row[0].contents).strip().removeprefix("+")))
            row = row[1:]
        cells = [(cell, render(cell.contents) if cell.contents else "") for cell in row]
        filled = [text for _, text in cells if text.strip()]
        if (len(filled) == 1 and "\n" in filled[0].strip()) or any(
            marks.BLOCK in text or marks.HEADING in text or (not is_data and text.count(marks.LIST) > 1)
            for text in filled
        ):
            blocks[len(rows)] = filled
            cells = []
        rows.append(Row([_cell(cell, plain(_flat(text))) for cell, text in cells]))
    lines: list[str] = []

    def add(row_text: RowText) -> None:
        if row_text.lines:
            lines.append(f"{marks.ROW}{len(page_rows)}{marks.END}{' '.join(row_text.lines)}")
            page_rows.append(row_text)

    if not any(cell.is_header for row in rows for cell in row.cells):
        rows, _ = mark_header(rows)
    for number, row_text in enumerate(name_columns(rows)):
        if captions.get(number):
            add(RowText((captions[number],), is_alone=True, cells=((),)))
        lines.extend(f"\n{text.strip()}\n" for text in blocks.get(number, ()))
        if number not in blocks:
            add(row_text)
    return "\n" + "\n".join(lines) + "\n"


def _cell(cell: Tag, text: str) -> Cell:
    is_bold = _BOLD.fullmatch(str(cell.contents or "")) is not None
    return Cell(text, cell.tag == "th", _span(cell, "colspan"), _span(cell, "rowspan"), is_bold)


def _attribute(tag: Tag, name: str) -> str:
    return strip_marks(str(tag.get(name).value)) if tag.has(name) else ""


def _span(cell: Tag, name: str) -> int:
    digits = re.match(r"\D*(\d{1,4})", _attribute(cell, name))
    return max(1, min(int(digits[1]), 100)) if digits else 1


def _rows(table: Tag) -> Iterator[list[Tag]]:
    first: list[Tag] = []
    for node in table.contents.nodes:
        if isinstance(node, Tag) and node.tag in ("td", "th"):
            first.append(node)
        elif isinstance(node, Tag) and node.tag == "tr":
            if first:
                yield first
                first = []
            if node.contents:
                yield [cell for cell in node.contents.nodes if isinstance(cell, Tag) and cell.tag in ("td", "th")]
    if first:
        yield first


def _flat(text: str) -> str:
    """Return a cell on one line, with list items and nested rows separated by semicolons."""
    pieces: list[str] = []
    is_item = False
    for line in text.replace(marks.BREAK, " ").split("\n"):
        mark = _ITEM_OR_ROW.match(line)
        is_item = is_item or mark is not None
        content = line[mark.end() :] if mark else line
        if content.strip():
            pieces.append(("; " if is_item else " ") + content)
            is_item = False
    text = marks.LINK.sub(r"\2", "".join(pieces))
    return " ".join(text.split()).strip("; ")
