"""What a question asks about a thing: what it is, when somebody lived, what an entry does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.languages import language_of
from wikigr.question.intent import asks_definition, asks_entry, asks_fact, asks_lead, asks_nothing, asks_yes_no
from wikigr.question.question import Question, analyze


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    folder = tmp_path_factory.mktemp("intent") / "lexical"
    with LexicalWriter(folder) as writer:
        writer.add("a#0", "a", "", "some text")
    return LexicalIndex(folder)


def analyzed(text: str, index: LexicalIndex) -> Question:
    return analyze(text, index, lambda texts: np.eye(len(texts), 3, dtype=np.float32))


def test_an_english_auxiliary_asks_for_yes_or_no_in_english_only(index: LexicalIndex) -> None:
    assert asks_yes_no(analyzed("Was the bridge built in 1911?", index))
    german = replace(analyzed("Was ist eine Brücke?", index), language=language_of("de"))
    assert not asks_yes_no(german)


def test_a_question_may_ask_what_something_is(index: LexicalIndex) -> None:
    cases = {
        ("What is spin?", "Spin"): True,
        ("who was Erwin Schrödinger", "Erwin Schrödinger"): True,
        ("What's the Pauli exclusion principle?", "Pauli exclusion principle"): True,
        ("Tell me about spin", "Spin"): True,
        ("Define spin.", "Spin"): True,
        ("spin", "Spin"): True,
        ("What is the spin of an electron?", "Spin"): False,
        ("What is spin?", "Electron"): False,
        ("Where is CERN?", "CERN"): False,
        ("Does spin exist?", "Spin"): False,
        ("How?", "Spin"): False,
        ("What is Alzheimer's disease?", "Alzheimer's disease"): True,
        ("Who was Harry S. Truman?", "Harry S. Truman"): True,
        ("What is Formula One?", "Formula One"): True,
        ("What is Bass (fish)?", "Bass (fish)"): True,
        ("What does an enzyme do?", "Enzyme"): True,
        ("What does an enzyme do to food?", "Enzyme"): False,
        ("Define tower.", "The Two Towers"): False,
        ("What is on Mars?", "Mars"): False,
        ("Who was in the Beatles?", "The Beatles"): False,
    }
    assert {(question, title): asks_definition(analyzed(question, index), title) for question, title in cases} == cases


def test_a_question_may_ask_for_a_time_or_place_of_a_life(index: LexicalIndex) -> None:
    cases = {
        "When was Erwin Schrödinger born?": True,
        "In what year did Erwin Schrödinger die?": True,
        "What is the birthday of Erwin Schrödinger?": True,
        "Where was Erwin Schrödinger born?": True,
        "When was the daughter of Erwin Schrödinger born?": True,
        "When did Erwin Schrödinger leave Vienna?": False,
        "When was Max Born honored?": False,
        "How did the cat of Erwin Schrödinger die?": False,
    }
    assert {question: asks_lead(analyzed(question, index), "Erwin Schrödinger") for question in cases} == cases


def test_a_question_may_ask_for_a_fact_about_what_it_names(index: LexicalIndex) -> None:
    cases = {
        ("When was Erwin Schrödinger born?", "Erwin Schrödinger"): True,
        ("Which label released Cry?", "Cry (song)"): True,
        ("When was Erwin Schrödinger born?", "Erwin Rommel"): False,
        ("How did the cat of Erwin Schrödinger die?", "Erwin Schrödinger"): False,
        ("Who is Erwin Schrödinger?", "Erwin Schrödinger"): False,
    }
    assert {(question, title): asks_fact(analyzed(question, index), title) for question, title in cases} == cases


def test_a_question_may_ask_for_an_entry(index: LexicalIndex) -> None:
    cases = {
        ("What does functools.lru_cache do?", "functools.lru_cache"): True,
        ("What is lru_cache?", "functools.lru_cache"): True,
        ("What is functools?", "functools.lru_cache"): False,
        ("When was lru_cache added?", "functools.lru_cache"): False,
    }
    assert {(question, heading): asks_entry(analyzed(question, index), heading) for question, heading in cases} == cases


def test_thanks_greetings_commands_and_lines_without_a_word_ask_nothing() -> None:
    nothing = ["Thanks!", "ok great, thank you very much", "good evening everybody", "x", " ?! ", "/help", "bye"]
    nothing.append("wikigr pack build notes")
    assert [line for line in nothing if not asks_nothing(line)] == []


def test_questions_that_begin_politely_or_are_short_ask_something() -> None:
    asked = [
        "Hi, where is the drill?",
        "thanks, and who pays?",
        "What is good?",
        "F6?",
        "the welcome fee",
        "龍？",
        "who?",
    ]
    asked += ["How do I run wikigr pack build?", "/etc/hosts owner", "Please list the tools"]
    assert [line for line in asked if asks_nothing(line)] == []
