"""Render wikitext tables as lines of text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mwparserfromhell.nodes import Tag
from mwparserfromhell.wikicode import Wikicode

from wikigr.sources.tables import Cell, Row, name_columns
from wikigr.sources.wikitext.preprocess import BLOCK, BREAK, HEADING, LINK, LIST, ROW, strip_marks

Render = Callable[[Wikicode], str]

# Classes of boxes for navigation or layout. Infoboxes written as tables have no fields to read.
_SKIPPED_CLASSES = re.compile(
    r"\b(?:navbox|vertical-navbox|infobox|sidebar|metadata|ambox|noprint|toc|mbox|succession-box)", re.IGNORECASE
)
_MAX_SPAN = 100
# The closing marks are sometimes before a parenthesis.
_BOLD = re.compile(r"\s*'''[^']+'''[^\w\s]?\s*")
_ITEM = re.compile(f"\\s*+(?:(?:{LIST}.)++|{ROW})")


def render_table(table: Tag, render: Render) -> str:
    """Return the lines of the rows (see ``sources.tables``); a layout table is rendered as its blocks.

    Navigation boxes and infoboxes give ``""``.
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
            captions[len(rows)] = _flat(render(row[0].contents).strip().removeprefix("+"))
            row = row[1:]
        cells = [(cell, render(cell.contents) if cell.contents else "") for cell in row]
        filled = [text for _, text in cells if text.strip()]
        if (len(filled) == 1 and "\n" in filled[0].strip()) or any(_is_block(text, is_data) for text in filled):
            blocks[len(rows)] = filled
            cells = []
        rows.append(Row([_cell(cell, text) for cell, text in cells]))
    lines: list[str] = []
    for number, row_text in enumerate(name_columns(rows)):
        if captions.get(number):
            lines.append(ROW + captions[number])
        lines.extend(f"\n{text.strip()}\n" for text in blocks.get(number, ()))
        if number not in blocks:
            lines.extend(ROW + line for line in row_text.lines)
    return "\n" + "\n".join(lines) + "\n"


def _cell(cell: Tag, text: str) -> Cell:
    is_bold = _BOLD.fullmatch(str(cell.contents or "")) is not None
    return Cell(_flat(text), cell.tag == "th", _span(cell, "colspan"), _span(cell, "rowspan"), is_bold)


def _attribute(tag: Tag, name: str) -> str:
    return strip_marks(str(tag.get(name).value)) if tag.has(name) else ""


def _span(cell: Tag, name: str) -> int:
    digits = re.match(r"\D*(\d{1,4})", _attribute(cell, name))
    return max(1, min(int(digits[1]), _MAX_SPAN)) if digits else 1


def _rows(table: Tag) -> Iterator[list[Tag]]:
    """Yield the cells of each row; those before the first row mark are a row too."""
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


def _is_block(text: str, is_data: bool) -> bool:
    return BLOCK in text or HEADING in text or (not is_data and text.count(LIST) > 1)


def _flat(text: str) -> str:
    """Return a cell on one line, with list items and nested rows separated by semicolons."""
    pieces: list[str] = []
    is_item = False
    for line in text.replace(BREAK, " ").split("\n"):
        mark = _ITEM.match(line)
        is_item = is_item or mark is not None
        content = line[mark.end() :] if mark else line
        if content.strip():
            pieces.append(("; " if is_item else " ") + content)
            is_item = False
    text = LINK.sub(r"\2", "".join(pieces))
    return " ".join(text.split()).strip("; ")
