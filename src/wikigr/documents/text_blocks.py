"""Divide the stored text of a section into paragraphs, lists and tables, with marked quotations and links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

BlockKind = Literal["text", "bullets", "numbers", "table", "lines", "code"]
Span = tuple[int, int]

_LINE = re.compile(r"[^\n]+")
_GAP = re.compile(r"\n[ \t]*\n")
_BULLET = re.compile(r"[ \t]*[-*•][ \t]+")
_NUMBER = re.compile(r"[ \t]*(\d{1,4})[.)][ \t]+")
# Readers of sources write the cells of a table on one line, each after the name of its column (``sources.tables``).
_CELL = re.compile(r" \| ")
_COLUMN = re.compile(r"(\S[^\n:]{0,79}): ")
_INDENTED = re.compile(r"(?: {2,}|\t)\S")


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text; ``mark`` names the style of a quotation that it is part of, ``target`` what it links to.

    ``begins`` is true for the first run of a quotation.
    """

    text: str
    mark: str = ""
    target: str = ""
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block of text: its lines, which consist of cells, which consist of runs. Only tables have several cells.

    ``first`` is the first number of a numbered list. ``head`` holds the names of the columns of a table, if it has any;
    its lines then have as many cells, some of them without a run.
    """

    kind: BlockKind
    lines: tuple[tuple[tuple[Run, ...], ...], ...]
    first: int = 1
    head: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """The characters ``start:end`` of a text, with the name of the style in which they are shown."""

    start: int
    end: int
    name: str


def divide(text: str, marks: Sequence[Mark] = (), links: Mapping[Span, str] | None = None) -> tuple[Block, ...]:
    """Return ``text`` as blocks; of overlapping ``marks`` the last one counts.

    ``links`` maps spans to what they link to. Bullets, numbers, the separators of cells and the names
    of columns are left out; otherwise the runs hold every character but the line breaks.
    """
    divider = _Divider(text, marks, links or {})
    return tuple(divider.block(span) for span in paragraphs(text))


def runs(text: str, marks: Sequence[Mark] = (), links: Mapping[Span, str] | None = None) -> tuple[Run, ...]:
    """Return ``text`` as one line of runs."""
    return _Divider(text, marks, links or {}).runs((0, len(text)))


class _Divider:
    """Cuts one text into runs; remembers which marks have begun."""

    def __init__(self, text: str, marks: Sequence[Mark], links: Mapping[Span, str]) -> None:
        self._text = text
        self._marks = marks
        self._links = links
        self._begun: set[Mark] = set()

    def block(self, span: Span) -> Block:
        """Return the paragraph ``span`` as a block."""
        text = self._text
        lines = [found.span() for found in _LINE.finditer(text, *span)]
        table = _named_cells(text, lines)
        if table is not None:
            rows = tuple(tuple(self.runs(cell) if cell else () for cell in row.values()) for row in table)
            return Block("table", rows, head=tuple(table[0]))
        kind = _kind([text[start:end] for start, end in lines])
        marker = {"bullets": _BULLET, "numbers": _NUMBER}.get(kind)
        cells = [
            tuple(_cells(text, line)) if kind == "table" else (_without_marker(text, line, marker),) for line in lines
        ]
        number = _NUMBER.match(text, *lines[0]) if kind == "numbers" else None
        first = int(number[1]) if number is not None else 1
        return Block(kind, tuple(tuple(self.runs(cell) for cell in line) for line in cells), first)

    def runs(self, span: Span) -> tuple[Run, ...]:
        """Return the characters ``span`` as runs, cut where a mark or a link begins or ends."""
        start, end = span
        marks = [mark for mark in self._marks if mark.start < end and mark.end > start]
        links = {place: target for place, target in self._links.items() if place[0] >= start and place[1] <= end}
        places = [*(place for mark in marks for place in (mark.start, mark.end)), *(p for link in links for p in link)]
        made: list[Run] = []
        for begin, stop in pairwise(sorted({start, end, *(place for place in places if start < place < end)})):
            mark = next((mark for mark in reversed(marks) if mark.start <= begin and stop <= mark.end), None)
            target = next((target for (first, last), target in links.items() if first <= begin and stop <= last), "")
            begins = mark is not None and mark not in self._begun
            if mark is not None:
                self._begun.add(mark)
            made.append(Run(self._text[begin:stop], mark.name if mark is not None else "", target, begins))
        return tuple(made)


def paragraphs(text: str) -> Iterator[Span]:
    """Yield the characters of each paragraph of ``text``, between empty lines."""
    begin = 0
    for gap in _GAP.finditer(text):
        if text[begin : gap.start()].strip():
            yield begin, gap.start()
        begin = gap.end()
    if text[begin:].strip():
        yield begin, len(text)


def _kind(lines: Sequence[str]) -> BlockKind:
    if all(_BULLET.match(line) for line in lines):
        return "bullets"
    if all(_NUMBER.match(line) for line in lines):
        return "numbers"
    if len(lines) > 1 and all(_CELL.search(line) for line in lines):
        return "table"
    if len(lines) > 1 and any(_INDENTED.match(line) for line in lines):
        # A list in which an item has an item or a paragraph of its own.
        return "lines" if _BULLET.match(lines[0]) or _NUMBER.match(lines[0]) else "code"
    return "text"


def _named_cells(text: str, lines: Sequence[Span]) -> list[dict[str, Span | None]] | None:
    """Return the cells of each line by the names of all columns; ``None`` unless every cell has a name in front.

    Lines leave out cells without text. All lines must have their columns in the same order.
    """
    rows: list[dict[str, Span]] = []
    for line in lines:
        row: dict[str, Span] = {}
        for start, end in _cells(text, line):
            column = _COLUMN.match(text, start, end)
            if column is None or column[1] in row:
                return None
            row[column[1]] = (column.end(), end)
        rows.append(row)
    names: list[str] = []
    for row in rows:
        place = 0
        for name in row:
            if name not in names:
                names.insert(place, name)
            elif names.index(name) < place:
                return None
            place = names.index(name) + 1
    return [{name: row.get(name) for name in names} for row in rows] if len(names) > 1 else None


def _without_marker(text: str, line: Span, marker: re.Pattern[str] | None) -> Span:
    found = marker.match(text, *line) if marker is not None else None
    return (found.end(), line[1]) if found is not None else line


def _cells(text: str, line: Span) -> Iterator[Span]:
    begin = line[0]
    for bar in _CELL.finditer(text, *line):
        yield begin, bar.start()
        begin = bar.end()
    yield begin, line[1]
