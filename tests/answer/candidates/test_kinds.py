"""Each kind of answer is found whole, where a question asks for it, at its place in the text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.answer.evidence import candidates, evidence, from_markdown, material

from wikigr.answer.candidates.candidate import MAX_CHARS
from wikigr.answer.candidates.table import ANSWER_KINDS, KINDS, find_candidates
from wikigr.index.candidate import Evidence
from wikigr.pack.open import Pack
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import PathAnswers, StatedFact
from wikigr.retrieval.reading import TwoParts
from wikigr.retrieval.sentences import SentenceScore

STEPS = """Ask first.

1. Stop the pump:

   ```sh
   pump stop --now
   ```
2. Close both valves.
3. Restart it:

   ```sh
   pump start
   ```

It takes a minute."""
LIST = "Three halls are heated:\n\n- the palm house,\n- the fern house\n- the office.\n\nThe others are cold."
TABLE = (
    "| Size | Price | Color |\n|---|---|---|\n| small | 2.50 | red |\n| large | 4.00 | blue |\n\nPrices include tax."
)
ENTRY = """Read chunks back.

--latest
:   Check the last one only.

--sample N
:   Check N percent.

    The default is 5.
"""
FACTS = "Ada Byron — born: 1815.\nAda Byron — field: logic.\nAda Byron — field: music."


def texts(pack: Pack, kind: str, question: str, *items: Evidence) -> list[str]:
    found = candidates(pack, kind, question, *items)
    for candidate in found:
        for quotation in candidate.quotations:
            assert quotation.section.content[quotation.start : quotation.end] == quotation.text != ""
    return [candidate.text for candidate in found]


def test_every_kind_has_one_row() -> None:
    named = [kind for row in ANSWER_KINDS for kind in row.kinds]
    assert len(named) == len(set(named)) == len(KINDS)


def test_numbered_steps_are_whole_with_their_code(pack: Pack) -> None:
    (steps,) = texts(pack, "steps", "how do I restart the pump", from_markdown("Pump#0", STEPS))
    assert steps.startswith("1. Stop the pump:") and steps.endswith("3. Restart it:\n\npump start")


def test_numbers_that_do_not_follow_one_another_are_no_steps(pack: Pack) -> None:
    text = "7. Close both valves.\n\nThe pump of 1950.\n\n9. Restart it."
    assert texts(pack, "steps", "how do I restart the pump", from_markdown("Pump#0", text)) == []


def test_code_is_quoted_with_what_introduces_it_alone_and_together(pack: Pack) -> None:
    text = "First, run:\n\n```sh\npump stop --now\n```\n\nThen run:\n\n```sh\npump start\n```\n\nThat is all."
    first, second, both = texts(pack, "commands", "how do I restart the pump", from_markdown("Pump#0", text))
    assert first == "First, run:\n\npump stop --now"
    assert second == "Then run:\n\npump start"
    assert both == f"{first}\n\n{second}"


def test_a_list_is_whole_and_has_its_introduction(pack: Pack) -> None:
    (found,) = candidates(pack, "list", "Which halls are heated?", from_markdown("Garden#0", LIST))
    assert found.text == LIST.removesuffix("\n\nThe others are cold.")
    assert found.fit > 0.9
    assert found.span is None


def test_code_introduces_no_list(pack: Pack) -> None:
    text = "```c\nint main(void);\n```\n\n- Take a number\n- Wait"
    assert texts(pack, "list", "what do I do at the desk", from_markdown("Desk#0", text)) == ["- Take a number\n- Wait"]


def test_a_list_in_an_item_is_a_list_with_the_item_as_introduction(pack: Pack) -> None:
    text = "- Winter:\n  - wool hat\n  - gloves\n- Summer:\n  - straw hat\n  - sandals"
    found = texts(pack, "list", "what do I pack for winter", from_markdown("Packing#0", text))
    assert [lines.split("\n")[0] for lines in found] == ["- Winter:", "Winter:", "Summer:"]
    assert [len(lines.split("\n")) for lines in found] == [6, 3, 3]


def test_a_list_that_is_too_long_for_a_quotation_is_cut_between_items(pack: Pack) -> None:
    text = "\n".join(f"- Item {number} {'of the long list ' * 12}" for number in range(20))
    found = texts(pack, "list", "what is in the long list", from_markdown("List#0", text))
    assert len(found) > 1
    assert all(lines.startswith("- Item") and len(lines) <= MAX_CHARS for lines in found)
    assert sum(lines.count("- Item") for lines in found) == 20


def test_a_table_and_its_cells_keep_the_names_of_their_columns(pack: Pack) -> None:
    item = from_markdown("Cups#0", TABLE)
    (table,) = texts(pack, "table", "What do the cups cost?", item)
    assert table == item.section.content.partition("\n\n")[0]
    best = max(candidates(pack, "cell", "What is the price of the large cup?", item), key=lambda found: found.fit)
    assert (best.short, best.text) == ("4.00", "Size: large | Price: 4.00 | Color: blue")


def test_what_the_question_names_is_not_the_cell_that_answers(pack: Pack) -> None:
    found = candidates(pack, "cell", "What is the price of the large cup?", from_markdown("Cups#0", TABLE))
    assert "large" not in {candidate.short for candidate in found}


def test_an_entry_has_its_term_and_the_whole_definition(pack: Pack) -> None:
    found = texts(pack, "entry", "what does --sample do", from_markdown("verify#0", ENTRY))
    assert found[0] == "--sample N\n    Check N percent.\n\n    The default is 5."


def test_the_answer_of_a_pair_is_quoted_and_never_its_question(pack: Pack) -> None:
    answer = "Small dogs in a bag ride free. Large dogs need a ticket."
    pair = evidence("Are dogs allowed?#0", answer, 0.9)
    other = evidence("Dogs#0", answer, 0.8)
    (found,) = candidates(pack, "pair", "can I bring my dog", pair, other)
    assert (found.text, found.section.title) == (answer, "Are dogs allowed?")
    assert found.fit > 0.4
    question = evidence("FAQ#0", "Are dogs allowed? They ride free.", 0.9)
    assert texts(pack, "span", "Where are dogs allowed?", question) == ["They ride free."]


@pytest.mark.parametrize(
    ("text", "short"), [("Yes, on all trams.", "Yes"), ("Dogs ride free.", ""), ("Nothing is free. No.", "")]
)
def test_yes_or_no_is_said_only_where_the_text_says_it(pack: Pack, text: str, short: str) -> None:
    found = candidates(pack, "yes_no", "Do dogs ride free?", evidence("Dogs#0", text, 0.9))
    assert {candidate.short for candidate in found} >= {short}
    assert texts(pack, "span", "Do dogs ride free?", evidence("Dogs#0", text, 0.9)) == []
    assert candidates(pack, "yes_no", "Is it red or green?", evidence("Dogs#0", text, 0.9)) == []


def test_both_sides_of_a_comparison(pack: Pack) -> None:
    text = "prune decides which copies are forgotten. It is fast. compact frees the space of copies."
    (both,) = candidates(pack, "comparison", "difference between prune and compact", evidence("Tools#0", text, 0.9))
    assert [quotation.text for quotation in both.quotations] == [
        "prune decides which copies are forgotten.",
        "compact frees the space of copies.",
    ]
    assert candidates(pack, "comparison", "what does prune do", evidence("Tools#0", text, 0.9)) == []


def test_all_values_of_a_relation_are_one_answer(pack: Pack) -> None:
    item = evidence("Ada Byron#1", FACTS, 0.9, heading="Facts")
    (fact,) = candidates(pack, "fact", "When was Ada Byron born?", item)
    assert (fact.short, fact.text) == ("1815", "Ada Byron — born: 1815.")
    (fields,) = candidates(pack, "facts", "What is the field of Ada Byron?", item)
    assert fields.lead == "2 answers: logic; music."
    assert len(fields.quotations) == 2
    assert candidates(pack, "fact", "When was Ada Byron born?", evidence("Ada Byron#1", FACTS, 0.9)) == []


@pytest.mark.parametrize(
    ("title", "facts", "question", "relations"),
    [
        ("The Iron Bell", "written by: Otto Prim; directed by: Clara Voss", "Who wrote The Iron Bell?", 2),
        (
            "The Iron Bell",
            "written by: Otto Prim; directed by: Clara Voss",
            "Who directed the films written by the writer of The Iron Bell?",
            0,
        ),
        ("Arvo Steel", "owner: Tana Holding; chairman: Ida Falk", "Who is the chairman of the owner of Arvo Steel?", 0),
        ("Arvo Steel", "owner: Tana Holding; chairman: Ida Falk", "Who is the chairman of Arvo Steel?", 1),
        ("Blue Wren", "genus: Malurus; family: Maluridae", "What is the genus of the family of Blue Wren?", 0),
    ],
)
def test_facts_that_leave_out_a_relation_of_the_question_do_not_answer_it(
    pack: Pack, title: str, facts: str, question: str, relations: int
) -> None:
    lines = "\n".join(f"{title} — {fact}." for fact in facts.split("; "))
    assert len(candidates(pack, "fact", question, evidence(f"{title}#1", lines, 0.9, heading="Facts"))) == relations


def test_the_answers_of_a_path_come_with_the_facts_that_lead_to_them(pack: Pack) -> None:
    item = evidence("Ada Byron#1", FACTS, 0.9, heading="Facts")
    stated = [StatedFact("Ada Byron", "field", name, "Ada Byron#1") for name in ("logic", "music", "chess")]
    answers = PathAnswers(("logic", "music", "chess"), tuple((fact,) for fact in stated), 3, False, 0.8)
    found_in = material(pack, "What is the field of Ada Byron?", item)
    found_in = replace(found_in, state=replace(found_in.state, paths=(answers,)))
    (path,) = [found for found in find_candidates(found_in) if found.kind == "path"]
    assert path.lead == "2 of 3 answers: logic; music."
    assert path.fit == 0.8


def test_the_less_likely_part_is_the_fit_of_both(pack: Pack) -> None:
    item = evidence("Ada Byron#0", "She was born in London. The year was 1815.", 0.9)
    found_in = material(pack, "When and where was Ada Byron born?", item)
    place, year = sorted(found_in.sentences, key=lambda sentence: sentence.start)

    def read(sentence: SentenceScore, probability: float) -> SentenceScore:
        return replace(sentence, span=Span(sentence.start, sentence.end, 1.0), answer_score=probability)

    parts = TwoParts((read(year, 0.7), read(place, 0.1)), (read(place, 0.9), read(year, 0.2)))
    (both,) = [found for found in find_candidates(replace(found_in, parts=parts)) if found.kind == "two_part"]
    assert [quotation.text for quotation in both.quotations] == [year.text, place.text]
    assert (both.fit, both.span) == (0.7, None)
