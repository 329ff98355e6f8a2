"""Answers for an age that a question names: the rows and columns for it, and yes or no by a bound."""

from __future__ import annotations

import pytest
from tests.answer.evidence import candidates, evidence, from_markdown, material

from wikigr.answer.candidates.aged import without_other_ages
from wikigr.pack.open import Pack

GROUPS = """
| group | age | per month | per year |
|---|---|---|---|
| Cubs | 4–6 | 14 | 150 |
| Foxes | 7–11 | 18 | 198 |
| Elders | 65+ | 19 | 210 |
| Family | | 58 | 640 |
"""
PRICES = """
| work | price adults | price children 6–12 | price teens 13–17 | takes |
|---|---|---|---|---|
| small filling | 110 | 80 | 90 | 30 |
| gum shield | 120 | 85 | 95 | 20 |
"""


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What does a nine-year-old pay per month?", "18"),
        ("How much does a 70-year-old pay per year?", "210"),
        ("Which group is for a five-year-old?", "Cubs"),
        ("price of a small filling for a 10-year-old", "80"),
        ("price of a gum shield for a 15-year-old", "95"),
    ],
)
def test_the_cell_for_an_age(pack: Pack, question: str, short: str) -> None:
    items = from_markdown("Groups#0", GROUPS), from_markdown("Prices#0", PRICES)
    found = candidates(pack, "cell", question, *items)
    assert max(found, key=lambda cell: cell.fit).short == short


@pytest.mark.parametrize(
    ("question", "shorts"),
    [
        ("What does a nine-year-old pay per month?", {"Foxes", "7–11", "18", "198"}),
        ("price of a gum shield for a 15-year-old", {"90", "95"}),
    ],
)
def test_no_cell_is_for_another_age(pack: Pack, question: str, shorts: set[str]) -> None:
    table = GROUPS if "pay" in question else PRICES
    assert {cell.short for cell in candidates(pack, "cell", question, from_markdown("List#0", table))} == shorts


def test_an_age_is_named_by_its_range_and_not_by_other_years(pack: Pack) -> None:
    found = material(pack, "fee for a nine-year-old", from_markdown("Groups#0", GROUPS))
    (record,) = found.grids[0].records
    value = record.value_of("age")
    assert value is not None
    assert {"nine", "year"} <= found.asked.named_in(value)
    assert "nine" in found.question.stems("7–11")
    (other,) = material(pack, "fee", from_markdown("Stays#0", "| stay | lasts |\n|---|---|\n| long | a year |")).grids
    assert "year" not in found.asked.named_in(other.records[0].values[1])


def test_rows_for_other_ages_are_not_read(pack: Pack) -> None:
    sentences = material(pack, "fee", from_markdown("Groups#0", GROUPS)).sentences
    assert [s.text.partition(" | ")[0] for s in without_other_ages(sentences, 8)] == ["group: Foxes"]
    assert without_other_ages(sentences, 30) == list(sentences)


@pytest.mark.parametrize(
    ("question", "text", "lead"),
    [
        ("Do you take two-year-olds?", "We take children from 3 years on.", "No."),
        ("Do you take four-year-olds?", "We take children from 3 years on.", "Yes."),
        ("Can a 5 year old ride?", "Not for children under 6.", "No."),
    ],
)
def test_a_bound_on_ages_says_yes_or_no(pack: Pack, question: str, text: str, lead: str) -> None:
    (found, *_) = candidates(pack, "yes_no", question, evidence("Rules#0", text, 0.9))
    assert found.lead == lead


def test_a_row_for_other_ages_says_no_to_nothing(pack: Pack) -> None:
    table = "| course | age |\n|---|---|\n| judo | 6–9 years |\n| chess | 6–9 years |"
    found = candidates(pack, "yes_no", "Is there a course for a three-year-old?", from_markdown("Courses#0", table))
    assert {candidate.lead for candidate in found} == {""}
