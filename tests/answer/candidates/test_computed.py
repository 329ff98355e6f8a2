"""What is counted, added up and compared over the rows of whole tables, with these rows as quotations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.answer.evidence import candidates, from_markdown, material

from wikigr.answer.candidates.candidate import AnswerCandidate
from wikigr.answer.candidates.table import find_candidates
from wikigr.index.candidate import Evidence
from wikigr.pack.open import Pack

LOANS = """
| instrument | borrower | lent on | deposit |
|---|---|---|---|
| viola 3 | Ilse Brandt | 2025-03-02 | 80 |
| oboe 1 | Tomas Reyes | 2025-04-14 | 150 |
| viola 5 | Mina Oduya | 2025-05-06 | 80 |
| horn 2 | Ilse Brandt | 2025-06-20 | 200 |
"""
HIVES = """
| hive | yard | frames | honey kg | queen born |
|---|---|---|---|---|
| 1 | mill | 8 | 14.5 | 2023 |
| 2 | mill | 10 | 22.0 | 2021 |
| 3 | wood | 9 | – | 2024 |
| 4 | wood | 10 | 9.25 | 2022 |
"""
COACHES = """
| coach | seats | last run | fare |
|---|---|---|---|
| North line | 48 | 22:10 | 4.50 € |
| Harbor line | 52 | 0:40 | 3.00 € |
| Hill line | 30 | 19:05 | 4.50 € |
"""


def items() -> list[Evidence]:
    tables = {"Loans": LOANS, "Hives": HIVES, "Coaches": COACHES}
    return [from_markdown(f"{name}#0", text) for name, text in tables.items()]


def best(pack: Pack, kind: str, question: str) -> AnswerCandidate:
    found = max(candidates(pack, kind, question, *items()), key=lambda candidate: candidate.fit)
    for quotation in found.quotations:
        assert quotation.section.content[quotation.start : quotation.end] == quotation.text != ""
    return found


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("Which instrument has the highest deposit?", "horn 2 (200): the highest of 4 rows by deposit."),
        ("Which instrument has the lowest deposit?", "viola 3 (80); viola 5 (80): the lowest of 4 rows by deposit."),
        ("Which hive has the oldest queen?", "2 (2021): the oldest of 4 rows by queen born."),
        ("Which coach is the cheapest?", "Harbor line (3.00 €): the cheapest of 3 rows by fare."),
        ("Which coach has the most seats?", "Harbor line (52): the most of 3 rows by seats."),
    ],
)
def test_the_extreme_of_a_column(pack: Pack, question: str, lead: str) -> None:
    found = best(pack, "computed", question)
    assert (found.lead, found.short) == (lead, "" if ";" in lead else lead.partition(" (")[0])


@pytest.mark.parametrize(
    ("question", "lead", "rows"),
    [
        ("What is the total deposit of Ilse Brandt?", "280 in total (deposit of 2 rows): 80; 200.", 2),
        ("How much honey in total from the mill yard?", "36.5 in total (honey kg of 2 rows): 14.5; 22.0.", 2),
        ("How many seats do the coaches have altogether?", "130 in total (seats of 3 rows): 48; 52; 30.", 3),
    ],
)
def test_the_sum_of_a_column_quotes_its_rows(pack: Pack, question: str, lead: str, rows: int) -> None:
    found = best(pack, "computed", question)
    assert found.lead == lead
    assert len(found.quotations) == rows


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("How many instruments were lent to Ilse Brandt?", "2 rows: viola 3; horn 2."),
        ("How many hives are in the mill yard?", "2 rows: 1; 2."),
        ("How many hives have ten frames?", "2 rows: 2; 4."),
    ],
)
def test_rows_are_counted(pack: Pack, question: str, lead: str) -> None:
    assert best(pack, "count", question).lead == lead


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("Which has the higher deposit, oboe 1 or horn 2?", "horn 2. deposit: oboe 1 150; horn 2 200."),
        ("Was oboe 1 lent later than viola 5?", "No. lent on: oboe 1 2025-04-14; viola 5 2025-05-06."),
        ("Which has more seats, North line or Hill line?", "North line. seats: North line 48; Hill line 30."),
        ("Is the North line cheaper than the Hill line?", "No. fare: North line 4.50 €; Hill line 4.50 €."),
        ("Which is cheaper, North line or Hill line?", "Both are equal. fare: North line 4.50 €; Hill line 4.50 €."),
    ],
)
def test_two_rows_are_compared_side_by_side(pack: Pack, question: str, lead: str) -> None:
    found = best(pack, "compared", question)
    assert found.lead == lead
    assert len(found.quotations) == 2


def test_without_a_column_the_rows_stand_side_by_side(pack: Pack) -> None:
    found = best(pack, "compared", "Compare oboe 1 and horn 2")
    assert found.lead == ""
    assert [quotation.text.partition(" |")[0] for quotation in found.quotations] == [
        "instrument: oboe 1",
        "instrument: horn 2",
    ]


def test_nothing_is_computed_from_a_part_of_a_table(pack: Pack) -> None:
    question = "What is the total deposit of Ilse Brandt?"
    part = replace(material(pack, question, *items()), whole=frozenset())
    assert [found for found in find_candidates(part) if found.kind == "computed"] == []
    listed = replace(material(pack, "How many instruments were lent to Ilse Brandt?", *items()), whole=frozenset())
    (counted, *_) = sorted((f for f in find_candidates(listed) if f.kind == "count"), key=lambda f: -f.fit)
    assert counted.lead == "At least 2 rows: viola 3; horn 2."


def test_totals_other_units_and_values_that_are_no_numbers_are_not_added(pack: Pack) -> None:
    head = "| crate | weight |\n|---|---|\n"
    question = "What is the total weight of the crates?"
    total = from_markdown("Crates#0", f"{head}| A | 4 kg |\n| B | 5 kg |\n| Total | 9 kg |")
    (added,) = candidates(pack, "computed", question, total)
    assert added.lead == "9 in total (weight of 2 rows): 4 kg; 5 kg."
    for cells in ("4 kg |\n| B | 500 g", "4 kg |\n| C | 6 kg |\n| B | heavy"):
        assert candidates(pack, "computed", question, from_markdown("Crates#0", f"{head}| A | {cells} |")) == []
    (heaviest,) = candidates(pack, "computed", "Which crate is the heaviest?", total)
    assert heaviest.short == "B"
