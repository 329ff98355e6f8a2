"""Rows by what is denied of a column, by a comparison of two columns, and by what has no value."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.answer.evidence import candidates, from_markdown, material

from wikigr.answer.candidates.candidate import AnswerCandidate
from wikigr.answer.candidates.collected import find_collected
from wikigr.pack.open import Pack

STAFF = """
| name | languages | mentor | room |
|---|---|---|---|
| Aino | German, English | Petteri | hall |
| Petteri | English, French | tbc | barn |
| Mina | German | Aino | hall |
| Ilse | Swedish | Aino | attic |
"""
ORDERS = """
| order | due | received | quote (€) | invoice (€) | in stock | minimum |
|---|---|---|---|---|---|---|
| bridge | 10.02.2026 | 13.02.2026 | 560 | 598 | 9 | 4 |
| crown | 16.02.2026 | 16.02.2026 | 340 | 340 | 2 | 3 |
| denture | 02.03.2026 | 27.02.2026 | 480 | 455 | 5 | 5 |
| splint | 06.03.2026 | | 225 | | 1 | 2 |
| Total | | | 1605 | 1393 | 17 | 14 |
"""
FEES = """
| ticket | deposit |
|---|---|
| day | £0 |
| week | £20 |
| season | £0.00 |
"""
PRICES = """
| work | price (€) | takes |
|---|---|---|
| crown | 890 | 90 |
| splint | 260 | 20 |
"""


def found_in(table: str, pack: Pack, kind: str, question: str) -> list[AnswerCandidate]:
    item = from_markdown("List#0", table)
    return sorted(candidates(pack, kind, question, item), key=lambda candidate: -candidate.fit)


@pytest.mark.parametrize(
    ("question", "lead", "names"),
    [
        ("Which of the people do not speak English?", "2 rows (not English): Mina; Ilse.", {"Mina", "Ilse"}),
        ("Which workers are not in the hall?", "2 rows (not hall): Petteri; Ilse.", {"Petteri", "Ilse"}),
        ("Who has no mentor?", "1 row: Petteri.", {"Petteri"}),
    ],
)
def test_a_negation_turns_round_what_is_said_of_a_column(pack: Pack, question: str, lead: str, names: set[str]) -> None:
    assert [rows.lead for rows in found_in(STAFF, pack, "rows", question)] == [lead]
    cells = found_in(STAFF, pack, "cell", question)
    assert {cell.text.partition(" | ")[0].removeprefix("name: ") for cell in cells} == names


@pytest.mark.parametrize("question", ["Why shouldn't I put Aino in the hall?", "In which room can't Aino be?"])
def test_a_negation_says_nothing_of_the_row_that_is_asked_about(pack: Pack, question: str) -> None:
    assert any("name: Aino" in cell.text for cell in found_in(STAFF, pack, "cell", question))


def test_an_amount_of_nothing_is_no_value(pack: Pack) -> None:
    assert found_in(FEES, pack, "rows", "Which tickets have no deposit?")[0].lead == "2 rows: day; season."


def test_the_rows_with_the_words_of_a_question_do_not_answer_its_negation(pack: Pack) -> None:
    def listed(question: str) -> list[str]:
        found = material(pack, question, from_markdown("Staff#0", STAFF.replace("attic", "attic, no lift")))
        return [candidate.lead for candidate in find_collected(replace(found, pack=pack))]

    assert listed("Which names have Swedish?") == ["1 row of Staff: Ilse."]
    assert listed("Which names have no Swedish?") == []


@pytest.mark.parametrize(
    ("question", "name", "last"),
    [
        ("Which orders cost more than quoted?", "bridge", "invoice (€): 598"),
        ("Which orders were received later than they were due?", "bridge", "received: 13.02.2026"),
        ("Which invoices are lower than the quote?", "denture", "invoice (€): 455"),
    ],
)
def test_two_columns_are_compared_row_by_row(pack: Pack, question: str, name: str, last: str) -> None:
    (row,) = (rows for rows in found_in(ORDERS, pack, "rows", question) if f"order: {name}" in rows.text)
    assert row.lead.startswith("1 row: ")
    assert last in row.text


def test_both_columns_that_are_compared_are_quoted(pack: Pack) -> None:
    (below,) = found_in(ORDERS, pack, "rows", "Which orders are below the minimum stock?")
    assert below.lead == "2 rows: crown; splint."
    assert [quotation.text.rpartition(" | ")[2] for quotation in below.quotations] == ["minimum: 3", "minimum: 2"]


def test_a_row_of_totals_is_none_of_the_rows_that_fit(pack: Pack) -> None:
    assert found_in(ORDERS, pack, "rows", "Which orders have not been received?")[0].lead == "1 row: splint."


def test_where_a_column_is_called_money_other_numbers_are_none(pack: Pack) -> None:
    item = from_markdown("List#0", PRICES)
    prices = replace(item, section=replace(item.section, heading="Prices"))
    cells = candidates(pack, "cell", "How much is a crown?", prices)
    assert {cell.short for cell in cells} == {"890", "260"}
