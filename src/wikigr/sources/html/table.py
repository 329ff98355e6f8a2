"""Expand the grid of an HTML table: a cell that spans rows or columns is repeated in each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

# Limits of spans in the HTML standard, "Algorithm for processing rows".
_MAX_COLUMNS = 1000
_MAX_ROWS = 65534
# With both spans at their limits, a page of a few kilobytes could fill the memory.
_MAX_REPEATED_CHARACTERS = 1_000_000
_SEPARATOR = 3
# Maps a column to the number of remaining rows and the text.
_Spanning = dict[int, tuple[int, str]]
_NUMBER = re.compile(r"\s*\+?(\d{1,9})")


@dataclass(frozen=True, slots=True)
class TableRow:
    """``texts`` holds one text per column; ``only_cell`` is the cell of a row that has just one."""

    texts: list[str]
    only_cell: LexborNode | None


class SpanBudget:
    """Limits the characters that the spanning cells of one page may add; beyond it, they are not repeated."""

    def __init__(self, characters: int = _MAX_REPEATED_CHARACTERS) -> None:
        self._left = characters

    def allows(self, text: str) -> bool:
        """Charge one repetition of ``text``; returns False when the budget is spent."""
        self._left -= len(text) + _SEPARATOR
        return self._left >= 0


def table_rows(
    rows: Sequence[tuple[LexborNode, list[LexborNode]]], read: Callable[[LexborNode], str], budget: SpanBudget
) -> Iterator[TableRow]:
    """Read ``rows``, each given with its cells; ``read`` returns the text of a cell.

    A cell is repeated in all the columns and rows that it spans, at most to the end of its row group. The cell of a
    one-cell row, which is a heading or a paragraph across the table, is not repeated. Neither are the cells of a
    one-row table.
    """
    above: _Spanning = {}
    group: int | None = None
    for row, cells in rows:
        parent = row.parent.mem_id if row.parent is not None else None
        if parent != group:
            # A row span ends with its <thead> or <tbody>.
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
    """Return the number of columns that ``cell`` spans, 1 to 1,000."""
    return min(_number(cell, "colspan") or 1, _MAX_COLUMNS)


def rowspan(cell: LexborNode) -> int:
    """Return the number of rows that ``cell`` spans, 1 to 65,534; ``rowspan=0`` spans all remaining rows."""
    number = _number(cell, "rowspan")
    return _MAX_ROWS if number == 0 else min(number or 1, _MAX_ROWS)


def _number(cell: LexborNode, name: str) -> int | None:
    match = _NUMBER.match(cell.attributes.get(name) or "")
    return int(match[1]) if match else None


def _fill_row(cells: list[tuple[LexborNode, str]], above: _Spanning, budget: SpanBudget) -> tuple[list[str], _Spanning]:
    """Return the texts of one row, including those of cells above that span it, and the cells that span the next."""
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
    # Columns that no cell fills are omitted, so spanning cells beyond a gap move up.
    for beyond in sorted(key for key in above if key >= column):
        repeat(beyond)
    return texts, below
