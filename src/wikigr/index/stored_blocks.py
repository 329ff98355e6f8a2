"""The stored form of the blocks of a section: compact, the same for the same blocks, and checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from wikigr.errors import PackError
from wikigr.sources.block import Block, BlockKind, Cell, paragraph_spans

# A JSON list with a list for each block: the letter of its kind, its distance from the end of the block before, its
# length, depth, label, the names of its columns, and for each row a list of three numbers for each cell: the distance
# of its column from the column after the cell before, the distance of its start from the end of that cell, and its
# length. Zeros and empty values at the end are left out, and so are a label and the cell of a property that
# ``_from_text`` finds in the text.
# Paragraphs of depth 0 are not stored, and deeper ones that only blank lines separate are stored as one.
_LETTERS: dict[BlockKind, str] = {
    "paragraph": "p", "heading": "h", "item": "i", "task": "t", "term": "d", "table": "b", "code": "c",
    "quotation": "q", "property": "y", "footnote": "f", "caption": "n",
}  # fmt: skip
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
TASK = '["t",'
"""What the stored form of blocks contains if one of them is a task."""
MAX_DEPTH = 1_000
# The stored form of blocks is far shorter than this. It bounds the time and memory that a damaged pack can take.
_MAX_CHARS, _MAX_CHARS_PER_CHARACTER = 100_000, 100


def encode_blocks(text: str, blocks: Iterable[Block]) -> str:
    """Return the stored form of the blocks of ``text``; it is empty if they are paragraphs of depth 0 alone."""
    rows: list[list[Any]] = []
    position = 0
    for block in _merged(text, (block for block in blocks if block.depth or block.kind != "paragraph")):
        label, cells = _from_text(text, block.kind, block.start, block.end)
        place = block.start - position, block.end - block.start, min(block.depth, MAX_DEPTH)
        row: list[Any] = [_LETTERS[block.kind], *place, "" if block.label == label else block.label, block.columns]
        row.append([] if block.rows == cells else list(_cell_numbers(block)))
        while not row[-1]:
            row.pop()
        rows.append(row)
        position = block.end
    stored = json.dumps(rows, ensure_ascii=False, separators=(",", ":")) if rows else ""
    return stored if len(stored) <= _longest(text) else ""


def _longest(text: str) -> int:
    return _MAX_CHARS + _MAX_CHARS_PER_CHARACTER * len(text)


def _merged(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    waiting: Block | None = None
    for block in blocks:
        if waiting is not None and block.kind == waiting.kind == "paragraph" and block.depth == waiting.depth:
            between = text[waiting.end : block.start]
            if between.isspace() and between.count("\n") > 1:
                waiting = Block("paragraph", waiting.start, block.end, block.depth)
                continue
        if waiting is not None:
            yield waiting
        waiting = block
    if waiting is not None:
        yield waiting


def _from_text(text: str, kind: BlockKind, start: int, end: int) -> tuple[str, tuple[tuple[Cell, ...], ...]]:
    """Return the label and the cells that the text of a block says.

    An item begins with its marker, and a property is ``name: value``, or ``subject — name: value.`` if it is a fact.
    """
    if kind == "item":
        return text[start:end].split(maxsplit=1)[0], ()
    if kind != "property":
        return "", ()
    dash = text.find(" — ", start, end)
    name = start if dash < 0 else dash + 3
    colon = text.find(": ", name, end)
    value = Cell(0, colon + 2, end - (dash >= 0 and text[end - 1] == "."))
    return (text[name:colon], ((value,),)) if name < colon and value.start < value.end else ("", ())


def _cell_numbers(block: Block) -> Iterator[list[int]]:
    position = block.start
    for row in block.rows:
        numbers: list[int] = []
        column = 0
        for cell in row:
            numbers += (cell.column - column, cell.start - position, cell.end - cell.start)
            column, position = cell.column + 1, cell.end
        yield numbers


def decode_blocks(text: str, stored: str) -> tuple[Block, ...]:
    """Return the blocks of ``text`` whose stored form is ``stored``, without paragraphs of depth 0.

    Raises ``PackError`` if they are damaged.
    """
    if not stored:
        return ()
    try:
        return tuple(_decoded(text, stored))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise PackError(
            f"The blocks of a section of this pack are damaged: {error}.", hint="Get or build the pack again."
        ) from error


def _decoded(text: str, stored: str) -> Iterator[Block]:
    if len(stored) > _longest(text):
        raise ValueError("they are too long")
    position = 0
    for fields in _list_of(json.loads(stored)):
        if not 3 <= len(fields) <= 7:
            raise ValueError("a block has another number of fields")
        absent: list[Any] = [0, "", [], []]
        letter, gap, length, depth, label, columns, rows = fields + absent[len(fields) - 3 :]
        start = position + _natural(gap)
        position = end = start + _natural(length)
        if not text[start:end].strip() or end > len(text) or _natural(depth) > MAX_DEPTH:
            raise ValueError("a block is not in the text")
        kind = _KINDS[letter]
        if kind == "paragraph":
            yield from (Block(kind, *span, depth) for span in paragraph_spans(text, start, end))
            continue
        own_label, own_cells = _from_text(text, kind, start, end)
        label = _text(label) or own_label
        names = tuple(_list_of(columns, str))
        cells = tuple(_cells(rows, start, end)) or own_cells
        if kind == "table" and (not cells or any(cell.column >= len(names) for row in cells for cell in row)):
            raise ValueError("a table has no rows, or a cell is in no column")
        if kind not in ("table", "property") and (names or cells):
            raise ValueError("a block that is not a table has cells")
        if kind == "property" and [*map(len, cells)] != [1]:
            raise ValueError("a property has no value")
        yield Block(kind, start, end, depth, label, names, cells)


def _cells(rows: Any, start: int, end: int) -> Iterator[tuple[Cell, ...]]:
    position = first = start
    for numbers in _list_of(rows):
        if not numbers or len(numbers) % 3 or not all(type(number) is int for number in numbers):
            raise ValueError("a row has no cells")
        row: list[Cell] = []
        column = 0
        for n in range(0, len(numbers), 3):
            begin = position + numbers[n + 1]
            cell = Cell(column + numbers[n], begin, begin + numbers[n + 2])
            # Only in the columns that a cell spans, it is repeated.
            if cell.column < 0 or not first <= begin < cell.end <= end:
                raise ValueError("a cell is not in its row")
            column, position, first = cell.column + 1, cell.end, begin
            row.append(cell)
        first = position
        yield tuple(row)


def _list_of(value: Any, kind: type = list) -> list[Any]:
    if type(value) is not list or not all(type(each) is kind for each in value):
        raise TypeError(f"a {type(value).__name__} is not a list of {kind.__name__}")
    return value


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a number is negative or no integer")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"a {type(value).__name__} is not a text")
    return value
