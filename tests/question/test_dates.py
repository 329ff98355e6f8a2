"""Dates are compared as days, however they are written."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.question.dates import (
    Date,
    Dates,
    date_phrases,
    dates_asked_for,
    dates_in,
    is_dated,
    quarters_in,
    with_weekdays,
)
from wikigr.question.values import amounts_in


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2025-04-04", Date(2025, 4, 4)),
        ("4.4.2025", Date(2025, 4, 4)),
        ("04/04/25", Date(2025, 4, 4)),
        ("22.3.", Date(0, 3, 22)),
        ("22 March", Date(0, 3, 22)),
        ("Mar 22, 2024", Date(2024, 3, 22)),
        ("the 1st of May 2020", Date(2020, 5, 1)),
        ("Sept 1999", Date(1999, 9, 0)),
        ("in May", Date(0, 5, 0)),
    ],
)
def test_dates_in_usual_forms(text: str, date: Date) -> None:
    assert [found for found, _, _ in dates_in(text)] == [date]


@pytest.mark.parametrize("text", ["may I come in", "they march on", "version 2.10", "40.13.", "555-0101", "marching"])
def test_what_is_no_date(text: str) -> None:
    assert dates_in(text) == []


def test_dates_are_the_same_as_far_as_they_are_said() -> None:
    day = Date(2025, 4, 4)
    assert day.is_same(Date(0, 4, 4)) and day.is_same(Date(2025, 4, 0))
    assert not day.is_same(Date(2024, 4, 4)) and not day.is_same(Date(0, 4, 5))
    assert Date(0, 3, 31).is_before(day) and Date(2024, 12, 31).is_before(day) and not day.is_before(day)


@pytest.mark.parametrize(
    ("text", "held", "others"),
    [
        ("after 4 May 2025", [Date(2025, 5, 5)], [Date(2025, 5, 4), Date(2025, 4, 30)]),
        ("since 4 May 2025", [Date(2025, 5, 4)], [Date(2025, 5, 3)]),
        ("from 4 May 2025 onwards", [Date(2025, 5, 4), Date(2025, 5, 5)], [Date(2025, 5, 3)]),
        ("the letter from 4 May 2025", [Date(2025, 5, 4)], [Date(2025, 5, 5), Date(2025, 5, 3)]),
        ("after the May concert", [Date(2025, 5, 9)], [Date(2025, 6, 1)]),
        ("before the June 9 match", [Date(2025, 6, 8)], [Date(2025, 6, 10)]),
        ("until the 4 May", [Date(2025, 5, 4), Date(0, 1, 1)], [Date(2025, 5, 5)]),
        ("from 4 May to 6 May 2025", [Date(2025, 5, 4), Date(0, 5, 6)], [Date(2025, 5, 7), Date(2024, 5, 5)]),
        ("between 30 Dec 2024 and 2 Jan 2025", [Date(2025, 1, 1)], [Date(2025, 12, 31)]),
        ("before 2010", [Date(2009, 12, 31)], [Date(2010, 1, 1), Date(2010, 0, 0)]),
        ("in May 2025", [Date(2025, 5, 31)], [Date(2024, 5, 1)]),
        ("before the end of 2025", [Date(2025, 12, 31)], [Date(2026, 1, 1)]),
        ("until the beginning of June 2025", [Date(2025, 5, 31)], [Date(2025, 6, 1)]),
        ("after the end of May 2025", [Date(2025, 6, 1)], [Date(2025, 5, 31)]),
        (
            "between the end of May and the beginning of July 2025",
            [Date(2025, 6, 15)],
            [Date(2025, 5, 3), Date(2025, 7, 28)],
        ),
        ("before the end of the year 2025", [Date(2025, 12, 31)], [Date(2026, 1, 1)]),
        ("from the beginning of May to the end of June 2025", [Date(2025, 6, 30)], [Date(2025, 7, 1)]),
    ],
)
def test_a_question_asks_for_days_or_a_range_of_them(text: str, held: list[Date], others: list[Date]) -> None:
    ((dates, _, _),) = dates_asked_for(text)
    assert all(map(dates.holds, held))
    assert not any(map(dates.holds, others))


def test_quarters_in_usual_forms() -> None:
    text = "Q1, the second quarter, quarter 3 and the 4th quarter; q5, a quarter, FAQ1"
    assert [quarter for quarter, _, _ in quarters_in(text)] == [1, 2, 3, 4]


@given(st.text(alphabet="0123456789.,-–/ tomayjune", max_size=200))
def test_any_text_is_read(text: str) -> None:
    for _, start, end in (*dates_in(text), *amounts_in(text)):
        assert 0 <= start < end <= len(text)


def test_a_question_asks_for_days_and_months() -> None:
    (day,) = dates_asked_for("What was noted on June 9th?")
    assert day == (Dates(Date(0, 6, 9), Date(0, 6, 9)), 18, 26)
    ends = [dates for dates, _, _ in dates_asked_for("Who joined after 1 May 2024 and before 3 June?")]
    assert ends == [Dates(Date(2024, 5, 1), None, False), Dates(None, Date(0, 6, 3), False)]
    assert dates_asked_for("May I burn leaves?") == []


def test_an_entry_of_a_log_begins_with_its_date() -> None:
    day = Dates(Date(2025, 6, 9), Date(2025, 6, 9))
    assert [is_dated(line, day) for line in ("9/6 late - Ann", "2025-06-09 bees", "Mon 9 June: frost")] == [True] * 3
    assert [is_dated(line, day) for line in ("8/6 late", "2025-06-10", "Frost again", "1/2 cup")] == [
        False,
        False,
        None,
        False,
    ]


def test_a_day_is_written_in_many_ways() -> None:
    assert {"9 June", "June 9", "Jun 9", "06 09", "9 6"} <= set(date_phrases(Dates(Date(2025, 6, 9), Date(2025, 6, 9))))
    assert {"8 June", "9 June"} <= set(date_phrases(Dates(Date(2025, 6, 8), Date(2025, 6, 14))))
    assert date_phrases(Dates(Date(2025, 6, 0), Date(2025, 6, 0))) == []


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("Tue+Thu 9–12", "Tuesday+Thursday 9–12"),
        ("Thurs. and Sundays", "Thursday and Sunday"),
        ("Fri – Mon", "Friday Saturday Sunday Monday"),
        ("Monday to Wednesday", "Monday Tuesday Wednesday"),
        ("Money, sat, Friedrich, Tue's", "Money, sat, Friedrich, Tue's"),
    ],
)
def test_weekdays_are_written_in_full(text: str, spelled: str) -> None:
    assert with_weekdays(text) == spelled


def test_time_grows_with_the_number_of_dates() -> None:
    def seconds(dates: int) -> float:
        start = time.process_time()
        amounts_in("1 May 1904 and 3 kg, " * dates)
        return time.process_time() - start

    # Four times the text takes four times as long; quadratic growth would take sixteen times. The best of three runs.
    assert any(seconds(8_000) < 9 * seconds(2_000) for _ in range(3))
