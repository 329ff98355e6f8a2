"""The cell of a table, or the property, in the column and the row that the question names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from wikigr.answer.candidates.candidate import AnswerCandidate, Material
from wikigr.answer.candidates.grid import Asked, Grid, Record, Value, grids_of, spelled
from wikigr.question.intent import asks_yes_no
from wikigr.question.question import Question
from wikigr.reader.passage import Span, as_probability

# The best rows, whose columns are compared with the question, and the best of their cells, which compete.
_MAX_RECORDS = 10
_MAX_CELLS = 10
# The weights of the signals of a cell.
_WEIGHTS: Mapping[str, float] = {}
_INTERCEPT = 0.0


@dataclass(frozen=True)
class _NamedRecord:
    """A row with the stems that the question names in each of its values."""

    grid: Grid
    record: Record
    by_value: tuple[frozenset[str], ...]
    rarity: Mapping[str, float]

    @cached_property
    def named(self) -> frozenset[str]:
        return frozenset[str]().union(*self.by_value)


def find_cells(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the cells whose column and row the question names best; ``fit`` is how well it does."""
    if asks_yes_no(material.question):
        return
    fits = [
        (value, as_probability(_INTERCEPT + sum(_WEIGHTS[name] * signal for name, signal in found.items())))
        for value, found in cell_signals(material)
    ]
    for value, fit in sorted(fits, key=lambda item: -item[1])[:_MAX_CELLS]:
        span = Span(value.start, value.end, value.read.margin if value.read is not None else 0.0)
        yield AnswerCandidate("cell", (value.quotation,), span=span, fit=fit)


def cell_signals(material: Material) -> Iterator[tuple[Value, dict[str, float]]]:
    """Yield the cells of the rows that the question names best, with what speaks for each, about -1 to 1.

    ``row`` is the share of the question in the other cells of its row, as far as they tell it from other rows, and
    ``whole`` the share in those that say nothing else. ``column`` is the share in the name of its column, ``header``
    the cosine of that name with the question, and ``below`` how far it is below the nearest column. ``place`` is the
    share in title and heading. ``read`` is the margin of the reader, ``rank`` how far it is below that of the best cell
    of the row, and ``unread`` is 1 without one. ``type`` is 1 if the value is of the type asked for, and -1 if it is
    not. ``named`` is 1 for a value that the question names, and ``key`` for the first of its row.
    """
    asked = Asked.by(material.question)
    rows = _named_records(material, asked)[:_MAX_RECORDS]
    columns = list(dict.fromkeys(value.column for row in rows for value in row.record.values))
    cosines = dict(zip(columns, material.similarity([spelled(column) for column in columns]), strict=True))
    for row in rows:
        values = row.record.values
        nearest = max(cosines[value.column] for value in values)
        margins = [value.read.margin for value in values if value.read is not None]
        for number, value in enumerate(values):
            besides = [n for n in range(len(values)) if n != number]
            others = frozenset[str]().union(*(row.by_value[n] for n in besides))
            whole = frozenset[str]().union(*(row.by_value[n] for n in besides if asked.names(values[n])))
            column = frozenset(asked.question.stems(spelled(value.column)))
            yield (
                value,
                {
                    "row": asked.share(others, row.rarity),
                    "whole": asked.share(whole, row.rarity),
                    "column": asked.share(column),
                    "header": cosines[value.column],
                    "below": cosines[value.column] - nearest,
                    "place": asked.share(material.place_stems(value.quotation.section) - others - column),
                    "read": value.read.margin / 12.0 if value.read is not None else 0.0,
                    "rank": (value.read.margin - max(margins)) / 12.0 if value.read is not None else 0.0,
                    "unread": float(value.read is None),
                    "type": _fits_type(asked.question, value),
                    "named": float(asked.names(value)),
                    "key": float(number == 0),
                },
            )


def _named_records(material: Material, asked: Asked) -> list[_NamedRecord]:
    """Return the rows of the evidence, those first of which the question names most."""
    found: list[_NamedRecord] = []
    for grid in grids_of(material):
        named = [tuple(map(asked.named_in, record.values)) for record in grid.records]
        held = Counter(stem for by_value in named for stem in frozenset[str]().union(*by_value))
        # What most rows have in common tells none of them.
        rarity = {stem: 1.0 - (count - 1) / len(named) for stem, count in held.items()}
        found += (_NamedRecord(grid, *row, rarity) for row in zip(grid.records, named, strict=True))
    return sorted(found, key=lambda row: -asked.share(row.named, row.rarity))


def _fits_type(question: Question, value: Value) -> float:
    """Return 1 if ``value`` is of the type that the question asks for, -1 if it is not, and 0 for any other type."""
    text, kind = value.text.strip(), question.answer_type.name if question.answer_type is not None else ""
    has_digit = any(character.isdigit() for character in text)
    if kind == "name":
        fits = text[:1].isupper() and not has_digit and len(text) <= 60
    elif kind == "date":
        fits = bool(value.dates) or question.is_answer_type_in(text)
    elif kind == "number":
        fits = has_digit and not value.dates
    else:
        return 0.0
    return 1.0 if fits else -1.0
