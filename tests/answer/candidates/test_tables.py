"""Answers in tables and properties: the cell of the row and the column that a question names, and rows that fit it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.answer.evidence import candidates, evidence, from_markdown, material

from wikigr.answer.candidates.candidate import AnswerCandidate
from wikigr.answer.candidates.dated import of_dates_asked_for
from wikigr.answer.candidates.table import find_candidates
from wikigr.answer.stages import Assess, Draft
from wikigr.index.candidate import Evidence
from wikigr.pack.open import Pack
from wikigr.reader.passage import ReaderOptions
from wikigr.retrieval.state import Resources
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.sources.block import Block, Cell

WORKSHOP = """
| repair | price | takes | who |
|---|---|---|---|
| puncture | 14 € | 30 minutes | Aino |
| new chain | 38 € | an hour | Petteri |
| bleed the brakes | 45 € | two days | Aino |
| true a wheel | 22 € | 1 day | |
"""
LOANS = """
| instrument | borrower | lent on | returned | deposit |
|---|---|---|---|---|
| viola 3 | Ilse Brandt | 2025-03-02 | 2025-03-30 | 80 |
| oboe 1 | Tomas Reyes | 2025-04-14 | | 150 |
| viola 5 | Mina Oduya | 2025-05-06 | 2025-06-01 | 80 |
| horn 2 | Ilse Brandt | 2025-06-20 | | 200 |
"""
FERRY = """
| length of the vehicle | summer | winter |
|---|---|---|
| up to 5 m | 31 | 22 |
| up to 7 m | 44 | 30 |
| over 7 m | 68 | 51 |
"""
REVENUE = """
| Product | Q3 2024 | Q4 2024 | Note |
|---|---|---|---|
| LX-200 | 512,000 | 498,000 | ends soon |
| LX-300 | 655,000 | 713,000 | |
| LX-400 | 12,000 | 44,000 | new |
"""
COURSES = """
| course | day | begins | room |
|---|---|---|---|
| weaving | Tue | 18:00 | 4 |
| weaving | Thu | 18:00 | attic |
| choir | Mon–Wed | 19:30 | hall |
"""
TURNOVER = """
| Quarter | Bar | Kitchen |
|---|---|---|
| Q1 | 31,400 | 58,900 |
| Q2 | 36,200 | 61,300 |
| Q3 | 40,100 | 66,700 |
"""
HOSES = """
| hose | length (m) | bought | replace by | store |
|---|---|---|---|---|
| H-1 | 20 | 2021-03-01 | 2026-03-01 | shed |
| H-2 | 35 | 2022-06-10 | 2027-06-10 | shed |
| H-3 | 15 | 2023-09-05 | 2028-09-05 | |
"""
ITEMS = {
    "Courses": COURSES,
    "Workshop": WORKSHOP,
    "Loans": LOANS,
    "Ferry": FERRY,
    "Revenue": REVENUE,
    "Turnover": TURNOVER,
    "Hoses": HOSES,
}


def items() -> list[Evidence]:
    return [from_markdown(f"{name}#0", text) for name, text in ITEMS.items()]


def best(pack: Pack, kind: str, question: str) -> AnswerCandidate:
    return max(candidates(pack, kind, question, *items()), key=lambda found: found.fit)


@pytest.mark.parametrize(
    ("question", "short", "row"),
    [
        ("What does a new chain cost?", "38 €", "repair: new chain"),
        ("How long does it take to true a wheel?", "1 day", "repair: true a wheel"),
        ("Who repairs a puncture?", "Aino", "repair: puncture"),
        ("deposit for the oboe", "150", "instrument: oboe 1"),
        ("Which room is weaving in on Thursday?", "attic", "course: weaving"),
        ("What begins on Wednesday?", "19:30", "course: choir"),
        ("Who borrowed viola 5?", "Mina Oduya", "instrument: viola 5"),
        ("Which instrument was lent on 14 April?", "oboe 1", "instrument: oboe 1"),
        ("price in winter for a vehicle of 6.4 m length", "30", "length of the vehicle: up to 7 m"),
        ("What does a vehicle with a length of 9 m pay in summer?", "68", "length of the vehicle: over 7 m"),
        ("What was the revenue of the LX-300 in Q3 2024?", "655,000", "Product: LX-300"),
        ("What was the revenue of the LX-300 in Q4 2024?", "713,000", "Product: LX-300"),
        ("What did the kitchen take in the second quarter?", "61,300", "Quarter: Q2"),
        ("What did the kitchen take in Q3?", "66,700", "Quarter: Q3"),
    ],
)
def test_the_cell_of_the_row_and_the_column_that_are_named(pack: Pack, question: str, short: str, row: str) -> None:
    found = best(pack, "cell", question)
    assert (found.short, found.text.partition(" | ")[0]) == (short, row)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which repairs does Aino do?", "puncture; bleed the brakes"),
        ("Which instruments were lent to Ilse Brandt?", "viola 3; horn 2"),
        ("Which instruments have not been returned yet?", "oboe 1; horn 2"),
        ("Which instruments were lent after 1 May?", "viola 5; horn 2"),
        ("Which instruments have a deposit of more than 100?", "oboe 1; horn 2"),
    ],
)
def test_the_rows_that_fit_what_is_said_of_a_column(pack: Pack, question: str, names: str) -> None:
    found = best(pack, "rows", question)
    assert found.lead == f"2 rows: {names}."
    # Cells after the last one that matters are not quoted.
    assert all(quotation.text in quotation.section.content for quotation in found.quotations)


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("Which hose has no store?", "1 row: H-3."),
        ("Which hoses have to be replaced before the end of 2027?", "2 rows: H-1; H-2."),
        ("Which hoses have to be replaced before the beginning of 2027?", "1 row: H-1."),
    ],
)
def test_rows_without_a_value_and_until_the_end_of_a_time(pack: Pack, question: str, lead: str) -> None:
    assert best(pack, "rows", question).lead == lead


def test_what_is_missing_is_said_after_the_negation(pack: Pack) -> None:
    rows = "| 1 | Gull | 16 | |\n| 2 | | 16 | no water |\n| 3 | Tern | – | |\n| 4 | Lark | – | old |"
    text = f"| berth | boat | amperes | note |\n|---|---|---|---|\n{rows}"
    berths = from_markdown("Berths#0", text)
    best_first = sorted(candidates(pack, "rows", "Which berths have no electricity?", berths), key=lambda c: -c.fit)
    assert [found.lead for found in best_first] == ["2 rows: 3; 4."]


def test_a_row_whose_first_cell_is_a_number_is_named_with_the_words_beside_it(pack: Pack) -> None:
    talks = from_markdown(
        "Talks#0", "| no | title | room |\n|---|---|---|\n| 1 | Fog | hall |\n| 2 | Ice | hall |\n| 3 | Salt | barn |"
    )
    (found,) = candidates(pack, "rows", "Which talks are in the hall?", talks)
    assert found.lead == "2 rows: 1 Fog; 2 Ice."


def test_yes_or_no_is_looked_for_in_the_row_that_the_question_names(pack: Pack) -> None:
    rooms = from_markdown("Rooms#0", "| room | ramp |\n|---|---|\n| hall | yes |\n| barn | no, steps |")
    found = candidates(pack, "yes_no", "Does the barn have a ramp?", rooms)
    assert [candidate.text for candidate in found] == ["room: barn | ramp: no, steps"]


def test_a_month_is_no_name_that_a_price_has_to_have(pack: Pack) -> None:
    fares = from_markdown(
        "Fares#0", "| fare | until March | later |\n|---|---|---|\n| child | 4 € | 6 € |\n| adult | 8 € | 11 € |"
    )
    assert candidates(pack, "cell", "price of a fare in April", fares)
    assert not candidates(pack, "cell", "price of a fare in Bergen", fares)
    assert not candidates(pack, "cell", "What is June's price?", fares)


def test_rows_of_other_quarters_are_left_out(pack: Pack) -> None:
    cells = candidates(pack, "cell", "bar in the 3rd quarter", *items())
    assert {found.text.partition(" | ")[0] for found in cells if "Quarter" in found.text} == {"Quarter: Q3"}
    every = candidates(pack, "cell", "bar by quarter", from_markdown("Turnover#0", TURNOVER))
    assert len(of_dates_asked_for(every, "bar in the 3rd quarter")) < len(every)
    assert of_dates_asked_for(every, "Which quarter was better for the bar than the 3rd quarter?") == every


def test_rows_are_quoted_up_to_what_the_question_names(pack: Pack) -> None:
    found = best(pack, "rows", "Which instruments were lent to Ilse Brandt?")
    assert [quotation.text for quotation in found.quotations] == [
        "instrument: viola 3 | borrower: Ilse Brandt",
        "instrument: horn 2 | borrower: Ilse Brandt",
    ]


def test_a_single_row_is_quoted_whole(pack: Pack) -> None:
    found = best(pack, "rows", "Which instruments were lent to Mina Oduya?")
    assert found.lead.startswith("1 row: ")
    (quotation,) = found.quotations
    content = quotation.section.content
    assert content[quotation.end : quotation.end + 1] in ("", "\n")


def test_rows_of_a_table_that_was_cut_are_found_together(pack: Pack) -> None:
    lines = LOANS.strip().split("\n")
    parts = [from_markdown(f"Loans#{n}", "\n".join([*lines[:2], *lines[2 + 2 * n : 4 + 2 * n]])) for n in (0, 1)]
    found = candidates(pack, "rows", "Which instruments were lent to Ilse Brandt?", *parts)
    assert max(found, key=lambda rows: rows.fit).lead == "2 rows: viola 3; horn 2."


def person(name: str, **properties: str) -> Evidence:
    """Return the section of properties that the article about ``name`` has."""
    text, blocks = "", []
    for label, value in properties.items():
        line = f"{label}: {value}"
        start = len(text) + len(label) + 2
        blocks.append(
            Block(
                "property", len(text), len(text) + len(line), label=label, rows=((Cell(0, start, start + len(value)),),)
            )
        )
        text += f"{line}\n"
    return evidence(f"{name}#0", text.rstrip(), 0.9, heading="Properties", blocks=blocks)


def test_properties_of_articles_are_cells_and_their_articles_rows(pack: Pack) -> None:
    people = [
        person("Rosa Lindt", birthday="4 March", phone="555-0133", town="Vester"),
        person("Karl Abena", birthday="19 July", phone="555-0172", town="Vester"),
        person("Ines Moll", birthday="2 May", town="Oster"),
    ]
    found = candidates(pack, "cell", "What is the phone number of Karl Abena?", *people)
    answer = max(found, key=lambda cell: cell.fit)
    assert (answer.short, answer.text) == ("555-0172", "phone: 555-0172")
    found = candidates(pack, "rows", "Which people live in the town Vester?", *people)
    assert max(found, key=lambda rows: rows.fit).lead == "At least 2 rows: Rosa Lindt; Karl Abena."


def test_an_answer_that_is_only_a_whole_table_is_never_sure(pack: Pack) -> None:
    found_in = material(pack, "What do repairs cost?", *items())
    resources = Resources(pack)
    for kind, level in (("table", "likely"), ("cell", "sure")):
        best = next(found for found in find_candidates(found_in) if found.kind == kind)
        draft = Draft(found_in.state, answers=(replace(best, probability=0.99),))
        stage = Assess(resources, ReaderOptions())
        assert stage.run(draft, StageRecord("abstention"), Trace()).confidence.level == level


def test_a_question_that_is_answered_by_yes_or_no_asks_for_no_cell(pack: Pack) -> None:
    assert candidates(pack, "cell", "Does a new chain cost 38 €?", *items()) == []


def test_rows_that_are_articles_of_their_own_are_one_table(pack: Pack) -> None:
    names = ("Ember", "Nomad", "Kettle")
    rows = [
        from_markdown(
            f"{name}#0",
            f"| sku | product | category |\n|---|---|---|\n| {n} | {name} | {'pots' if n == 2 else 'stoves'} |",
        )
        for n, name in enumerate(names)
    ]
    found = max(candidates(pack, "rows", "which stoves do you sell?", *rows), key=lambda found: found.fit)
    assert found.lead == "At least 2 rows: Ember; Nomad."
    assert [quotation.section.title for quotation in found.quotations] == ["Ember", "Nomad"]
    cells = candidates(pack, "cell", "What is the category of the Kettle?", *rows)
    assert max(cells, key=lambda cell: cell.fit).short == "pots"


@pytest.mark.parametrize(
    ("question", "table", "stated"),
    [
        ("How heavy is the anvil?", "| tool | length | owner |\n|---|---|---|\n| anvil | 40 cm | Petteri |", False),
        ("How heavy is the anvil?", "| tool | kg | owner |\n|---|---|---|\n| anvil | 40 | Petteri |", True),
        ("What is the price of the oboe?", "| thing | lent |\n|---|---|\n| oboe | 3 times |\n| horn | once |", False),
        ("What is Mina's phone number?", "| name | room |\n|---|---|\n| Mina | 14 |\n| Ilse | 15 |", False),
    ],
)
def test_an_attribute_that_no_column_has_is_answered_by_none(
    pack: Pack, question: str, table: str, stated: bool
) -> None:
    found = find_candidates(material(pack, question, from_markdown("List#0", table)))
    assert bool(found) == stated
    if stated:
        assert {candidate.short for candidate in found if candidate.kind == "cell"} == {"40"}


def test_a_value_that_is_not_known_is_declined(pack: Pack) -> None:
    table = "| name | phone | room |\n|---|---|---|\n| Mina | – | 14 |\n| Ilse | 555-0144 | 15 |"
    found_in = material(pack, "What is Mina's phone number?", from_markdown("List#0", table))
    cells = [found for found in find_candidates(found_in) if found.kind == "cell"]
    assert max(cells, key=lambda cell: cell.fit).short == "–"
    assert "14" not in {cell.short for cell in cells}
    draft = Draft(found_in.state, answers=(replace(cells[0], probability=0.9),))
    assessed = Assess(Resources(pack), ReaderOptions()).run(draft, StageRecord("abstention"), Trace()).confidence
    assert (assessed.level, assessed.value) == ("not_covered", 0.0)
