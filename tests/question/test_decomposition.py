"""Questions about something that they only describe are decomposed; others are not."""

from __future__ import annotations

import pytest

from wikigr.question.decomposition import decompose

# Each question with the question for what it describes, and the one about that.
DECOMPOSED = """
# At the end of the question.
Who is the child of the person who issued the manifesto?
    Who is the person who issued the manifesto?
    Who is the child of NAME?
# After the verb, so the clause's end is the question's.
Where did the chemist die who invented dynamite?
    Who is the chemist who invented dynamite?
    Where did NAME die?
In which city was the man born whose laws govern the planets?
    Who is the man whose laws govern the planets?
    In which city was NAME born?
Who won the race in the state in which Ada was born?
    What is the state in which Ada was born?
    Who won the race in NAME?
# Before the verb: where the clause ends is a guess, so it stays in the question.
When did the team that Ben played for win the cup?
    What is the team that Ben played for win the cup?
    When did NAME that Ben played for win the cup?
When did the woman who led the parity test take her doctorate?
    Who is the woman who led the parity test?
    When did NAME who led the parity test take her doctorate?
Where did the man who taught physics in Berlin die?
    Who is the man who taught physics in Berlin?
    Where did NAME who taught physics in Berlin die?
What does the river that Toongabbie Creek flows into flow into?
    What is the river that Toongabbie Creek flows into flow into?
    What does NAME that Toongabbie Creek flows into flow into?
# This "that" follows a verb.
What is the birthplace of the man who climbed a rock after checking that energy is conserved?
    Who is the man who climbed a rock after checking that energy is conserved?
    What is the birthplace of NAME?
The actor who plays Barney plays what character in Batman?
    Who is the actor who plays Barney plays what character in Batman?
    NAME who plays Barney plays what character in Batman?
What job did the man train for who found the planet?
    Who is the man who found the planet?
    What job did NAME train for?
# After a preposition, the clause ends the question.
Which prize was won in 1978 by the woman who led the test?
    Who is the woman who led the test?
    Which prize was won in 1978 by NAME?
# Without a noun.
Who played the girlfriend of who plays Marty?
    Who plays Marty?
    Who played the girlfriend of NAME?
# A name that contains a negation.
Where was the man born who wrote Never Let Me Go?
    Who is the man who wrote Never Let Me Go?
    Where was NAME born?
# Noun phrases.
Who was Ada Lovelace's mother's spouse?
    Who is Ada Lovelace's mother?
    Who was NAME's spouse?
Who married the publisher of The North Star?
    What is the publisher of The North Star?
    Who married NAME?
"""


def test_the_likeliest_decomposition(subtests: pytest.Subtests) -> None:
    lines = [line.strip() for line in DECOMPOSED.split("\n") if line and not line.startswith("#")]
    for question, description, rest in zip(*[iter(lines)] * 3, strict=True):
        with subtests.test(question=question):
            first, *_ = decompose(question)
            assert (first.description, first.ask_about("NAME")) == (description, rest)


def test_a_question_that_describes_nothing_else_is_not_decomposed() -> None:
    cases = [
        "Where was Ada Lovelace born?",
        "Who is the man who invented dynamite?",
        "Who wrote The Man Who Sold the World?",
        'Who sang "the song that never ends"?',
        "Lorenzo Monaco was influenced by which painter?",
        "Who is the mayor of Paris?",
        "Where was the physicist born who did not discover the electron?",
        "Where was the physicist born who didn't write Emma?",
        "Who was Ada Lovelace's mother?",
        "who what which",
        "?",
        "",
        "that",
        "的 的 的",
    ]
    assert [question for question in cases if decompose(question) != ()] == []


def test_the_outermost_description_is_taken_and_holds_the_others() -> None:
    first, *_ = decompose("Who is the mayor of the city where the man who wrote Emma died?")
    assert first.description == "What is the city where the man who wrote Emma died?"
    inner, *_ = decompose(first.description)
    assert inner.description.startswith("Who is the man who wrote Emma")


def test_that_after_a_verb_begins_no_relative_clause() -> None:
    for question in (
        "Who proved that energy is conserved?",
        "Who wrote a paper after checking that energy is conserved?",
    ):
        assert decompose(question) == ()


def test_a_long_question_is_decomposed_but_not_a_pasted_page() -> None:
    question = "Who is the teacher of " + "the student who was the teacher of " * 15 + "Ada?"
    assert 1 <= len(decompose(question)) <= 2
    assert decompose("Who is the teacher of " + "the student who was the teacher of " * 400 + "Ada?") == ()
