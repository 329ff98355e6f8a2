"""The headers of tables that do not mark them: several levels of names, and data that is no header."""

from __future__ import annotations

import pytest

from wikigr.sources.header import mark_header
from wikigr.sources.tables import Cell, Row, name_columns

# A text, or a text with the columns and the rows that it spans.
Spanned = str | tuple[str, int, int]
NUMBERS: list[list[Spanned]] = [["North", "1", "2", "3", "4"], ["South", "5", "6", "7", "8"]]
PEOPLE: list[list[Spanned]] = [["Mon", "Ann", "Bob"], ["Tue", "Cid", "Dan"]]
UNITS: list[Spanned] = ["Units", "Sales", "Units", "Sales"]
TWO = "Region: North | 2024 Units: 1 | 2024 Sales: 2 | 2025 Units: 3 | 2025 Sales: 4"
THREE = "Region: North | 2024 Q1 Units: 1 | 2024 Q1 Sales: 2 | 2024 Q2 Units: 3 | 2024 Q2 Sales: 4"
LEVELS: dict[str, tuple[list[list[Spanned]], str]] = {
    "merged over columns and rows": ([[("Region", 1, 2), ("2024", 2, 1), ("2025", 2, 1)], UNITS, *NUMBERS], TWO),
    "merged over columns, name above": ([["Region", ("2024", 2, 1), ("2025", 2, 1)], ["", *UNITS], *NUMBERS], TWO),
    "merged over columns, name below": ([["", ("2024", 2, 1), ("2025", 2, 1)], ["Region", *UNITS], *NUMBERS], TWO),
    "repeated": ([["Region", "2024", "2024", "2025", "2025"], ["Region", *UNITS], *NUMBERS], TWO),
    "repeated, name below": ([["", "2024", "2024", "2025", "2025"], ["Region", *UNITS], *NUMBERS], TWO),
    "followed by empty cells": ([["Region", "2024", "", "2025", ""], ["", *UNITS], *NUMBERS], TWO),
    "below a title": ([[("Sales", 5, 1)], ["Region", "2024", "", "2025", ""], ["", *UNITS], *NUMBERS], TWO),
    "below a title in its first cell": ([["Sales", "", "", "", ""], [("Region", 1, 2), ("2024", 2, 1), ("2025", 2, 1)],
     UNITS, *NUMBERS], TWO),
    "three, merged": ([[("Region", 1, 3), ("2024", 4, 1)], [("Q1", 2, 1), ("Q2", 2, 1)], UNITS, *NUMBERS], THREE),
    "three, followed by empty cells": ([["Region", "2024", "", "", ""], ["", "Q1", "", "Q2", ""], ["", *UNITS],
     *NUMBERS], THREE),
    "four, repeated": ([["Region", "Plan", "Plan", "Plan", "Plan"], ["Region", "2024", "2024", "2024", "2024"],
     ["Region", "Q1", "Q1", "Q2", "Q2"], ["Region", *UNITS], *NUMBERS],
     "Region: North | Plan 2024 Q1 Units: 1 | Plan 2024 Q1 Sales: 2 | Plan 2024 Q2 Units: 3 | Plan 2024 Q2 Sales: 4"),
    "without a name for the rows": ([["", ("2024", 2, 1), ("2025", 2, 1)], ["", *UNITS], *NUMBERS],
     TWO.replace("Region: ", "")),
    "over some columns": ([[("Van", 1, 2), ("City", 2, 1), ("Note", 1, 2)], ["min", "max"], ["V1", "6", "9", "old"],
     ["V2", "7", "8", "new"]], "Van: V1 | City min: 6 | City max: 9 | Note: old"),
    "over one column too": ([[("Van", 1, 2), ("City", 2, 1), "Road"], ["min", "max", "avg"], ["V1", "6", "9", "5"],
     ["V2", "7", "8", "6"]], "Van: V1 | City min: 6 | City max: 9 | Road avg: 5"),
    "no label for the last column": ([["Region", "2024", "", "2025", "", ""], ["", *UNITS, "Note"],
     ["North", "1", "2", "3", "4", "ok"], ["South", "1", "2", "3", "4", "ok"]], f"{TWO} | Note: ok"),
    "of numbers": ([[("Crew", 1, 2), ("Week", 3, 1)], ["1", "2", "3"], ["Ann", "5", "6", "7"], ["Bob", "5", "6", "7"]],
     "Crew: Ann | Week 1: 5 | Week 2: 6 | Week 3: 7"),
    "with words": ([[("Item", 1, 2), ("Contact", 2, 1)], ["Phone", "Mail"], ["Ann", "none", "a@b"],
     ["Bob", "home", "b@c"]], "Item: Ann | Contact Phone: none | Contact Mail: a@b"),
    "without a column for the rows": ([[("2024", 2, 1), ("2025", 2, 1)], UNITS, ["1", "2", "3", "4"],
     ["5", "6", "7", "8"]], TWO.replace("Region: North | ", "")),
}  # fmt: skip
# What is below a header of one row.
DATA: dict[str, tuple[list[list[Spanned]], str]] = {
    "repeated names": ([["Day", "Shift", "Shift"], *PEOPLE], "Day: Mon | Shift: Ann | Shift: Bob"),
    "a merged name": ([["Day", ("Shift", 2, 1)], *PEOPLE], "Day: Mon | Shift: Ann | Shift: Bob"),
    "repeated names without one for the rows": ([["", "Shift", "Shift"], *PEOPLE], "Mon | Shift: Ann | Shift: Bob"),
    "a missing name": ([["Name", "Phone", "", "City"], ["Ann", "551", "552", "Oslo"], ["Bob", "553", "554", "Rome"]],
     "Name: Ann | Phone: 551 | 552 | City: Oslo"),
    "names with digits": ([["Region", "Q1", "Q2"], ["North", "5", "6"], ["South", "7", "8"]],
     "Region: North | Q1: 5 | Q2: 6"),
    "merged data": ([["Day", "Room", "Talk"], ["Mon", ("Hall", 2, 1)], ["Tue", "Attic", "Boats"]],
     "Day: Mon | Room, Talk: Hall"),
    "names beside values": ([["Name", "Pixmill"], ["Version", "3.2"], ["License", "MIT"]], "Name | Pixmill"),
}  # fmt: skip


def lines(rows: list[list[Spanned]]) -> list[str]:
    made = [
        Row([Cell(cell) if isinstance(cell, str) else Cell(cell[0], False, *cell[1:]) for cell in row]) for row in rows
    ]
    marked, _ = mark_header(made)
    return [line for row in name_columns(marked) for line in row.lines]


@pytest.mark.parametrize(("rows", "expected"), LEVELS.values(), ids=LEVELS)
def test_levels_of_a_header_are_joined(rows: list[list[Spanned]], expected: str) -> None:
    assert expected in lines(rows)
    titles = sum(row[0] in ("Sales", ("Sales", 5, 1)) for row in rows)
    assert len(lines(rows)) == 2 + titles


@pytest.mark.parametrize(("rows", "expected"), DATA.values(), ids=DATA)
def test_rows_of_data_are_no_level(rows: list[list[Spanned]], expected: str) -> None:
    assert lines(rows)[0] == expected


def test_more_levels_than_a_header_has_are_data() -> None:
    level: list[Spanned] = ["Region", "a", "a", "b", "b"]
    rows = [level] * 9 + [["Region", *UNITS], *NUMBERS]
    assert any("North" in line for line in lines(rows))


def test_spans_beyond_the_limits_take_no_time() -> None:
    wide: list[list[Spanned]] = [[("Region", 1, 65_534), ("x", 10**9, 10**9)], ["a", "b"], *NUMBERS]
    assert lines(wide)


def test_a_first_level_that_is_marked_spans_into_the_next_one() -> None:
    first = Row([Cell("Region", True, 1, 2), Cell("2024", True, 2), Cell("2025", True, 2)])
    others = [Row([Cell(str(text)) for text in row]) for row in (UNITS, *NUMBERS)]
    marked, _ = mark_header([first, *others])
    assert next(line for row in name_columns(marked) for line in row.lines) == TWO
