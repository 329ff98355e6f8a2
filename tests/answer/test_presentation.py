"""What outputs say of an answer: the words of its level, the numbers of its citations, and its surroundings."""

from __future__ import annotations

from dataclasses import replace

from tests.possible_answers import BEFORE, BORN, demo_answer, possible_answer, section_of

from wikigr.answer.presentation import (
    CANNOT_LIST,
    LEVEL_WORDS,
    PERHAPS,
    heading_of_passages,
    is_doubtful,
    level_in_words,
    shown_citations,
    surroundings_of,
)
from wikigr.answer.probability import LEVELS
from wikigr.pack.open import Pack


def test_every_level_has_words() -> None:
    assert tuple(LEVEL_WORDS) == LEVELS
    assert level_in_words("likely", 0.874) == "Likely (0.87)"
    assert level_in_words("sure", 0.99, True) == "Sure (0.99), the same with and without the model"


def test_the_quotation_stands_in_its_surroundings(pack: Pack) -> None:
    answer = demo_answer(pack, "sure")
    start, end = surroundings_of(answer)
    assert pack.sections(["Werner Heisenberg#0"])["Werner Heisenberg#0"].content[start:end] == f"{BEFORE} {BORN}"


def test_what_another_citation_quotes_is_not_repeated_around_the_first_one() -> None:
    text = "Ferns like shade. Moss does too. Lichen does not."
    notes = section_of(text)
    for other, around in (("Lichen does not.", text[:33]), ("Ferns like shade.", text[18:])):
        start, end = surroundings_of(possible_answer(notes, "Moss does too.", other, around=text))
        assert text[start:end].strip() == around.strip()


def test_alternatives_are_numbered_on(pack: Pack) -> None:
    answer = demo_answer(pack, "likely")
    assert [c.n for c in shown_citations(answer)] == [1, 2, 3]
    assert shown_citations(answer)[0] == answer.citations[0]
    assert all(alternative.citations[0].n == 1 for alternative in answer.alternatives)


def test_only_a_quotation_that_is_not_sure_is_one_of_several(pack: Pack) -> None:
    assert [is_doubtful(demo_answer(pack, level)) for level in LEVELS] == [False, False, True, False]
    # What a model writes has no kind.
    assert not is_doubtful(replace(demo_answer(pack, "not_sure"), kind="", model="claude"))
    assert not is_doubtful(replace(demo_answer(pack, "not_sure"), citations=()))


def test_sections_stand_below_their_own_heading_where_a_list_is_asked_for(pack: Pack) -> None:
    answer = demo_answer(pack, "not_sure")
    assert heading_of_passages(answer) == PERHAPS
    assert heading_of_passages(replace(answer, cannot_list=True)) == CANNOT_LIST
    assert heading_of_passages(replace(answer, level="likely", cannot_list=True)) is None
