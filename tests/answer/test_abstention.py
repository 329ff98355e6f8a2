"""The decision whether the pack covers a question."""

from __future__ import annotations

from pathlib import Path

from tests.answer.evidence import evidence, ranked

from wikigr.answer.abstention import DEFAULT_THRESHOLD, NOT_COVERED, assess
from wikigr.answer.answer import Answer
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

QUESTIONS = Path(__file__).parents[2] / "packs" / "physics" / "eval" / "questions.jsonl"


def answer_question(pack: Pack, question: str) -> Answer:
    return Pipeline(Profile(), pack).answer(question)


def test_no_evidence_means_no_sentences_and_no_answer(pack: Pack) -> None:
    assert ranked(pack, "anything") == []
    confidence = assess([], [], {})
    assert (confidence.value, confidence.abstain) == (0.0, True)


def test_a_calibrated_threshold_decides(pack: Pack) -> None:
    item = evidence("Light#0", "Light is made of photons.", 0.9)
    sentences = ranked(pack, "What is light made of?", item)
    lenient = assess([item], sentences, {"abstention": 0.01})
    strict = assess([item], sentences, {"abstention": 0.99})
    assert (lenient.abstain, strict.abstain) == (False, True)
    assert lenient.value > 0.5 > strict.value
    assert assess([item], sentences, {}).parts["threshold"] == DEFAULT_THRESHOLD


def test_off_topic_questions_are_declined(pack: Pack) -> None:
    for question in ("How long should rice simmer?", "Who won the football cup in Brazil?", "qwerty asdfgh zxcvb"):
        answer = answer_question(pack, question)
        assert (answer.abstained, answer.text, answer.citations) == (True, NOT_COVERED, ())
        assert answer.confidence < 0.5
