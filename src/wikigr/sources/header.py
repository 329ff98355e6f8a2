"""Find the header of a table that does not mark it: one row of names, or several levels of them under one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from wikigr.sources.tables import MAX_HEADER_ROWS, Cell, Row, Slot, place_cells

_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
# So many rows below a level show what its columns contain.
_SHOWN_ROWS = 6
# A label is repeated for every column that it spans; names are cut anyway.
_MAX_LABEL_CHARS = 200
_EMPTY = Slot(0, "", is_header=False)


def mark_header(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Return ``rows`` with marked header cells, and how many rows there are up to the last of the header; 0 for none.

    Rows that the file marks are the header, and so are further levels below them. Otherwise it is what looks like one:
    see ``names_columns``, a first row that alone is bold, or levels. A row continues the header if labels of the row
    above span several of its names, because they are merged, repeated, or followed by empty cells, and if the first
    column has its name in one of the levels only. The labels of a header with levels are repeated in every column and
    row that they span.
    """
    start = next((number for number, row in enumerate(rows) if not _is_title(row)), len(rows))
    grid = _grid(rows[start : start + MAX_HEADER_ROWS + _SHOWN_ROWS])
    marked = 0
    while start + marked < len(rows) and _is_marked(rows[start + marked]):
        marked += 1
    depth = max(marked, 1)
    while depth < MAX_HEADER_ROWS and _is_level(grid, rows[start:], depth):
        depth += 1
    if depth == 1 and not marked:
        texts = [[cell.text for cell in row.cells] for row in rows[start:]]
        depth = int(_is_only_bold(rows[start:]) or names_columns(texts))
    if depth in (0, marked):
        return list(rows), start + depth if depth else 0
    if depth == 1:
        header = [replace(rows[start], cells=[replace(cell, is_header=True) for cell in rows[start].cells])]
    else:
        header = [Row([Cell(text, is_header=True) for text in texts]) for texts in _labels(grid[:depth])]
    # A title has no text after its first cell.
    titles = [replace(row, cells=row.cells[:1]) for row in rows[:start]]
    return [*titles, *header, *rows[start + depth :]], start + depth


def column_names(header: Sequence[Row]) -> list[str]:
    """Return the names of the columns under the rows of a header."""
    levels = [[cell.text for cell in row.cells for _ in range(cell.columns)] for row in header]
    return [" ".join(dict.fromkeys(filter(None, texts))) for texts in zip_longest(*levels, fillvalue="")]


def names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row looks like a header: several names, or years above cells that are no years.

    Names with digits must stand above numbers. Of two columns, which may also be names beside values, the second must
    have numbers below its name.
    """
    if len(rows) < 2 or sum(map(bool, rows[0])) < 2:
        return False
    for text, below in zip_longest(rows[0], rows[1][: len(rows[0])], fillvalue=""):
        is_name = _has_letter(text) and (not _has_digit(text) or (_has_digit(below) and not _has_letter(below)))
        if text and not is_name and not (_YEAR.fullmatch(text) and below and not _YEAR.fullmatch(below)):
            return False
    if max(map(len, rows)) > 2:
        return True
    values = [row[1] for row in rows[1:] if len(row) > 1 and row[1]]
    return len(values) >= 3 and all(map(_has_digit, values))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _is_value(text: str) -> bool:
    return _has_digit(text) and not _has_letter(text) and not _YEAR.fullmatch(text)


def _is_title(row: Row) -> bool:
    return len(row.cells) < 2 or not any(cell.text for cell in row.cells[1:])


def _is_marked(row: Row) -> bool:
    cells = row.cells[0 if row.cells and row.cells[0].text else 1 :]
    return row.is_head or (bool(cells) and all(cell.is_header for cell in cells))


def _is_bold(row: Row) -> bool:
    return any(cell.text for cell in row.cells) and all(cell.is_bold for cell in row.cells if cell.text)


def _is_only_bold(rows: Sequence[Row]) -> bool:
    several = [row for row in rows[: MAX_HEADER_ROWS + 1] if sum(bool(cell.text) for cell in row.cells) > 1]
    return len(several) > 1 and several[0] is rows[0] and _is_bold(rows[0]) and not _is_bold(several[1])


def _is_level(grid: Sequence[Sequence[Slot]], rows: Sequence[Row], depth: int) -> bool:
    """Return whether row ``depth`` has names under the labels of the row above, which spans some of its columns."""
    if len(grid) < depth + 2:
        return False
    upper, lower = grid[depth - 1], grid[depth]
    if len(lower) < 2 or any(_is_value(slot.text) for slot in upper):
        return False
    spans = list(_spans(grid, depth - 1))
    groups = [span for span in spans if span[1] - span[0] > 1 and upper[span[0]].text]
    named = [column for column, slot in enumerate(lower) if slot.text and slot.number != upper[column].number]
    if len(named) < 2 or not groups:
        return False
    if lower[0].number == upper[0].number:
        # The name of the first column is merged down to here.
        return True
    if any(_is_value(slot.text) for slot in lower):
        return False
    if (0, 1) in spans and any(row[0].text for row in grid[:depth]):
        return lower[0].text in ("", upper[0].text)
    # The first column has no name above: the row may also be the first one of the data.
    if _is_bold(rows[depth]) and not _is_bold(rows[depth + 1]):
        return True
    names = [tuple(lower[column].text for column in range(*group)) for group in groups]
    if any(one == other and len(set(one)) > 1 for one, other in pairwise(names)):
        return True
    below = [row[column].text for row in grid[depth + 1 :] for column in named[1:] if column < len(row)]
    return any(below) and all(map(_has_digit, filter(None, below)))


def _spans(grid: Sequence[Sequence[Slot]], level: int) -> Iterator[tuple[int, int]]:
    """Yield the columns, from and up to, under each label of the row ``level``.

    A label that is not merged also spans what repeats it, and empty cells after it that have text below; the last label
    spans no more of these than any other one.
    """
    upper, below = grid[level], grid[level + 1 :]

    def continues(column: int) -> bool:
        slot, before = upper[column], upper[column - 1]
        if slot.text or slot.number == before.number:
            return slot.number == before.number or slot.text == before.text
        return any(row[column].text for row in below)

    starts = [column for column in range(len(upper)) if not column or not continues(column)]
    widest = 0
    for start, end in zip_longest(starts, starts[1:], fillvalue=len(upper)):
        if widest and end == len(upper) and any(not slot.text for slot in upper[start:end]):
            end = min(end, start + widest)
        if start:
            widest = max(widest, end - start)
        yield start, end


def _labels(header: Sequence[Sequence[Slot]]) -> list[list[str]]:
    """Return the texts of the levels of a header, the labels of all but the last one in all columns that they span."""
    made = [[slot.text[:_MAX_LABEL_CHARS] for slot in row] for row in header]
    for level, texts in enumerate(made[:-1]):
        for start, end in _spans(header, level):
            texts[start + 1 : end] = [texts[start]] * (end - start - 1)
    return made


def _grid(rows: Sequence[Row]) -> list[list[Slot]]:
    """Return the columns of each row; a cell stands in all columns and rows that it spans.

    What is marked as a header so far does not count: a marked label may span into a level that is not marked yet.
    """
    unmarked = [Row([replace(cell, is_header=False) for cell in row.cells]) for row in rows]
    grid = [row.slots for row in place_cells(unmarked)]
    width = max((column + 1 for slots in grid for column in slots), default=0)
    return [[slots.get(column, _EMPTY) for column in range(width)] for slots in grid]
