"""What a reader of a source knows of the structure of a section: its text as blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Cell:
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

    ``rows`` holds the cells of each row of a table, in the order of the columns; cells without text are left out, and a
    row that is written as several lines has the cells of all of them.
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
