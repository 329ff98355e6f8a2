"""Ages in questions, and the ranges of ages in texts."""

from __future__ import annotations

import pytest

from wikigr.question.ages import age_in, is_for_age


@pytest.mark.parametrize(
    ("question", "age"),
    [
        ("Can my ten-year-old come?", (10, "ten-year-old")),
        ("fee for a 9 year old", (9, "9 year old")),
        ("a course for children aged 6", (6, "aged 6")),
        ("Do you take two-year-olds?", (2, "two-year-olds")),
        ("a course for children aged 6–12", None),
        ("How old is the ten-year plan?", None),
        ("Is it the same for a 9-year-old and a 70-year-old?", None),
    ],
)
def test_the_age_that_a_question_names(question: str, age: tuple[int, str] | None) -> None:
    assert age_in(question) == age


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("6–12", 12, 13),
        ("8 to 10 years", 8, 7),
        ("65+", 65, 64),
        ("16 and older", 16, 15),
        ("We take children from 3 years on.", 3, 2),
        ("patients over 75: by phone", 76, 75),
        ("children under 12", 11, 12),
        ("up to 17", 17, 18),
    ],
)
def test_an_age_lies_within_a_range_or_not(text: str, inside: int, outside: int) -> None:
    assert (is_for_age(inside, text), is_for_age(outside, text)) == (True, False)


@pytest.mark.parametrize("text", ["17:00–18:00", "3–5 km", "£14–18", "2026-01-05", "over 20 swimmers", "age 9"])
def test_other_numbers_are_no_ranges_of_ages(text: str) -> None:
    assert is_for_age(4, text) is None
