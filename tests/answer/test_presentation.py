"""What outputs show of an answer: its quotation in its surroundings, its lines, and the words of its level."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.possible_answers import BEFORE, BORN, answer_of, demo_answer, possible_answer

from wikigr.answer.presentation import (
    LEVEL_WORDS,
    Passage,
    is_doubtful,
    level_in_words,
    numbered_alternatives,
    passage_of,
    shorten,
    shown_citations,
    with_matches,
)
from wikigr.answer.probability import LEVELS
from wikigr.index.candidate import Section
from wikigr.pack.open import Pack


def section(content: str) -> Section:
    return Section("Notes#0", "Notes", "Ferns", content, "notes.md", 0)


def marked(passage: Passage) -> list[tuple[str, str]]:
    return [(part.role, passage.text[part.start : part.end]) for part in passage.parts]


def test_every_level_has_words() -> None:
    assert tuple(LEVEL_WORDS) == LEVELS
    assert level_in_words("likely", 0.874) == "Likely (0.87)"


def test_the_quotation_stands_in_its_surroundings(pack: Pack) -> None:
    answer = demo_answer(pack, "sure")
    found = passage_of(answer)
    assert found.text == f"{BEFORE} {BORN} [1]"
    assert marked(found) == [("around", f"{BEFORE} "), ("quoted", BORN), ("short", "Würzburg")]
    assert passage_of(answer, in_context=False).text == answer.text == f"{BORN} [1]"
    assert passage_of(answer, with_numbers=False).text == f"{BEFORE} {BORN}"


def test_blanks_are_joined_and_line_breaks_between_sentences_stay() -> None:
    notes = section("Ferns  like\nshade. They grow in\nthe north\nof Wales.\nMoss  does too.")
    quoted = "They grow in\nthe north\nof Wales."
    found = passage_of(possible_answer(notes, quoted, short="north\nof Wales", around=notes.content))
    # The quotation begins with a pronoun, but the sentence before it names its subject.
    assert found.text == "Ferns like shade. They grow in the north of Wales. [1]\nMoss does too."
    assert marked(found)[2] == ("short", "north of Wales")
    assert [role for role, _ in marked(found)] == ["around", "quoted", "short", "around"]
    alone = passage_of(possible_answer(notes, quoted, short="Wales"))
    assert alone.text == "Notes: They grow in the north of Wales. [1]"
    assert marked(alone) == [("quoted", "They grow in the north of Wales."), ("short", "Wales")]


def test_what_another_citation_quotes_is_not_repeated_around_the_first_one() -> None:
    notes = section("Ferns like shade. Moss does too. Lichen does not.")
    made = possible_answer(notes, "Moss does too.", "Lichen does not.", around=notes.content)
    assert passage_of(made).text == "Ferns like shade. Moss does too. [1] Lichen does not. [2]"
    made = possible_answer(notes, "Moss does too.", "Ferns like shade.", around=notes.content)
    assert passage_of(made).text == "Moss does too. [1] Lichen does not. Ferns like shade. [2]"


def test_a_pronoun_after_a_quotation_from_its_section_needs_no_title() -> None:
    notes = section("Ferns like shade. They grow in Wales.")
    made = possible_answer(notes, "Ferns like shade.", "They grow in Wales.")
    assert passage_of(made).text == made.text == "Ferns like shade. [1] They grow in Wales. [2]"


def test_the_lines_of_steps_tables_entries_and_code_stay() -> None:
    steps = "1. Mix.\n2. Bake:\n   - at 200\n   - for an hour\n3. Cool."
    notes = section(f"To bake a cake\n{steps}\nand eat it.")
    found = passage_of(possible_answer(notes, steps, around=notes.content))
    assert found.text == f"To bake a cake\n{steps} [1]\nand eat it."
    row = "Mug | 500 ml | 3.20"
    table = section(f"what | size | price\n{row}\nCup | 200 ml | 2.10")
    found = passage_of(possible_answer(table, row, short="3.20", around=table.content))
    assert found.text == f"what | size | price\n{row} [1]\nCup | 200 ml | 2.10"
    assert marked(found)[2] == ("short", "3.20")
    entry = "-r, --recursive\n       Read all files,\n       in order."
    assert passage_of(possible_answer(section(entry), entry)).text == f"{entry} [1]"
    code = "Run  this:\n\nmake all\n  make test"
    found = passage_of(possible_answer(section(code), code, short="make test"))
    assert found.text.startswith("Run this:\n\nmake all\n  make test") and found.text.endswith(" [1]")
    assert ("short", "make test") in marked(found)


def test_what_precedes_the_quotations_stays_in_front() -> None:
    notes = section("Ferns like shade. Moss does too. Lichen does not.")
    made = possible_answer(notes, "Moss does too.", around="Ferns like shade. Moss does too.", lead="1 answer: Moss.")
    assert passage_of(made).text == "1 answer: Moss. Ferns like shade. Moss does too. [1]"
    assert passage_of(replace(made, text="What a model wrote. [1]")) == Passage("What a model wrote. [1]")


def test_alternatives_are_numbered_on(pack: Pack) -> None:
    answer = demo_answer(pack, "likely")
    first, second = numbered_alternatives(answer)
    assert [c.n for c in (*first.citations, *second.citations)] == [2, 3]
    assert [c.n for c in shown_citations(answer)] == [1, 2, 3]
    assert passage_of(second).text.endswith(" [3]")
    assert shown_citations(answer)[0] is answer.citations[0]
    assert all(alternative.citations[0].n == 1 for alternative in answer.alternatives)


def test_only_a_quotation_that_is_not_sure_is_one_of_several(pack: Pack) -> None:
    assert [is_doubtful(demo_answer(pack, level)) for level in LEVELS] == [False, False, True, False]
    assert not is_doubtful(replace(demo_answer(pack, "not_sure"), model="claude"))
    assert not is_doubtful(replace(demo_answer(pack, "not_sure"), citations=()))


def test_the_words_of_the_question_are_marked_instead_of_the_short_answer(pack: Pack) -> None:
    found = with_matches(passage_of(demo_answer(pack, "not_sure")), "In which city was Heisenberg born?")
    assert [text for role, text in marked(found) if role == "match"] == ["Heisenberg", "Born", "city"]
    assert "short" not in dict(marked(found))


def test_a_long_passage_is_cut_between_words_and_lines() -> None:
    lines = "- one two\n- three\n- four five six"
    made = passage_of(possible_answer(section(lines), lines, short="three"), with_numbers=False)
    assert shorten(made, 100, 3) == made
    assert shorten(made, 100, 2).text == "- one two\n- three …"
    assert marked(shorten(made, 100, 2)) == [("quoted", "- one two\n- three"), ("short", "three")]
    assert shorten(made, 8, 3).text == "- one …"
    assert marked(shorten(made, 8, 3)) == [("quoted", "- one")]


@given(st.text(alphabet="ab .\n", max_size=40), st.text(alphabet="ab \n", min_size=1, max_size=20), st.data())
def test_parts_are_the_text_that_is_stored(around: str, quoted: str, data: st.DataObject) -> None:
    content = f"{around}a{quoted}b{around}"
    quotation = f"a{quoted}b"
    start = data.draw(st.integers(0, len(quotation) - 1))
    short = quotation[start : data.draw(st.integers(start + 1, len(quotation)))].strip()
    if not short:
        return
    made = possible_answer(section(content), quotation, short=short, around=content)
    found = passage_of(answer_of("sure", made))
    words = {role: text.split() for role, text in marked(found)}
    assert words["quoted"] == quotation.split()
    assert words["short"] == short.split()
    assert found.text.replace(" [1]", "").split() == content.split()
