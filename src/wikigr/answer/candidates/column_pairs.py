"""Rows of which a question compares two columns: "cost more than quoted", "below the minimum". English only."""

from __future__ import annotations

import re
from collections.abc import Callable

from wikigr.answer.candidates.candidate import Material
from wikigr.answer.candidates.grid import Grid, Value, are_alike, spelled
from wikigr.text import words

_THAN = re.compile(
    r"\b(?:(?P<high>(?:more|greater|higher|later|longer|larger) than|over|above|exceed\w*)"
    r"|(?:cheaper|earlier|fewer|less|lower|shorter|smaller|sooner) than|below|under)\s+(?P<limit>[^?.,;]{1,200})",
    re.IGNORECASE,
)


def column_pair(
    material: Material, grid: Grid
) -> tuple[str, str, frozenset[str], Callable[[Value | None], bool]] | None:
    """Return the two columns of ``grid`` that the question compares, if it compares any.

    The stems with which it does follow, and whether a value of the first column is that of a row that fits.
    """
    asked = material.asked
    found = _THAN.search(asked.question.text)
    if found is None:
        return None
    # One of the next four words names the column; in "below the minimum stock", the first does.
    said = asked.question.stems(" ".join(words(found["limit"])[:4]))
    limit = next((c for stem in said for c in grid.columns[1:] if stem in asked.column_stems(c)), "")
    others = [column for column in grid.columns[1:] if column != limit and len(_pairs(grid, column, limit)) > 1]
    if not limit or not others:
        return None
    named_by = [asked.share(asked.column_stems(column) - asked.column_stems(limit)) for column in others]
    fits = map(sum, zip(material.similarity(list(map(spelled, others))), named_by, strict=True))
    column = max(zip(fits, others, strict=True))[1]
    pairs = (pair if found["high"] is not None else pair[::-1] for pair in _pairs(grid, column, limit))
    places = frozenset(_place(value) for a, b in pairs if a.key > b.key for value in (a, b))
    stems = frozenset(asked.question.stems(found.group())) & asked.question.weights.keys()
    return column, limit, stems, lambda value: value is not None and _place(value) in places


def _pairs(grid: Grid, column: str, other: str) -> list[tuple[Value, Value]]:
    """Return the values of two columns in the rows where they can be compared."""
    rows = ((row.value_of(column), row.value_of(other)) for row in grid.records)
    return [(a, b) for a, b in rows if a is not None and b is not None and are_alike([a, b])]


def _place(value: Value) -> tuple[tuple[str, int], int]:
    return value.sentence.place, value.start
