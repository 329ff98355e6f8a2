"""The structure of a section's text: numbered steps, lists, entries with their terms, and rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wikigr.segmentation import BLANK_LINE

# What joins a sentence with the code that it introduces.
BEFORE_CODE = ":\n\n"
# A longer block is not one quotation.
MAX_CHARS = 1_600
_NOT_BLANK = re.compile(r"\S")
_LINE = re.compile(r"[^\n]+")
_NUMBERED = re.compile(r"\s*(\d{1,2})[.)]\s+\S")
_BULLET = re.compile(r"\s*[-*•–]\s+\S")
# A term on lines of its own, with an indented definition below it.
_ENTRY = re.compile(r"(?:^|(?<=\n))(?:[^\s][^\n]*\n){1,4}(?: {4,}[^\n]*(?:\n\n(?= {4})|\n|$))+")
_CELL = re.compile(r"(?:^|(?<=\| )) *(?P<column>[^\s:|][^\n:|]{0,60}): (?P<value>[^|\n]*[^|\n\s])")


@dataclass(frozen=True, slots=True)
class Block:
    """Characters ``start`` to ``end`` of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A named cell of a row: its column, and the characters ``start`` to ``end`` of its value in the text."""

    column: str
    start: int
    end: int


def numbered_blocks(text: str) -> Iterator[Block]:
    """Yield the runs of at least two items that are numbered one after the other."""
    run: list[re.Match[str]] = []
    number = 0
    for line in _LINE.finditer(text):
        found = _NUMBERED.match(line.group())
        if found is None:
            continue
        if run and int(found[1]) == number + 1 and line.start() - run[0].start() <= MAX_CHARS:
            run.append(line)
        else:
            yield from _block(text, run)
            run = [line]
        number = int(found[1])
    yield from _block(text, run)


def bulleted_blocks(text: str) -> Iterator[Block]:
    """Yield the runs of at least two list items, between which no other paragraph stands."""
    run: list[re.Match[str]] = []
    for line in _LINE.finditer(text):
        if _BULLET.match(line.group()):
            run.append(line)
        elif run and BLANK_LINE.search(text, run[-1].end(), line.start() + 1):
            yield from _block(text, run)
            run = []
    yield from _block(text, run)


def _block(text: str, run: list[re.Match[str]]) -> Iterator[Block]:
    """Yield the block of the items that begin with the lines ``run``, if there are at least two."""
    if len(run) < 2:
        return
    end = _paragraph_end(text, run[-1].end())
    if text[:end].rstrip().endswith(":"):
        # The last item introduces code.
        following = _NOT_BLANK.search(text, end)
        end = _paragraph_end(text, following.start()) if following else end
    if end - run[0].start() <= MAX_CHARS:
        yield Block(run[0].start(), end)


def _paragraph_end(text: str, place: int) -> int:
    blank = BLANK_LINE.search(text, place)
    return blank.start() if blank else len(text.rstrip())


def entry_blocks(text: str) -> Iterator[Block]:
    """Yield the terms that stand above an indented definition, each with its definition."""
    for match in _ENTRY.finditer(text):
        end = match.start() + len(match.group().rstrip())
        if end - match.start() <= MAX_CHARS:
            yield Block(match.start(), end)


def cells(row: str) -> list[Cell]:
    """Return the cells of a row ``Column: value | Column: value``, or none if it is not such a row."""
    found = [Cell(match["column"], *match.span("value")) for match in _CELL.finditer(row)]
    return found if len(found) > 1 else []
