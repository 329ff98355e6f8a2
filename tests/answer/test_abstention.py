"""The decision whether the pack covers a question."""

from __future__ import annotations

import pytest
from tests.answer.evidence import evidence

from wikigr.answer.abstention import NOT_COVERED, THRESHOLD_NAME, assess
from wikigr.answer.answer import Answer
from wikigr.answer.candidates.candidate import AnswerCandidate, Quotation
from wikigr.answer.probability import AnswerModel
from wikigr.answer.stages import cannot_list
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

MODEL = AnswerModel(order={}, right={}, intercept=0.0, sure=0.9, likely=0.5, covered=0.2)


def answer_question(pack: Pack, question: str) -> Answer:
    return Pipeline(Profile(), pack).answer(question)


@pytest.mark.parametrize(
    ("probability", "level"),
    [(0.0, "not_covered"), (0.19, "not_covered"), (0.2, "not_sure"), (0.5, "likely"), (0.89, "likely"), (0.9, "sure")],
)
def test_each_level_begins_at_its_threshold(probability: float, level: str) -> None:
    confidence = assess(probability, MODEL, {})
    assert (confidence.value, confidence.level, confidence.threshold) == (probability, level, 0.2)
    assert confidence.abstain == (level == "not_covered")


def test_the_threshold_of_a_pack_replaces_that_of_the_model() -> None:
    assert assess(0.3, MODEL, {THRESHOLD_NAME: 0.4}).abstain
    assert assess(0.1, MODEL, {THRESHOLD_NAME: 0.05}).level == "not_sure"
    # Thresholds of earlier releases were on other scales.
    assert assess(0.3, MODEL, {"reader": 0.9, "abstention": 0.9}).level == "not_sure"


def test_off_topic_questions_are_declined(pack: Pack) -> None:
    for question in ("How long should rice simmer?", "Who won the football cup in Brazil?", "qwerty asdfgh zxcvb"):
        answer = answer_question(pack, question)
        assert (answer.abstained, answer.text, answer.citations) == (True, NOT_COVERED, ())
        assert (answer.level, {other.kind for other in answer.alternatives}) == ("not_covered", {"passage"})
        assert answer.confidence < 0.5


def test_sections_are_shown_for_a_list_that_the_pack_cannot_give(pack: Pack) -> None:
    answer = answer_question(pack, "Which interpretations of quantum mechanics are there?")
    assert (answer.level, answer.cannot_list) == ("not_sure", True)
    # The best passage is what was found, and nothing is made up before it.
    assert (answer.lead, len(answer.citations)) == ("", 1)
    assert {other.kind for other in answer.alternatives} == {"passage"}


@pytest.mark.parametrize(
    ("question", "text", "cannot"),
    [
        ("List all rules of the pool.", "Diving is forbidden.", True),
        ("Which boats are there?", "The Heron was built in 2014.", True),
        ("Name all tenors.", "Dario sings tenor.", True),
        ("Name all tenors.", "The tenors are Dario, Hugo and Piet.", False),
        ("Who is the tenor?", "Dario sings tenor.", False),
    ],
)
def test_one_sentence_is_no_list_of_all(question: str, text: str, cannot: bool) -> None:
    section = evidence("Notes#0", text, 0.9).section
    assert cannot_list(question, AnswerCandidate("span", (Quotation(section, 0, len(text)),))) is cannot
