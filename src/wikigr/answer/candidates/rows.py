"""All rows that fit what a question says of the columns of a table: a value, an amount, a date, or that it is empty."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation, quotation_of
from wikigr.answer.candidates.grid import TRUTHS, Asked, Grid, Record, Value, spelled
from wikigr.question.dates import Dates
from wikigr.question.grammar import is_negation
from wikigr.question.intent import asked_for
from wikigr.question.measure import operation
from wikigr.question.values import Amounts
from wikigr.text import words

# Rows that are quoted.
_MAX_ROWS = 12
# "Which course has no trainer?"
_HAS_NO = re.compile(r"\b(?:has|have|had)\s+(?:no|not\s+any)\b", re.IGNORECASE)

# Says whether a value, or that there is none, fits.
Test = Callable[[Value | None], bool]


@dataclass(frozen=True)
class Condition:
    """What the question says of ``column`` with ``stems``; ``test`` takes its value in a row, or ``None``."""

    column: str
    stems: frozenset[str]
    test: Test


def find_rows(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the rows that fit all that the question says of the columns of their table, and those that fit a part."""
    found: dict[tuple[Record, ...], AnswerCandidate] = {}
    for grid in material.grids:
        conditions = conditions_of(material, grid)
        best_first = [conditions[:count] for count in range(len(conditions), 1, -1)]
        for chosen in (*best_first, *([condition] for condition in conditions)):
            rows = tuple(row for row in grid.records if all(c.test(row.value_of(c.column)) for c in chosen))
            if _is_choice(material, rows, grid, chosen):
                found.setdefault(rows, _candidate(material, grid, rows, chosen))
    yield from sorted(found.values(), key=lambda candidate: -candidate.fit)[:6]


def fitting_rows(grid: Grid, conditions: Sequence[Condition]) -> tuple[Record, ...]:
    """Return the rows that fit as many of ``conditions`` as fit together, the first ones first; all without any."""
    rows = grid.records
    for condition in conditions:
        rows = tuple(row for row in rows if condition.test(row.value_of(condition.column))) or rows
    return rows


def _is_choice(material: Material, rows: Sequence[Record], grid: Grid, chosen: Sequence[Condition]) -> bool:
    if not rows or len(rows) == len(grid.records):
        return False
    is_list, is_count = asked_for(material.question) == "list", operation(material.question.text) == "count"
    # Where all are asked for, some of many are shown.
    if len(rows) > _MAX_ROWS and not (is_list or is_count):
        return False
    # One row answers a question for all that there are, and for what has no value; for others, its cells do.
    has_none = _HAS_NO.search(material.question.text) and any(condition.test is _is_missing for condition in chosen)
    return len(rows) > 1 or is_list or bool(has_none)


def _candidate(material: Material, grid: Grid, rows: Sequence[Record], chosen: Sequence[Condition]) -> AnswerCandidate:
    """Return the rows with the values of the column that the question begins with, or else their names."""
    asked = material.asked
    taken = {condition.column for condition in chosen}
    column = next((name for name in grid.columns if name not in taken and asked.begins_with(name)), "")
    shown = rows[:_MAX_ROWS]
    names = (value.text if (value := row.value_of(column)) is not None else row.named_for(asked) for row in shown)
    said = frozenset[str]().union(*(condition.stems for condition in chosen))
    said |= frozenset(asked.question.stems(" ".join(map(spelled, (*taken, column)))))
    # What a question wants of a single row may be in any of its columns.
    quoted = {*taken, column} if len(rows) > 1 else set(grid.columns)
    quotations = tuple(dict.fromkeys(quotation for row in shown for quotation in _quoted(row, quoted)))
    # Further rows may be in other sections.
    least = "" if grid.is_whole(material.whole) else "At least "
    some = f", of which {len(shown)} are shown" if len(rows) > len(shown) else ""
    lead = f"{least}{len(rows)} row{'s' if len(rows) > 1 else ''}{some}: {'; '.join(names)}."
    kind = "count" if operation(asked.question.text) == "count" else "rows"
    return AnswerCandidate(kind, quotations, lead=lead, fit=asked.share(said | material.place_stems(rows[0].section)))


def _quoted(row: Record, columns: Set[str]) -> Iterator[Quotation]:
    """Yield what states the values in ``columns``: of a row, the cells up to the last of them."""
    values = [value for value in row.values if value.column in columns] or row.values[:1]
    if row.is_article:
        yield from (quotation_of(value.sentence) for value in values)
    else:
        yield row_up_to(values)


def row_up_to(values: Sequence[Value]) -> Quotation:
    """Return the row that has ``values``, up to the last of them."""
    return replace(quotation_of(values[0].sentence), end=max(value.end for value in values))


def conditions_of(material: Material, grid: Grid) -> list[Condition]:
    """Return what the question says of the columns of ``grid``, most of the question first."""
    return sorted(_conditions(material, grid), key=lambda condition: -material.asked.share(condition.stems))


def _conditions(material: Material, grid: Grid) -> Iterator[Condition]:
    asked = material.asked
    column_stems = {column: frozenset(asked.question.stems(spelled(column))) for column in grid.columns}
    negations = frozenset(asked.question.stems(" ".join(filter(is_negation, words(asked.question.text)))))
    for column in grid.columns:
        # A word that names another column says nothing of the values of this one, and "no" is no value.
        others = negations.union(*(stems for name, stems in column_stems.items() if name != column))
        values = [value for record in grid.records if (value := record.value_of(column)) is not None]
        # The rows are of the kind that the question names ("category: stoves") whose values have most of its words.
        best = max((asked.named_in(value) - others for value in values), key=asked.share, default=frozenset[str]())
        if best:
            yield Condition(column, best, partial(_names_all, asked, best))
    tests: list[tuple[frozenset[str], Test]] = [
        (stems, partial(_has_amount, amounts)) for amounts, stems in asked.amounts if amounts.is_range
    ]
    tests += [(stems, partial(_has_date, dates)) for dates, stems in asked.dates if dates.is_range]
    for column, own in column_stems.items():
        said = {value.text.strip().lower() for row in grid.records if (value := row.value_of(column)) is not None}
        if own and own <= asked.question.weights.keys() and said <= TRUTHS and not negations:
            yield Condition(column, own, lambda value: not _is_missing(value))
    if negations:
        tests.append((negations, _is_missing))
    for stems, test in tests:
        passed = {name: [test(record.value_of(name)) for record in grid.records] for name in grid.columns}
        telling = [name for name, flags in passed.items() if any(flags) and not all(flags)]
        if telling:
            # What is missing is said after the negation: "Which berths have no electricity?"
            compare = asked.negated.similarity if test is _is_missing else material.similarity
            nearest = compare(list(map(spelled, telling)))
            named = [asked.share(set(asked.question.stems(spelled(name)))) for name in telling]
            fits = [cosine + share for cosine, share in zip(nearest, named, strict=True)]
            yield Condition(telling[fits.index(max(fits))], stems, test)


def _names_all(asked: Asked, stems: frozenset[str], value: Value | None) -> bool:
    return value is not None and stems <= asked.named_in(value)


def _has_amount(asked: Amounts, value: Value | None) -> bool:
    return value is not None and any(asked.holds(amounts) for amounts in value.amounts)


def _has_date(asked: Dates, value: Value | None) -> bool:
    return value is not None and any(map(asked.holds, value.dates))


def _is_missing(value: Value | None) -> bool:
    return value is None or value.is_empty
