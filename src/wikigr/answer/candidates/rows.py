"""All rows that fit what a question says of the columns of a table: a value, an amount, a date, or that it is empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from wikigr.answer.candidates.candidate import AnswerCandidate, Material
from wikigr.answer.candidates.grid import Asked, Grid, Record, Value, grids_of, spelled
from wikigr.question.grammar import is_negation
from wikigr.question.intent import asked_for
from wikigr.question.values import Amounts, Date, Order
from wikigr.text import words

_MAX_ROWS = 12
_MAX_TABLES = 6


@dataclass(frozen=True)
class _Condition:
    """What the question says of ``column`` with ``stems``; ``test`` takes its value in a row, or ``None``."""

    column: str
    stems: frozenset[str]
    test: Callable[[Value | None], bool]


def find_rows(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the rows that fit all that the question says of the columns of their table, and those that fit a part."""
    asked = Asked.by(material.question)
    found: dict[tuple[Record, ...], AnswerCandidate] = {}
    for grid in grids_of(material):
        conditions = list(_conditions(material, asked, grid))
        for chosen in (conditions, *([condition] for condition in conditions)):
            rows = tuple(r for r in grid.records if all(c.test(r.value_of(c.column)) for c in chosen))
            if chosen and _is_choice(material, rows, grid):
                found.setdefault(rows, _candidate(material, asked, grid, rows, chosen))
    yield from sorted(found.values(), key=lambda candidate: -candidate.fit)[:_MAX_TABLES]


def _is_choice(material: Material, rows: Sequence[Record], grid: Grid) -> bool:
    if not 0 < len(rows) <= _MAX_ROWS or len(rows) == len(grid.records) > 1:
        return False
    # One row answers a question for all that there are; for others, its cells do.
    return len(rows) > 1 or asked_for(material.question) == "list"


def _candidate(
    material: Material, asked: Asked, grid: Grid, rows: Sequence[Record], chosen: Sequence[_Condition]
) -> AnswerCandidate:
    """Return the rows with the values of the column that the question asks for, or else their names."""
    taken = {condition.column for condition in chosen}
    named = [
        (asked.share(set(asked.question.stems(spelled(name)))), name) for name in grid.columns if name not in taken
    ]
    share, column = max(named, key=lambda item: item[0], default=(0.0, ""))
    names = [(row.value_of(column) if share else None) or row for row in rows]
    listing = "; ".join(name.text if isinstance(name, Value) else name.name for name in names)
    said = frozenset[str]().union(*(condition.stems for condition in chosen))
    said |= frozenset(asked.question.stems(" ".join(map(spelled, {*taken, column}))))
    said |= material.place_stems(rows[0].section)
    quotations = tuple(dict.fromkeys(quotation for row in rows for quotation in row.quotations))
    lead = f"{len(rows)} row{'s' if len(rows) > 1 else ''}: {listing}."
    return AnswerCandidate("rows", quotations, lead=lead, fit=asked.share(said))


def _conditions(material: Material, asked: Asked, grid: Grid) -> Iterator[_Condition]:
    for column in grid.columns:
        values = list(filter(None, (record.value_of(column) for record in grid.records)))
        # A row is of the kind that the question names if one of its values says nothing else ("category: stoves").
        named = {value.text: asked.named_in(value) for value in values if asked.names(value)}
        if named and len(named) < len({value.text for value in values}):
            yield _Condition(column, frozenset[str]().union(*named.values()), partial(_is_one_of, frozenset(named)))
    tests = [(stems, partial(_has_amount, amounts)) for amounts, stems in asked.amounts if amounts.is_range]
    tests += [(stems, partial(_has_date, date, order)) for date, order, stems in asked.dates if order != "same"]
    if any(map(is_negation, words(asked.question.text))):
        tests.append((frozenset(), _is_missing))
    for stems, test in tests:
        telling = [
            name for name in grid.columns if 0 < sum(test(r.value_of(name)) for r in grid.records) < len(grid.records)
        ]
        if telling:
            nearest = material.similarity(list(map(spelled, telling)))
            yield _Condition(telling[nearest.index(max(nearest))], stems, test)


def _is_one_of(texts: frozenset[str], value: Value | None) -> bool:
    return value is not None and value.text in texts


def _has_amount(asked: Amounts, value: Value | None) -> bool:
    return value is not None and any(asked.holds(amounts) for amounts in value.amounts)


def _has_date(asked: Date, order: Order, value: Value | None) -> bool:
    dates = value.dates if value is not None else ()
    return any(asked.is_before(date) if order == "after" else date.is_before(asked) for date in dates)


def _is_missing(value: Value | None) -> bool:
    return value is None or value.is_empty
