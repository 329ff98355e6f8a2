"""What follows from the rows of a whole table: the sum of a column, the highest or lowest value, the larger of two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation
from wikigr.answer.candidates.grid import Grid, Record, Value, is_blank, spelled
from wikigr.answer.candidates.rows import conditions_of, fitting_rows, row_up_to
from wikigr.question.comparison import compared_sides
from wikigr.question.intent import asks_yes_no
from wikigr.question.measure import Grade, comparative, is_of, names_sum, operation, superlative
from wikigr.reader.passage import Span
from wikigr.text import words

# Rows that are added up and quoted.
_MAX_ROWS = 40
# The least cosine of the question and the name of a column that it does not name.
_MIN_COSINE = 0.3
_MAX_CANDIDATES = 3


def find_computed(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the sums and the extremes that the question asks for, of whole tables; their rows are quoted."""
    wanted = operation(material.question.text)
    if wanted not in ("sum", "extreme") or compared_sides(material.question.text) is not None:
        return
    grade = superlative(material.question.text)
    found: list[AnswerCandidate] = []
    for table in material.grids:
        # A row of totals is none of those that it adds up.
        grid = Grid(table.columns, tuple(row for row in table.records if not names_sum(row.values[0].text)))
        if len(grid.records) < 2 or not table.is_whole(material.whole):
            continue
        column = measured_column(material, grid, grade)
        # "Which room has the most beds?" says nothing of a room with a sofa bed.
        named = material.place_stems(grid.records[0].section) | set(material.question.stems(spelled(column)))
        conditions = [c for c in conditions_of(material, grid) if c.column != column and not c.stems <= named]
        rows = fitting_rows(grid, conditions)
        values = [value for row in rows if (value := row.value_of(column)) is not None and not is_blank(value.text)]
        made = None
        if column and len(values) > 1:
            made = _sum(rows, values) if grade is None else _extreme(rows, values, grade)
        if made is not None:
            covered = _said(material, rows[0]).union(*(condition.stems for condition in conditions))
            found.append(replace(made, fit=material.asked.share(covered)))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:_MAX_CANDIDATES]


def find_compared(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the rows of the two things that a question compares, with the values side by side.

    The one that the question asks for is named first, or yes or no is said, where both values are of one type.
    """
    sides = compared_sides(material.question.text)
    if sides is None:
        return
    grade = comparative(material.question.text)
    stems = [frozenset(material.question.stems(side)) & material.question.weights.keys() for side in sides]
    found = []
    for grid in material.grids:
        named = list(filter(None, (_row_of(material, grid, own, other) for own, other in (stems, stems[::-1]))))
        if len(named) == 2 and named[0][0] is not named[1][0]:
            column = measured_column(material, grid, grade)
            rows, names = zip(*named, strict=True)
            found.append(_compared(material, rows, names, column, grade))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:_MAX_CANDIDATES]


def measured_column(material: Material, grid: Grid, grade: Grade | None) -> str:
    """Return the column whose values are compared or added, or nothing: what the question names or measures by."""
    asked = material.asked
    # The first column names the rows.
    kinds = {column: _kind_of(grid, column) for column in grid.columns[1:]}
    measurable = {c: found for c, found in kinds.items() if found[0] and (grade is not None or found[0] == "number")}
    if not measurable:
        return ""
    cosines = material.similarity(list(map(spelled, measurable)))
    scores = {}
    for (column, (kind, share)), cosine in zip(measurable.items(), cosines, strict=True):
        named = asked.share(frozenset(asked.question.stems(spelled(column))))
        values = (value.text for record in grid.records[:3] if (value := record.value_of(column)) is not None)
        is_time = kind != "number"
        fits = grade is not None and (
            is_time if grade.dimension == "time" else is_of(grade.dimension, " ".join((spelled(column), *values)))
        )
        if named or fits or (cosine >= _MIN_COSINE and (grade is None or is_time == (grade.dimension == "time"))):
            scores[column] = 3.0 * named + fits + share + cosine
    return max(scores, key=lambda column: scores[column], default="")


def _kind_of(grid: Grid, column: str) -> tuple[str, float]:
    """Return what most values of ``column`` are ("date", "clock" or "number") and their share, or nothing."""
    values = [v for record in grid.records if (v := record.value_of(column)) is not None and not is_blank(v.text)]
    kinds = Counter(value.measured.kind for value in values if value.measured is not None)
    kind, count = kinds.most_common(1)[0] if kinds else ("", 0)
    # Of the values of a column, 60 of 100 must be comparable.
    return (kind, count / len(values)) if count >= max(2, 0.6 * len(values)) else ("", 0.0)


def _highest(grade: Grade, values: Sequence[Value]) -> bool:
    """Return whether the greatest value is asked for: of ages, the oldest is the greatest, of dates the least."""
    is_number = all(value.measured is not None and value.measured.kind == "number" for value in values)
    return grade.highest != (grade.dimension == "time" and is_number)


def _extreme(rows: Sequence[Record], values: Sequence[Value], grade: Grade) -> AnswerCandidate | None:
    column = values[0].column
    values = [value for value in values if value.measured is not None]
    if not _are_alike(values):
        return None
    choose = max if _highest(grade, values) else min
    best = choose(map(_key, values))
    chosen = [row for row in rows if (v := row.value_of(column)) is not None and v.measured and _key(v) == best]
    names = "; ".join(f"{row.name} ({value.text})" for row in chosen if (value := row.value_of(column)) is not None)
    lead = f"{names}: the {grade.words} of {len(values)} rows by {spelled(column)}."
    first = chosen[0].values[0]
    span = Span(first.start, first.end, 0.0) if len(chosen) == 1 else None
    return AnswerCandidate("computed", _quoted(chosen[:_MAX_ROWS]), span=span, lead=lead)


def _sum(rows: Sequence[Record], values: Sequence[Value]) -> AnswerCandidate | None:
    if len(values) > _MAX_ROWS or not _are_alike(values):
        return None
    digits = max(len(value.text.strip().rpartition(".")[2]) if "." in value.text else 0 for value in values)
    total = sum(_key(value)[0] for value in values)
    column = values[0].column
    names = "; ".join(value.text for value in values)
    lead = f"{total:.{min(digits, 3)}f} in total ({spelled(column)} of {len(values)} rows): {names}."
    places = {(value.sentence.place, value.start) for value in values}
    added = [row for row in rows if (v := row.value_of(column)) and (v.sentence.place, v.start) in places]
    return AnswerCandidate("computed", _quoted(added), lead=lead)


def _compared(
    material: Material, rows: Sequence[Record], names: Sequence[str], column: str, grade: Grade | None
) -> AnswerCandidate:
    one, other = (row.value_of(column) for row in rows)
    said = verdict = ""
    if one is not None and other is not None:
        said = f"{spelled(column)}: {names[0]} {one.text}; {names[1]} {other.text}."
    if grade is not None and one is not None and other is not None and _are_alike([one, other]):
        a, b = _key(one), _key(other)
        is_first = a > b if _highest(grade, (one, other)) else a < b
        if asks_yes_no(material.question):
            verdict = "Yes. " if is_first else "No. "
        else:
            verdict = "Both are equal. " if a == b else f"{names[0 if is_first else 1]}. "
    fit = material.asked.share(
        _said(material, rows[0]) | frozenset(material.question.stems(" ".join((*names, column))))
    )
    return AnswerCandidate("compared", _quoted(rows), lead=f"{verdict}{said}", fit=fit)


def _row_of(material: Material, grid: Grid, own: frozenset[str], other: frozenset[str]) -> tuple[Record, str] | None:
    """Return the row with the value that is nearest to the words of one side, and that value, or ``None``.

    Of two such values, that of the earlier column names the row; two rows are not told apart.
    """
    ranked = []
    for number, record in enumerate(grid.records):
        for place, value in enumerate(record.values):
            stems = set(material.question.stems(value.text))
            if stems and (own <= stems or stems <= own) and not (other - own) & stems:
                ranked.append((len(own ^ stems), place, number))
    ranked.sort()
    if not own or not ranked or (len(ranked) > 1 and ranked[0][:2] == ranked[1][:2]):
        return None
    row = grid.records[ranked[0][2]]
    return row, row.values[ranked[0][1]].text


def _are_alike(values: Sequence[Value]) -> bool:
    """Return whether all ``values`` can be compared: dates, times of day, or numbers in one unit."""
    kinds = {value.measured.kind if value.measured is not None else "" for value in values}
    units = {amounts.unit for value in values for amounts in value.amounts[:1]} if kinds == {"number"} else set[str]()
    return len(kinds) == 1 and "" not in kinds and len(units) <= 1


def _key(value: Value) -> tuple[float, ...]:
    assert value.measured is not None
    return value.measured.key


def _quoted(rows: Sequence[Record]) -> tuple[Quotation, ...]:
    return tuple(row_up_to(row.values) for row in rows)


def _said(material: Material, row: Record) -> frozenset[str]:
    """Return the stems of the place of a table, of the names of its columns, and of what the question compares by."""
    graded = [word for word in words(material.question.text) if comparative(word) is not None]
    named = " ".join((*(spelled(value.column) for value in row.values), *graded))
    return material.place_stems(row.section) | frozenset(material.question.stems(named))
