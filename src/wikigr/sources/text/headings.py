"""Find headings that are underlined, and perhaps overlined, with a row of punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
# Columns of a table.
_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S| \| ")
_LETTER = re.compile(r"[^\W_]")
_MAX_LENGTH = 120
# The least length of an underline, as a share of the heading's length.
_MIN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading of ``level`` (1 is the highest), which occupies ``lines[start:end]``."""

    start: int
    end: int
    level: int
    text: str


def find_headings(lines: Sequence[str]) -> Iterator[TextHeading]:
    """Yield the headings in order; as in reStructuredText, the first style of underline found is the highest level.

    A heading follows a blank line, is short, has a letter or digit and does not look like the head of a table.
    """
    styles: list[tuple[str, bool]] = []
    position = 0
    while position < len(lines):
        found = _heading_at(lines, position)
        if found is None:
            position += 1
            continue
        end, text, style = found
        if style not in styles:
            styles.append(style)
        yield TextHeading(position, end, styles.index(style) + 1, text)
        position = end


def is_rule(line: str) -> bool:
    """Return whether a line consists of one repeated punctuation character."""
    return _ADORNMENT.fullmatch(line) is not None


def _heading_at(lines: Sequence[str], start: int) -> tuple[int, str, tuple[str, bool]] | None:
    """Return the end, the text and the style of the heading that begins at ``start``; ``None`` if there is none."""
    if start and lines[start - 1].strip() and not is_rule(lines[start - 1]):
        return None
    over = _ADORNMENT.fullmatch(lines[start])
    title = start + 1 if over else start
    if title + 1 >= len(lines):
        return None
    text, under = lines[title].strip(), _ADORNMENT.fullmatch(lines[title + 1])
    if under is None or (over is not None and over[1] != under[1]) or is_rule(lines[title]):
        return None
    if over is None and lines[title][:1].isspace():
        return None
    if not _LETTER.search(text) or len(text) > _MAX_LENGTH or _COLUMNS.search(text):
        return None
    if len(under[0].rstrip()) < _MIN_SHARE * len(text):
        return None
    return title + 2, text, (under[1], over is not None)
