"""Read the rows of CSV and TSV files, in which a bad row costs no other one."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from wikigr.sources.streams import Line

# The possible delimiters, likeliest first, and what messages call them.
DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
# How much of a file is read to detect its delimiter and the meaning of its columns.
SAMPLE_ROWS, _SAMPLE_BYTES = 200, 256 * 1024
# In characters. The limit keeps a quoted cell that is never closed from taking the rest of the file.
MAX_CELL_CHARS = 16 * 1024 * 1024
# After so many rows that cannot be read to their end, of which each may have had the rest of the file in it, every row
# ends with its line.
_MAX_DAMAGED_ROWS = 100
_NEVER_CLOSED = "a quoted cell is never closed"
_GOES_ON = "a cell continues after its closing quote; double the quotes inside a quoted cell"


class Row(NamedTuple):
    """The stripped cells of a row that begins on ``line``, or the ``problem`` that makes it unreadable."""

    line: int
    cells: list[str]
    problem: str = ""


def sample_lines(lines: Iterable[Line]) -> tuple[list[Line], Iterator[Line]]:
    """Return the first lines, from which a delimiter is detected, and all lines."""
    source = iter(lines)
    sample: list[Line] = []
    size = 0
    for line in islice(source, SAMPLE_ROWS + 1):
        sample.append(line)
        size += len(line.data)
        if size >= _SAMPLE_BYTES:
            break
    return sample, chain(sample, source)


def read_rows(lines: Iterable[Line], delimiter: str, *, strict: bool = False) -> Iterator[Row]:
    """Yield the rows that are not blank.

    Quoted cells may span lines. With ``strict``, a cell with text after its closing quote or with a space before its
    opening quote is not a quoted one, and quotes are characters where tabs separate the cells. Of a row that cannot be
    read, only the first line is given up: the lines after it may be valid rows. After many such rows, a cell that goes
    on in the next line is not closed.
    """
    source = iter(lines)
    waiting: deque[Line] = deque()

    def next_line() -> Line | None:
        return waiting.popleft() if waiting else next(source, None)

    damaged = 0
    csv.field_size_limit(MAX_CELL_CHARS)
    while (line := next_line()) is not None:
        text, problem = line.decoded()
        if problem:
            yield Row(line.line, [], problem)
        elif '"' not in text or (strict and delimiter == "\t"):
            if text.strip():
                yield Row(line.line, [cell.strip() for cell in text.split(delimiter)])
        else:
            taken: list[Line] = []
            following = iter(next_line, None) if damaged < _MAX_DAMAGED_ROWS else iter(())
            row = _quoted_row(line.line, text, following, taken, delimiter, strict=strict)
            if row.problem:
                damaged += 1
                waiting.extendleft(reversed(taken))
            yield row


def _quoted_row(
    number: int, text: str, following: Iterator[Line], taken: list[Line], delimiter: str, *, strict: bool
) -> Row:
    """Return the row that begins with ``text``; the lines of ``following`` that it spans are appended to ``taken``."""
    problem = ""

    def texts() -> Iterator[str]:
        nonlocal problem
        yield text + "\n"
        for line in following:
            taken.append(line)
            more, problem = line.decoded()
            if problem:
                return
            yield more + "\n"
        problem = _NEVER_CLOSED

    try:
        cells = next(csv.reader(texts(), delimiter=delimiter, strict=strict, skipinitialspace=not strict))
    except csv.Error as error:
        problem = problem or (_GOES_ON if "expected after" in str(error) else _NEVER_CLOSED)
    return Row(number, [] if problem else [cell.strip() for cell in cells], problem)
