"""Numbers and values of tables are compared as what they are, however they are written."""

from __future__ import annotations

import math

import pytest

from wikigr.question.values import Amounts, Measured, amounts_in, measured


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("1,405", 1405, 1405, ""),
        ("0.48 / kWh", 0.48, 0.48, ""),
        ("up to 11 m", -math.inf, 11, "m"),
        ("over 15 m", 15, math.inf, "m"),
        ("5–10 t", 5, 10, "t"),
        ("3 to 5 days", 3, 5, "days"),
        ("≤ 2 %", -math.inf, 2, "%"),
        ("more than 30", 30, math.inf, ""),
    ],
)
def test_amounts_and_ranges(text: str, low: float, high: float, unit: str) -> None:
    ((amounts, start, end),) = amounts_in(text)
    assert amounts == Amounts(low, high, unit)
    assert text[start].isdigit() and text[end - 1].isdigit()


def test_a_range_holds_what_has_the_same_unit_or_none() -> None:
    up_to = Amounts(-math.inf, 11, "m")
    assert up_to.holds(Amounts(10.5, 10.5, "m")) and up_to.holds(Amounts(10.5, 10.5))
    assert not up_to.holds(Amounts(10.5, 10.5, "t")) and not up_to.holds(Amounts(12, 12, "m"))


def test_numbers_of_days_are_no_amounts() -> None:
    assert [amounts.low for amounts, _, _ in amounts_in("on 4 May for 12 people")] == [12]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 600 kg", Measured("number", (1600,))),
        ("ca. 14.5", Measured("number", (14.5,))),
        ("€ 12", Measured("number", (12,))),
        ("2021", Measured("date", (2021, 0, 0))),
        ("2016-10", Measured("date", (2016, 10, 0))),
        ("08/2026", Measured("date", (2026, 8, 0))),
        ("4 March 2025", Measured("date", (2025, 3, 4))),
        ("17:30, Mon–Fri", Measured("clock", (1050,))),
        ("up to 7 m", None),
        ("26 + 3", None),
        ("H-2020", None),
        ("none", None),
    ],
)
def test_a_value_that_can_be_compared(text: str, value: Measured | None) -> None:
    assert measured(text) == value
