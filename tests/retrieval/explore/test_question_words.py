"""The words of a question: names removed, kinds of answers, and the words that a partial path leaves."""

from __future__ import annotations

import pytest
from tests.retrieval.explore.films import entity

from wikigr.retrieval.explore.question_words import PartialPath, QuestionWords, join_words

KELBURG = entity("Kelburg")


def test_the_names_of_sources_are_removed() -> None:
    question = QuestionWords("Where was the mayor of Kelburg born?", [KELBURG, entity("Zorland")])
    # "Where" asks for a place.
    assert join_words(question.remaining) == "place was the mayor of born"
    assert question.named == {KELBURG}
    assert question.positions == {KELBURG: 5, entity("Zorland"): 32}


@pytest.mark.parametrize(
    ("text", "kind", "noun", "counted"),
    [
        ("Which films did Ann direct?", {"films"}, "films", ""),
        ("What country is Kelburg in?", {"country"}, "country", ""),
        ("What is the capital of Zorland?", {"is"}, "", ""),
        ("How many people live in Kelburg?", {"many"}, "", "people"),
        ("When was Ann born?", {"date"}, "", ""),
        ("Who directed it?", set(), "", ""),
    ],
)
def test_the_kind_of_the_answer(text: str, kind: set[str], noun: str, counted: str) -> None:
    question = QuestionWords(text, [])
    assert (question.answer_kind, question.answer_noun, question.counted_noun) == (kind, noun, counted)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Where was the mayor of Kelburg born?", "mayor"),
        ("Where was the mayor of the Kelburg born?", "mayor"),
        ("Where was Kelburg's mayor born?", "mayor"),
        ("Who was born in Kelburg?", ""),
    ],
)
def test_the_head_noun_of_a_name(text: str, head: str) -> None:
    question = QuestionWords(text, [KELBURG])
    assert question.head_noun(PartialPath(0.0, question.remaining, question.positions[KELBURG])) == head


def test_the_nearest_words_come_first() -> None:
    question = QuestionWords("Who employs the spouse of the director of Kelburg today?", [KELBURG])
    path = PartialPath(0.0, question.remaining, question.positions[KELBURG])
    assert path.nearest_words() == ["today", "director", "spouse", "employs"]
    assert join_words(path.next_words()) == "spouse of the director of today"
