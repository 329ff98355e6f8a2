"""The grid of an HTML table: a cell that spans rows or columns stands in each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

# "Algorithm for processing rows" in the HTML standard: longer spans are cut to these.
_MAX_COLUMNS = 1000
_MAX_ROWS = 65534
# Both together let a page of a few kilobytes fill the memory: what all repetitions in a page may add.
_MAX_REPEATED_CHARACTERS = 1_000_000
_SEPARATOR = 3
# By column: for how many rows more, and the text.
_Spanning = dict[int, tuple[int, str]]
_NUMBER = re.compile(r"\s*\+?(\d{1,9})")


@dataclass(frozen=True, slots=True)
class TableRow:
    """``texts`` holds one text a column; ``only_cell`` is the cell of a row that is nothing but this cell."""

    texts: list[str]
    only_cell: LexborNode | None


class SpanBudget:
    """How many characters the spanning cells of one page may still add; past that they stand once."""

    def __init__(self, characters: int = _MAX_REPEATED_CHARACTERS) -> None:
        self._left = characters

    def allows(self, text: str) -> bool:
        """Take one repetition of ``text`` off the budget; False when it is spent."""
        self._left -= len(text) + _SEPARATOR
        return self._left >= 0


def table_rows(
    rows: Sequence[tuple[LexborNode, list[LexborNode]]], read: Callable[[LexborNode], str], budget: SpanBudget
) -> Iterator[TableRow]:
    """Read ``rows``, each with its cells, where ``read`` gives the text of a cell.

    A cell repeats in all the columns and rows that it spans, down to the end of its row group at most. A row
    that has one cell in all is a heading or a paragraph across the table: it stands once. So do the cells of
    a table of one row, which has no columns to fill.
    """
    above: _Spanning = {}
    group: int | None = None
    for row, cells in rows:
        parent = row.parent.mem_id if row.parent is not None else None
        if parent != group:
            # "rowspan" ends with the <thead> or <tbody>.
            above = {}
            group = parent
        if len(cells) == 1 and not above and rowspan(cells[0]) == 1:
            yield TableRow([], cells[0])
        elif len(rows) == 1:
            yield TableRow([read(cell) for cell in cells], None)
        else:
            texts, above = _fill_row([(cell, read(cell)) for cell in cells], above, budget)
            yield TableRow(texts, None)


def colspan(cell: LexborNode) -> int:
    """How many columns ``cell`` spans, 1 to 1,000."""
    return min(_number(cell, "colspan") or 1, _MAX_COLUMNS)


def rowspan(cell: LexborNode) -> int:
    """How many rows ``cell`` spans, 1 to 65,534; ``rowspan=0`` is all that are left."""
    number = _number(cell, "rowspan")
    return _MAX_ROWS if number == 0 else min(number or 1, _MAX_ROWS)


def _number(cell: LexborNode, name: str) -> int | None:
    match = _NUMBER.match(cell.attributes.get(name) or "")
    return int(match[1]) if match else None


def _fill_row(cells: list[tuple[LexborNode, str]], above: _Spanning, budget: SpanBudget) -> tuple[list[str], _Spanning]:
    """The texts of one row, with those of the cells above that reach into it, and what reaches into the next."""
    texts: list[str] = []
    below: _Spanning = {}

    def place(column: int, text: str, rows_left: int) -> None:
        texts.append(text)
        if rows_left > 0:
            below[column] = (rows_left, text)

    def repeat(column: int) -> None:
        rows_left, text = above[column]
        if budget.allows(text):
            place(column, text, rows_left - 1)

    column = 0
    for cell, text in cells:
        while column in above:
            repeat(column)
            column += 1
        rows = rowspan(cell)
        for number in range(colspan(cell)):
            if number and not budget.allows(text):
                break
            place(column, text, rows - 1)
            column += 1
    # Cells that reach in beyond a gap close up to the rest: a column that no cell fills is none.
    for beyond in sorted(key for key in above if key >= column):
        repeat(beyond)
    return texts, below
