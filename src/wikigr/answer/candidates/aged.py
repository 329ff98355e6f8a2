"""The rows and columns of a table that are for the age that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from wikigr.answer.candidates.grid import Grid, grids_of, spelled
from wikigr.question.ages import is_for_age
from wikigr.retrieval.sentences import SentenceScore
from wikigr.text import words

# Words that say that numbers beside them are ages.
_OF_AGES = re.compile(r"\b(?:adults?|age[ds]?|child(?:ren)?|juniors?|kids?|old|seniors?|teen\w*|years?|yrs?)\b", re.I)


def without_other_ages(sentences: Sequence[SentenceScore], age: int) -> Sequence[SentenceScore]:
    """Return ``sentences`` without the rows of tables that are for other ages, where a row of the table is for it."""
    in_order = sorted(sentences, key=lambda sentence: sentence.place)
    grids = list(grids_of([list(own) for _, own in groupby(in_order, key=lambda s: s.section.section_id)]))
    dropped = set(_places(grids)) - set(_places(for_age(grid, age) for grid in grids))
    return [sentence for sentence in sentences if sentence.place not in dropped]


def _places(grids: Iterable[Grid]) -> Iterator[tuple[str, int]]:
    return (value.sentence.place for grid in grids for record in grid.records for value in record.values)


def for_age(grid: Grid, age: int) -> Grid:
    """Return ``grid`` without the rows and the columns that are for other ages than ``age``, if it has any for it.

    Columns that share a word with the one for the age are for others: "Price adults", "Price children 6–12".
    """
    records = grid.records
    for column in grid.columns:
        values = ((row, value) for row in records if (value := row.value_of(column)) is not None)
        stated = [(row, _is_for(age, f"{spelled(column)}: {value.text}")) for row, value in values]
        if any(fits is False for _, fits in stated):
            records = tuple(row for row, fits in stated if fits) or records
    own = {column for column in grid.columns if _is_for(age, spelled(column))}
    shared = {word for column in own for word in words(column) if not word.isdecimal()}
    others = {column for column in grid.columns if column not in own and not shared.isdisjoint(words(column))}
    kept = (replace(row, values=tuple(v for v in row.values if v.column not in others)) for row in records)
    return replace(grid, records=tuple(record for record in kept if record.values))


def _is_for(age: int, text: str) -> bool | None:
    return is_for_age(age, text) if _OF_AGES.search(text) else None
