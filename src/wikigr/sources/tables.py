"""Write the rows of tables of any format as lines that name their columns: ``Name: Alps | Height: 4,808 m``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from wikigr.sources.block import Cell as CellRange
from wikigr.sources.block import RowText
from wikigr.sources.plain_text import collapse_spaces

CELL_SEPARATOR = " | "
NAME_SEPARATOR = ": "
# Every row repeats the names, so longer ones are truncated.
MAX_NAME_CHARS = 60
# In characters. A longer row is written as several lines that all begin with its first cell, unless that is long too.
MAX_LINE_CHARS = 1_000
MAX_KEY_CHARS = 120
# A header has at most so many rows; a longer run of header cells is data.
MAX_HEADER_ROWS = 4
# Limits of spans in the HTML standard, "Algorithm for processing rows".
MAX_COLUMN_SPAN = 1_000
MAX_ROW_SPAN = 65_534


@dataclass(frozen=True, slots=True)
class Cell:
    """``text`` is on one line. ``columns`` and ``rows`` are the numbers of columns and rows that the cell spans.

    ``is_bold`` says that all of the text is; only the first rows of a table need it.
    """

    text: str
    is_header: bool = False
    columns: int = 1
    rows: int = 1
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """``is_head`` marks the rows of a table's head. A cell spans at most the rows of its ``group``."""

    cells: Sequence[Cell]
    is_head: bool = False
    group: int = 0


class _NamedCell(NamedTuple):
    """A cell that stands in ``columns``, and its name, which may be a cell in the column ``name_column``."""

    columns: tuple[int, ...]
    name: str
    text: str
    name_column: int | None = None

    @property
    def written(self) -> str:
        return f"{self.name}{NAME_SEPARATOR}{self.text}" if self.name else self.text


@dataclass(frozen=True, slots=True)
class Slot:
    """A cell in one column of a row; a cell has the same ``number`` in all columns and rows that it spans."""

    number: int
    text: str
    is_header: bool


@dataclass(frozen=True, slots=True)
class GridRow:
    """The cells of a row by column; ``is_alone`` says that the row has one cell."""

    slots: dict[int, Slot]
    is_head: bool
    is_alone: bool

    @property
    def is_header(self) -> bool:
        """Whether the row may name columns: it has several cells, header cells all but an empty first one."""
        slots = [self.slots[column] for column in sorted(self.slots)]
        if self.is_alone or not any(slot.text for slot in slots) or slots[0].number == slots[-1].number:
            return False
        return self.is_head or all(slot.is_header for slot in slots[0 if slots[0].text else 1 :])


def name_columns(rows: Sequence[Row]) -> Iterator[RowText]:
    """Yield the text of each row, in time linear in the size of the table.

    A row of header cells names the columns of the rows below it, until the next one; the names of several such rows
    are joined; see also ``mark_header``. Without a header, the cells stand side by
    side (``a | b``), and a header cell in front names what follows. Cells without text are left out where the columns
    have names.
    """
    grid = place_cells(rows)
    names: dict[int, str] = {}
    columns: tuple[str, ...] = ()
    number = 0
    while number < len(grid):
        count = _header_rows(grid, number, names)
        if count:
            names = _names(grid[number : number + count])
            columns = tuple(names.get(column, "") for column in range(max(names, default=-1) + 1))
            yield from (RowText(()) for _ in range(count))
            number += count
            continue
        row = grid[number]
        number += 1
        yield _row_text(_cells_of(row, names), columns, is_alone=row.is_alone)


def row_text(names: Sequence[str], values: Sequence[str]) -> RowText:
    """Return one row with named columns, on several lines if it is long; empty values are left out.

    The last ``values`` may be missing.
    """
    columns = _shorten_names(tuple(names))
    named = zip(columns, map(collapse_spaces, values), strict=False)
    cells = [_NamedCell((column,), name, value) for column, (name, value) in enumerate(named) if value]
    return _row_text(cells, columns, is_alone=False)


@lru_cache(maxsize=8)
def _shorten_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(shorten_name, names))


def _row_text(cells: list[_NamedCell], columns: tuple[str, ...], *, is_alone: bool) -> RowText:
    texts, ranges = zip(*_lines(cells), strict=True) if cells else ((), ())
    return RowText(texts, is_alone, columns, ranges)


@lru_cache(maxsize=1_000)
def shorten_name(name: str) -> str:
    """Return a column's name without the marks of the format, and at most ``MAX_NAME_CHARS`` characters of it."""
    name = collapse_spaces(name.replace("|", "/")).rstrip(" :")
    if len(name) <= MAX_NAME_CHARS:
        return name
    cut = name[:MAX_NAME_CHARS]
    return (cut[: cut.rfind(" ")] if " " in cut else cut[:-1]).rstrip(" ,;:") + "…"


def _header_rows(grid: Sequence[GridRow], start: int, names: dict[int, str]) -> int:
    """Return the number of rows from ``start`` on that name the columns of the rows after them.

    Below an earlier header, with its ``names``, a row with a number is a total or the like.
    """
    end = start
    while end < len(grid) and grid[end].is_header and grid[end].is_head == grid[start].is_head:
        end += 1
        if end - start > MAX_HEADER_ROWS:
            return 0
    if not any(not row.is_alone for row in grid[end : end + MAX_HEADER_ROWS]):
        return 0
    texts = [slot.text for row in grid[start:end] for slot in row.slots.values()]
    is_repeated = bool(names) and _names(grid[start:end]) == names
    has_number = any(text and not any(map(str.isalpha, text)) for text in texts)
    return end - start if is_repeated or not (names and has_number) else 0


def _names(header: Sequence[GridRow]) -> dict[int, str]:
    parts: dict[int, dict[str, None]] = {}
    for row in header:
        for column, slot in row.slots.items():
            if slot.text:
                parts.setdefault(column, {}).setdefault(slot.text)
    return {column: shorten_name(" ".join(texts)) for column, texts in parts.items()}


def _cells_of(row: GridRow, names: dict[int, str]) -> list[_NamedCell]:
    slots = sorted(row.slots.items())
    if row.is_alone:
        return [_NamedCell((column,), "", slot.text) for column, slot in slots[:1] if slot.text]
    if not names:
        # A remark at the end of a row is not repeated.
        while len(slots) > 1 and slots[-1][1].number == slots[-2][1].number and not slots[-1][1].is_header:
            slots.pop()
        if not any(slot.text for _, slot in slots):
            return []
        cells = [_NamedCell((column,), "", slot.text) for column, slot in slots]
        is_field = len(slots) > 1 and slots[0][1].is_header and not slots[1][1].is_header
        if is_field and cells[0].text and cells[1].text:
            field = cells[0].text.rstrip(" :")
            cells[:2] = [cells[1]._replace(name=field, name_column=cells[0].columns[0] if field else None)]
        return cells
    cells = []
    for _, same in groupby(slots, key=lambda slot: slot[1].number):
        spanned = list(same)
        text = spanned[0][1].text
        if text:
            own = dict.fromkeys(name for column, _ in spanned if (name := names.get(column)))
            cells.append(_NamedCell(tuple(column for column, _ in spanned), shorten_name(", ".join(own)), text))
    return cells


def _lines(cells: list[_NamedCell]) -> Iterator[tuple[str, tuple[CellRange, ...]]]:
    """Yield the line of the cells of a row, or several lines if they are long, with the cells as ranges of it."""
    if len(cells) < 3 or sum([len(name) + len(text) + 2 for _, name, text, _ in cells]) <= MAX_LINE_CHARS:
        yield _line(cells)
        return
    key = cells[:1] if len(cells[0].written) <= MAX_KEY_CHARS else []
    line, length = list(key), 0
    for cell in cells[len(key) :]:
        added = len(cell.written)
        if length and length + added > MAX_LINE_CHARS:
            yield _line(line)
            line, length = list(key), 0
        line.append(cell)
        length += added
    yield _line(line)


def _line(cells: Sequence[_NamedCell]) -> tuple[str, tuple[CellRange, ...]]:
    line = ""
    ranges: list[CellRange] = []
    for number, (columns, name, text, name_column) in enumerate(cells):
        # An empty cell between separators leaves a single space.
        if number:
            line += " |" if line else "|"
        if name or text:
            line += " " if line else ""
            begin = len(line)
            line += f"{name}{NAME_SEPARATOR}{text}" if name else text
        if text:
            if name_column is not None:
                ranges.append(CellRange(name_column, begin, begin + len(name)))
            end = len(line)
            begin = end - len(text)
            for column in columns:
                ranges.append(CellRange(column, begin, end))
    return line, tuple(ranges)


def place_cells(rows: Sequence[Row]) -> list[GridRow]:
    """Place the cells in columns; a cell is repeated in all the columns and rows that it spans.

    The only cell of a row is not repeated, and neither is any cell of a table with one row. Columns that no cell fills
    are omitted, so that spanning cells beyond a gap move up.
    """
    # All repetitions together are at most twenty times as long as the text, and a thousand characters.
    left = 1_000 + 20 * sum(len(cell.text) + len(CELL_SEPARATOR) for row in rows for cell in row.cells)
    number = 0
    # The cells above that span the next row, with the number of rows that are left.
    above: dict[int, tuple[int, Slot]] = {}
    slots: dict[int, Slot] = {}
    below: dict[int, tuple[int, Slot]] = {}
    grid: list[GridRow] = []
    is_in_head = False

    def may_repeat(slot: Slot) -> bool:
        nonlocal left
        left -= len(slot.text) + len(CELL_SEPARATOR)
        return left >= 0

    def repeat_above(column: int) -> None:
        rows_left, slot = above[column]
        if may_repeat(slot):
            slots[column] = slot
            if rows_left > 1:
                below[column] = (rows_left - 1, slot)

    for index, row in enumerate(rows):
        if index and (row.group != rows[index - 1].group):
            above = {}
        cells = list(row.cells) if len(rows) > 1 else [replace(cell, columns=1, rows=1) for cell in row.cells]
        is_header = bool(cells) and all(cell.is_header for cell in cells)
        if is_in_head and not (is_header or row.is_head):
            # The header does not reach into the rows that it names.
            above = {column: span for column, span in above.items() if not span[1].is_header}
        is_in_head = is_header or row.is_head
        slots, below = {}, {}
        is_alone = len(cells) == 1 and not above and cells[0].rows == 1
        column = 0
        for cell in cells:
            while column in above:
                repeat_above(column)
                column += 1
            number += 1
            slot = Slot(number, cell.text, cell.is_header or (row.is_head and not is_alone))
            for repeated in range(1 if is_alone else min(max(cell.columns, 1), MAX_COLUMN_SPAN)):
                if repeated and not may_repeat(slot):
                    break
                slots[column] = slot
                if cell.rows > 1:
                    below[column] = (min(cell.rows, MAX_ROW_SPAN) - 1, slot)
                column += 1
        for beyond in sorted(key for key in above if key >= column):
            repeat_above(beyond)
        above = below
        grid.append(GridRow(slots, row.is_head, is_alone))
    return grid
