"""The units in which a section is read, quoted and cited: the sentences of its prose, and its other blocks as they are.

A row of a table, an item of a list, a property, and a block of code with the sentence that introduces it are units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from wikigr.index.candidate import Section
from wikigr.index.lexical import stems
from wikigr.languages import ENGLISH, Language
from wikigr.question.question import Question
from wikigr.segmentation import sentence_spans
from wikigr.sources.block import Block, Cell, after_marker, row_extent

# A question reads the units of a section up to three times: to order the sections, to read, and to check a reply.
_MAX_SECTIONS = 512
# A longer item is split into sentences.
_MAX_ITEM_CHARS = 300
# Longer code is not one quotation with the sentence that introduces it.
_MAX_INTRODUCED_CHARS = 600
# Longer code is split at blank lines.
_MAX_CODE_CHARS = 1_600
_STANZA = re.compile(r"[^\s](?:.|\n(?!\s*\n))*")
# Consecutive blocks of these kinds are one text.
_PROSE = frozenset(("paragraph", "quotation", "footnote", "caption"))


@dataclass(frozen=True, slots=True)
class Row:
    """The ``cells`` of a row, by the names of the ``columns`` of its table; a property is a row of one cell."""

    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    is_property: bool = False

    def column_of(self, cell: Cell) -> str:
        """Return the name of the column of ``cell``, ``""`` if it has none."""
        return self.columns[cell.column] if cell.column < len(self.columns) else ""


@dataclass(frozen=True, slots=True)
class Unit:
    """The characters ``start`` to ``end`` of a section's text; ``row`` is set if they are a row."""

    start: int
    end: int
    row: Row | None = None


@lru_cache(maxsize=_MAX_SECTIONS)
def units_of(section: Section, language: Language = ENGLISH) -> tuple[Unit, ...]:
    """Return the units of ``section`` in the order of its text; the marker of an item does not belong to it."""
    text, blocks = section.content, section.blocks
    units: list[Unit] = []
    number = 0
    while number < len(blocks):
        block = blocks[number]
        number += 1
        if block.kind == "table":
            units += (_row(text, block, cells) for cells in block.rows if cells)
        elif block.kind == "property":
            cells = tuple(cell for row in block.rows for cell in row)
            units.append(Unit(block.start, block.end, Row((block.label,), cells, True) if cells else None))
        elif block.kind == "code":
            _add_code(units, text, block)
        elif block.kind in ("item", "task"):
            start = after_marker(text, block)
            if block.end - start <= _MAX_ITEM_CHARS:
                units.append(Unit(start, block.end))
            else:
                units += _sentences(text, start, block.end, language)
        elif block.kind in _PROSE:
            last = block
            while number < len(blocks) and blocks[number].kind in _PROSE and blocks[number].depth == block.depth:
                last = blocks[number]
                number += 1
            units += _sentences(text, block.start, last.end, language)
        else:
            units.append(Unit(block.start, block.end))
            if block.kind == "term":
                number = _add_definition(units, text, blocks, number, language)
    return tuple(unit for unit in units if unit.start < unit.end)


def stemmed_units(section: Section, question: Question) -> Iterator[tuple[Unit, str, list[str]]]:
    """Yield each unit of ``section`` with its text and the stems of it, made as those of ``question`` are."""
    units, found = units_of(section, question.language), _stems_of_units(section, question.language)
    for unit, own in zip(units, found, strict=True):
        text = section.content[unit.start : unit.end]
        yield unit, text, [*own, *question.restated(text)]


@lru_cache(maxsize=_MAX_SECTIONS)
def _stems_of_units(section: Section, language: Language) -> tuple[list[str], ...]:
    found = [stems(section.content[unit.start : unit.end], language) for unit in units_of(section, language)]
    # A section repeats most of its stems; each of them is kept once.
    once = {stem: stem for stem in chain.from_iterable(found)}
    return tuple([once[stem] for stem in own] for own in found)


def _row(text: str, block: Block, cells: tuple[Cell, ...]) -> Unit:
    return Unit(*row_extent(text, block, cells), Row(block.columns, cells))


def _sentences(text: str, start: int, end: int, language: Language) -> Iterator[Unit]:
    for left, right in sentence_spans(text[start:end], language):
        yield Unit(start + left, start + right)


def _add_code(units: list[Unit], text: str, block: Block) -> None:
    """Append the code ``block``, or join it with the sentence before it that ends in a colon."""
    size = block.end - block.start
    is_introduced = units and text[units[-1].end - 1] in ":：" and not text[units[-1].end : block.start].strip()
    if is_introduced and size <= _MAX_INTRODUCED_CHARS:
        units[-1] = Unit(units[-1].start, block.end)
    elif size <= _MAX_CODE_CHARS:
        units.append(Unit(block.start, block.end))
    else:
        stanzas = _STANZA.finditer(text, block.start, block.end)
        units += (Unit(stanza.start(), stanza.start() + len(stanza.group().rstrip())) for stanza in stanzas)


def _add_definition(units: list[Unit], text: str, blocks: tuple[Block, ...], number: int, language: Language) -> int:
    """Join the terms before ``blocks[number]`` with the first sentence of their definition; return what follows."""
    depth = blocks[number - 1].depth
    if number >= len(blocks) or blocks[number].depth <= depth or blocks[number].kind != "paragraph":
        return number
    definition = blocks[number]
    first, *others = _sentences(text, definition.start, definition.end, language)
    start = units.pop().start
    terms = number - 2
    while terms >= 0 and blocks[terms].kind == "term" and blocks[terms].depth == depth:
        start = units.pop().start
        terms -= 1
    units.append(Unit(start, first.end))
    units += others
    return number + 1
