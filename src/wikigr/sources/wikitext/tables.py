"""Render wikitext tables as lines of text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mwparserfromhell.nodes import Tag
from mwparserfromhell.wikicode import Wikicode

from wikigr.sources.wikitext.marks import BLOCK, BREAK, HEADING, LINK, LIST, ROW, strip_marks

Render = Callable[[Wikicode], str]

# Classes of boxes for navigation or layout. Infoboxes written as tables have no fields to read.
_SKIPPED_CLASSES = re.compile(
    r"\b(?:navbox|vertical-navbox|infobox|sidebar|metadata|ambox|noprint|toc|mbox|succession-box)", re.IGNORECASE
)
_MAX_SPAN = 100
_ITEM = re.compile(f"\\s*+(?:(?:{LIST}.)++|{ROW})")


def render_table(table: Tag, render: Render) -> str:
    """Return one line per row, with cells separated by `` | ``; a layout table is rendered as its blocks.

    A cell that spans rows or columns is repeated in each, so that the values after it stay in their columns. It is
    not repeated if no cell follows, as with a title above the table or a remark at the end of a row. Navigation boxes
    and infoboxes give ``""``.
    """
    classes = _attribute(table, "class")
    if _SKIPPED_CLASSES.search(classes):
        return ""
    is_data = "wikitable" in classes
    lines: list[str] = []
    carried: dict[int, tuple[int, str]] = {}
    for row in _rows(table):
        if row and str(row[0]).startswith("|+"):
            # The parser reads a caption as a cell.
            lines.append(ROW + _flat(render(row[0].contents).strip().removeprefix("+")))
            row = row[1:]
        cells = [(cell, render(cell.contents) if cell.contents else "") for cell in row]
        filled = [text for _, text in cells if text.strip()]
        texts = list(_spread(cells, carried))
        if (len(filled) == 1 and "\n" in filled[0].strip()) or any(_is_block(text, is_data) for text in filled):
            lines.extend(f"\n{text.strip()}\n" for text in filled)
        elif any(texts):
            lines.append(ROW + " | ".join(texts))
    return "\n" + "\n".join(line for line in lines if line) + "\n"


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


def _spread(cells: list[tuple[Tag, str]], carried: dict[int, tuple[int, str]]) -> Iterator[str]:
    """Yield the texts of a row, including those of cells above that span it."""
    column = 0
    last = len(cells) - 1
    is_header = last > 0 and all(cell.tag == "th" for cell, _ in cells)
    for index, (cell, text) in enumerate(cells):
        while column in carried:
            yield _take_carried(carried, column)
            column += 1
        flat = _flat(text)
        rows = _span(cell, "rowspan")
        # Limits the width of the table too, because a few wide cells could fill the memory.
        columns = min(_span(cell, "colspan"), max(1, _MAX_SPAN - column))
        if index == last and not is_header and not any(other > column for other in carried):
            columns = 1
        for spanned in range(columns):
            if rows > 1:
                # Repeat the text in only one column of the rows below, because repetition both ways multiplies.
                carried[column + spanned] = (rows - 1, "" if spanned else flat)
            yield flat
        column += columns
    while column in carried:
        yield _take_carried(carried, column)
        column += 1


def _take_carried(carried: dict[int, tuple[int, str]], column: int) -> str:
    rows, text = carried.pop(column)
    if rows > 1:
        carried[column] = (rows - 1, text)
    return text


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
