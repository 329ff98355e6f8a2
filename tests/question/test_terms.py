from __future__ import annotations

import pytest

from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.question.terms import QuestionTerms, read_question, stems


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    folder = tmp_path_factory.mktemp("terms") / "lexical"
    with LexicalWriter(folder) as writer:
        for n in range(20):
            writer.add(f"a#{n}", "a", "", "common words" + (" rare" if n == 0 else ""))
    return LexicalIndex(folder)


def test_stems_are_those_of_the_index() -> None:
    assert stems("The Normans' invasions, 1066!") == ["the", "norman", "invas", "1066"]


def test_rare_words_weigh_more_and_question_words_nothing(index: LexicalIndex) -> None:
    terms = read_question("What is the rare common thing?", index)
    assert set(terms.weights) == {"rare", "common", "thing"}
    assert terms.weights["thing"] > terms.weights["rare"] > terms.weights["common"] > 0


def test_coverage_is_a_share_by_weight(index: LexicalIndex) -> None:
    terms = read_question("rare common", index)
    assert terms.coverage({"rare", "common"}) == pytest.approx(1.0)
    assert terms.coverage({"rare"}) > 0.5 > terms.coverage({"common"}) > 0
    assert terms.coverage(set()) == 0.0


def test_a_related_word_counts_in_part_and_an_unrelated_one_not(index: LexicalIndex) -> None:
    terms = read_question("Normandy", index)
    assert terms.coverage({"norman"}) == pytest.approx(0.7)
    assert terms.coverage({"normal"}) == 0.0
    assert terms.coverage({"norm"}) == 0.0


def test_phrases_are_neighboring_words(index: LexicalIndex) -> None:
    terms = read_question("speed of light", index)
    assert terms.phrase_coverage(["the", "speed", "of", "light"]) == 1.0
    assert terms.phrase_coverage(["light", "speed", "of"]) == 0.5
    assert terms.phrase_coverage([]) == 0.0


def test_the_expected_thing_must_be_new(index: LexicalIndex) -> None:
    terms = read_question("When after 1900 did Planck speak?", index)
    assert terms.expected_in("He spoke in 1901.")
    assert not terms.expected_in("He spoke after 1900.")


def test_a_question_of_question_words_alone_covers_nothing(index: LexicalIndex) -> None:
    terms = read_question("What is it?", index)
    assert (dict(terms.weights), terms.coverage({"it"}), terms.phrase_coverage(["what", "is"])) == ({}, 0.0, 0.0)
    assert isinstance(terms, QuestionTerms)


@pytest.mark.parametrize(
    ("question", "title", "expected"),
    [
        ("What is spin?", "Spin", True),
        ("who was Erwin Schrödinger", "Erwin Schrödinger", True),
        ("What's the Pauli exclusion principle?", "Pauli exclusion principle", True),
        ("Tell me about spin", "Spin", True),
        ("Define spin.", "Spin", True),
        ("spin", "Spin", True),
        ("What is the spin of an electron?", "Spin", False),
        ("What is spin?", "Electron", False),
        ("Where is CERN?", "CERN", False),
        ("Does spin exist?", "Spin", False),
        ("How?", "Spin", False),
        ("What is Alzheimer's disease?", "Alzheimer's disease", True),
        ("Who was Harry S. Truman?", "Harry S. Truman", True),
        ("What is Formula One?", "Formula One", True),
        ("What is Bass (fish)?", "Bass (fish)", True),
        ("What does an enzyme do?", "Enzyme", True),
        ("What does an enzyme do to food?", "Enzyme", False),
        ("Define tower.", "The Two Towers", False),
        ("What is on Mars?", "Mars", False),
        ("Who was in the Beatles?", "The Beatles", False),
    ],
)
def test_a_question_may_ask_what_something_is(index: LexicalIndex, question: str, title: str, expected: bool) -> None:
    assert read_question(question, index).asks_what_is(title) is expected


@pytest.mark.parametrize(
    ("question", "when", "lead"),
    [
        ("When was Erwin Schrödinger born?", True, True),
        ("In what year did Erwin Schrödinger die?", True, True),
        ("What is the birthday of Erwin Schrödinger?", True, True),
        ("Where was Erwin Schrödinger born?", False, True),
        ("When was the daughter of Erwin Schrödinger born?", False, True),
        ("When did Erwin Schrödinger leave Vienna?", False, False),
        ("When was Max Born honored?", False, False),
        ("How did the cat of Erwin Schrödinger die?", False, False),
    ],
)
def test_a_question_may_ask_for_dates_of_a_life(index: LexicalIndex, question: str, when: bool, lead: bool) -> None:
    terms = read_question(question, index)
    assert terms.asks_when_lived("Erwin Schrödinger") is when
    assert terms.asks_lead("Erwin Schrödinger") is lead
