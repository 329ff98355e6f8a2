from __future__ import annotations

from datetime import date

import pytest

from wikigr.question.dates import with_dates

# A Wednesday.
TODAY = date(2026, 1, 7)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Which invoices are due today?", "Which invoices are due on 7 January 2026?"),
        ("What did the nurse note yesterday", "What did the nurse note on 6 January 2026"),
        ("Who sails tomorrow?", "Who sails on 8 January 2026?"),
        ("Which tasks are due this week?", "Which tasks are due between 5 January 2026 and 11 January 2026?"),
        ("visits in the last week", "visits between 29 December 2025 and 4 January 2026"),
        ("What must be done by the end of this week?", "What must be done by 11 January 2026?"),
        ("What broke last month?", "What broke in December 2025?"),
        ("Who joins next month?", "Who joins in February 2026?"),
        ("costs of last year", "costs in 2025"),
        ("costs of this year", "costs of this year"),
        ("What did we plant 10 days ago?", "What did we plant on 28 December 2025?"),
        ("Who came last Friday?", "Who came on 2 January 2026?"),
        ("Is there a rehearsal next Monday?", "Is there a rehearsal on 12 January 2026?"),
        ("Is there one this friday?", "Is there one on 9 January 2026?"),
        ("Who sang Yesterday?", "Who sang Yesterday?"),
        ("Where is today's list?", "Where is today's list?"),
        ("Who was the last king?", "Who was the last king?"),
    ],
)
def test_words_of_the_calendar_become_dates(typed: str, meant: str) -> None:
    assert with_dates(typed, TODAY) == meant


@pytest.mark.parametrize("today", [date.min, date.max])
def test_words_for_a_day_outside_of_the_calendar_stay(today: date) -> None:
    word = "yesterday" if today == date.min else "tomorrow"
    assert with_dates(f"Who came {word}?", today) == f"Who came {word}?"
    assert with_dates(f"Who came today and {word}?", today).startswith("Who came on ")
