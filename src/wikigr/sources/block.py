"""What a reader of a source knows of the structure of a section: its text as blocks."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Literal, NamedTuple

BlockKind = Literal[
    "paragraph",
    "heading",
    "item",
    "task",
    "term",
    "table",
    "code",
    "quotation",
    "property",
    "footnote",
    "caption",
]


TaskState = Literal["open", "done"]

CHECK_BOXES: dict[str, str] = {"open": "[ ]", "done": "[x]"}
"""What stands before a task for its state."""

BLANK_LINES = re.compile(r"\n(?:[^\S\n]*+\n)++")
"""Blank lines without the indentation of the next line, which matters in code."""


# A table with more columns has only those with cells in the part of it that a section has.
MAX_EMPTY_COLUMNS = 20
# The kinds whose label or cell belongs to the beginning of the text.
_WHOLE = frozenset(("item", "task", "term", "property", "footnote"))
_MARKER = {
    "item": re.compile(r"\S+\s*"),
    "task": re.compile(r"(?:\S{1,9}[^\S\n]+)?\[[^\]\n]?\]\s*"),
}


class Cell(NamedTuple):
    """The characters ``start`` to ``end`` of the text, which stand in the column number ``column`` of their table."""

    column: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """The characters ``start`` to ``end`` of a section's text, which are one part of its structure.

    The blocks of a section are in the order of the text, do not overlap, and together hold every character of it that
    is not white space. A block that stands inside another one, such as the code of a list item, follows it with a
    greater ``depth``; see ``extent``. ``label`` is what the text of the kind does not say, or says as a sign:

    ========== ==========================================================================================
    kind       ``start`` to ``end``, and ``label``
    ========== ==========================================================================================
    paragraph  running text
    heading    a heading that opens no section of its own
    item       the first paragraph of a list item with its marker; ``label`` is the marker: ``-``, ``3.``, ``b)``
    task       the same of a task with its check box; ``label`` is its state: ``open`` or ``done``
    term       the term of a definition; the definition follows with a greater depth
    table      the lines of ``rows``; ``columns`` has the names of its columns, ``""`` for one without a name
    code       text whose white space counts; ``label`` is its language, if the source says it
    quotation  a paragraph that the source quotes
    property   a named value such as a line of front matter; ``label`` is the name, and the only cell is the value
    footnote   a note that a mark in the text refers to; ``label`` is the mark
    caption    the caption of a table or a figure
    ========== ==========================================================================================

    ``rows`` holds the cells of each row of a table, in the order of the text. Cells without text are left out. A cell
    that spans several columns stands in each of them, with the same range. A row that is written as several lines has
    the cells of all of them, and these lines may begin with the same cell.
    """

    kind: BlockKind
    start: int
    end: int
    depth: int = 0
    label: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()


def extent(blocks: Sequence[Block], number: int) -> int:
    """Return the number of the block after ``blocks[number]`` and all blocks that stand inside it."""
    after = number + 1
    while after < len(blocks) and blocks[after].depth > blocks[number].depth:
        after += 1
    return after


def after_marker(text: str, block: Block) -> int:
    """Return where the words of an item or a task begin, after its marker and its check box."""
    marker = _MARKER[block.kind].match(text, block.start, block.end)
    return marker.end() if marker is not None else block.start


def row_extent(text: str, block: Block, cells: Sequence[Cell]) -> tuple[int, int]:
    """Return the characters of the lines of a row of the table ``block``."""
    start = max(block.start, text.rfind("\n", 0, cells[0].start) + 1)
    end = text.find("\n", cells[-1].end, block.end)
    return start, block.end if end < 0 else end


@dataclass(frozen=True, slots=True)
class RowText:
    """The lines of a row of a table: none for a header, which the rows below repeat, and one for most others.

    ``is_alone`` marks the only cell of a row, which is a heading or a remark across the table. ``columns`` has the
    names of the table's columns, and ``cells`` has the cells of each line, as ranges of it.
    """

    lines: tuple[str, ...]
    is_alone: bool = False
    columns: tuple[str, ...] = ()
    cells: tuple[tuple[Cell, ...], ...] = ()


def fill_paragraphs(text: str, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return all blocks of ``text``: the given ones, and paragraphs of depth 0 where there are none.

    Readers and packs leave out these paragraphs, see ``without_paragraphs``.
    """
    filled: list[Block] = []
    position = 0
    for block in blocks:
        filled.extend(Block("paragraph", *span) for span in paragraph_spans(text, position, block.start))
        filled.append(block)
        position = block.end
    filled.extend(Block("paragraph", *span) for span in paragraph_spans(text, position, len(text)))
    return tuple(filled)


def without_paragraphs(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return ``blocks``, all those of a text, without the paragraphs that ``fill_paragraphs`` fills in.

    Depths are counted from that of the least deep block.
    """
    least = min((block.depth for block in blocks), default=0)
    if least:
        blocks = [replace(block, depth=block.depth - least) for block in blocks]
    return tuple(block for block in blocks if block.depth or block.kind != "paragraph")


def shift_blocks(blocks: Iterable[Block], by: int) -> tuple[Block, ...]:
    """Return the blocks of a text that begins ``by`` characters later in another one."""
    return _moved(blocks, lambda place: place + by) if by else tuple(blocks)


def _moved(blocks: Iterable[Block], move: Callable[[int], int]) -> tuple[Block, ...]:
    return tuple(
        replace(
            block,
            start=move(block.start),
            end=move(block.end),
            rows=tuple(tuple(Cell(column, move(start), move(end)) for column, start, end in row) for row in block.rows),
        )
        for block in blocks
    )


def compose(text: str, blocks: Sequence[Block]) -> tuple[str, tuple[Block, ...]]:
    """Return ``text`` in the normalization form NFC, and its blocks with their ranges there."""
    if unicodedata.is_normalized("NFC", text):
        return text, tuple(blocks)
    ends = {
        place
        for block in blocks
        for _, *span in (Cell(0, block.start, block.end), *chain(*block.rows))
        for place in span
    }
    moved, parts, length = {0: 0}, list[str](), 0
    for start, end in pairwise(sorted({0, len(text), *ends})):
        parts.append(unicodedata.normalize("NFC", text[start:end]))
        moved[end] = length = length + len(parts[-1])
    composed = unicodedata.normalize("NFC", text)
    # A mark at the beginning of a block may belong to the letter before it; then no range is certain.
    return composed, _moved(blocks, moved.__getitem__) if composed == "".join(parts) else ()


def cut_blocks(text: str, blocks: Sequence[Block], start: int, end: int) -> tuple[Block, ...]:
    """Return the blocks of ``text[start:end]``, of which ``blocks`` are all those of ``text``, and shift them to 0.

    Of a block that is cut, the part in between remains: of a table, the rows and cells with the names of their columns.
    The rest of an item, a term or the like is a paragraph inside it. Paragraphs of depth 0 are left out.
    """
    first = bisect_right(blocks, start, key=lambda block: block.end)
    beyond = bisect_left(blocks, end, lo=first, key=lambda block: block.start)
    parts = (_cut(text, block, start, end) for block in blocks[first:beyond])
    return shift_blocks(without_paragraphs([part for part in parts if part is not None]), -start)


def _cut(text: str, block: Block, start: int, end: int) -> Block | None:
    if block.start >= start and block.end <= end:
        return block if len(block.columns) <= MAX_EMPTY_COLUMNS else _with_own_columns(block)
    start, end = max(block.start, start), min(block.end, end)
    if block.kind != "code":
        start, end = _stripped(text, start, end)
    if not text[start:end].strip():
        return None
    first = bisect_right(block.rows, start, key=lambda row: row[-1].end)
    beyond = bisect_left(block.rows, end, lo=first, key=lambda row: row[0].start)
    rows = (
        row
        if start <= row[0].start and row[-1].end <= end
        else tuple(
            Cell(cell.column, max(cell.start, start), min(cell.end, end))
            for cell in row[
                bisect_right(row, start, key=lambda cell: cell.end) : bisect_left(row, end, key=lambda cell: cell.start)
            ]
        )
        for row in block.rows[first:beyond]
    )
    part = replace(block, start=start, end=end, rows=tuple(filter(None, rows)))
    if block.kind == "table":
        return _with_own_columns(part) if part.rows else Block("paragraph", start, end, block.depth)
    if block.kind in _WHOLE and (start > block.start or (block.rows and not part.rows)):
        return Block("paragraph", start, end, block.depth + 1)
    return part


def _with_own_columns(table: Block) -> Block:
    """Return a table without columns that have no cells if it has many columns, as every part would repeat them all."""
    used = sorted({cell.column for row in table.rows for cell in row})
    if len(table.columns) <= max(MAX_EMPTY_COLUMNS, len(used)):
        return table
    number = {column: place for place, column in enumerate(used)}
    return replace(
        table,
        columns=tuple(table.columns[column] for column in used),
        rows=tuple(tuple(cell._replace(column=number[cell.column]) for cell in row) for row in table.rows),
    )


def paragraph_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the paragraphs in ``text[start:end]``, without white space around them."""
    if start >= end:
        return
    for stop, following in chain(map(re.Match.span, BLANK_LINES.finditer(text, start, end)), ((end, end),)):
        first, last = _stripped(text, start, stop)
        if first < last:
            yield first, last
        start = following


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    return first, first + len(part.strip())
