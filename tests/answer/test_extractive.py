"""Quotations, and whole answers on the demo pack."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.answer.evidence import evidence

from wikigr.answer.answer import Answer
from wikigr.answer.extractive import SENTENCE_FLOOR, best_sentences, quote
from wikigr.answer.sentences import SentenceScore
from wikigr.errors import UsageError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.reader.options import ReaderOptions
from wikigr.reader.passage import Span

QUESTIONS = Path(__file__).parents[2] / "packs" / "physics" / "eval" / "questions.jsonl"


def answer_question(pack: Pack, question: str, profile: Profile | None = None) -> Answer:
    return Pipeline(profile or Profile(), pack).answer(question)


def sentence(pack: Pack, text: str, score: float = 1.0) -> SentenceScore:
    whole = SentenceScore(
        evidence("A#0", text, 1.0).section, 0, len(text), score, score, score, score, score, score, score
    )
    assert whole.text == text
    return whole


def quoted(*sentences: SentenceScore) -> list[str]:
    return [citation.quote for citation in quote(best_sentences(sentences, short=False, limit=3))]


def test_nothing_is_quoted_twice(pack: Pack) -> None:
    mona = "The Mona Lisa is one of the most recognizable paintings in the world."
    assert quoted(
        sentence(pack, mona),
        sentence(pack, f"Enlarge {mona}"),
        sentence(pack, "The Mona Lisa, is one of the MOST recognizable paintings in the world!"),
        sentence(pack, "It is by Leonardo."),
        sentence(pack, "one of the most recognizable paintings."),
        sentence(pack, f"{mona} It was painted in Florence by Leonardo da Vinci between 1503 and 1519, on poplar."),
    ) == [
        mona,
        "It is by Leonardo.",
        f"{mona} It was painted in Florence by Leonardo da Vinci between 1503 and 1519, on poplar.",
    ]


def test_after_a_sentence_a_fragment_must_tell_something(pack: Pack) -> None:
    prose = sentence(pack, "Spin is angular momentum.")
    header = sentence(pack, "spin | family | behavior")
    row = sentence(pack, "1961 | Claus Jönsson, Tübingen | electron beam")
    aside = replace(row, term_coverage=0.0)
    assert quoted(prose, header, row) == [prose.text, row.text]
    assert quoted(prose, aside) == [prose.text]
    assert quoted(header, aside) == [header.text, aside.text]
    assert quoted(prose, sentence(pack, "Uses:"), sentence(pack, "Capital: Zedtown")) == [
        prose.text,
        "Capital: Zedtown",
    ]


def test_gold_questions_get_their_answers(pack: Pack) -> None:
    """The floor is well below what was measured (72% of single-fact questions): it catches a broken part."""
    gold = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    single = [question for question in gold if question["type"] == "single"]
    right = 0
    for question in single:
        answer = answer_question(pack, question["question"])
        right += any(accepted.lower() in answer.text.lower() for accepted in question["answers"])
    assert len(single) >= 40
    assert right / len(single) >= 0.65


def test_further_sentences_come_near_the_best(pack: Pack) -> None:
    without_reader = Profile().override(ReaderOptions, enabled=False)
    answer = answer_question(pack, "In which year was Werner Heisenberg born?", without_reader)
    kept = answer.sentences[: len(answer.citations)]
    assert len(kept) >= 2
    assert [s.text for s in kept] == [c.quote for c in answer.citations]
    assert all(s.score >= SENTENCE_FLOOR * kept[0].score for s in kept)


def read(pack: Pack, text: str, short: str, score: float) -> SentenceScore:
    """Return a sentence in which the reader has found ``short``."""
    start = text.index(short)
    return replace(sentence(pack, text), span=Span(start, start + len(short), 1.0), answer_score=score)


def test_a_further_sentence_has_a_good_answer_of_its_own(pack: Pack) -> None:
    ulm = read(pack, "Einstein was born in Ulm.", "Ulm", 0.9)
    same = read(pack, "In the town of Ulm a child was born.", "the town of Ulm", 0.85)
    other = read(pack, "He grew up in the city of Munich.", "Munich", 0.8)
    doubtful = read(pack, "He lived for years in Bern.", "Bern", 0.49)
    unread = sentence(pack, "He died in Princeton.")
    ranked = [ulm, same, other, doubtful, unread]
    assert best_sentences(ranked, short=True, limit=3) == [ulm, other]
    assert best_sentences(ranked, short=False, limit=3) == [ulm, same, other]
    assert best_sentences([doubtful, unread], short=True, limit=3) == [doubtful]
    assert best_sentences(ranked, short=False, limit=2) == [ulm, same]


@pytest.mark.parametrize("question", ["", " \n", "\t"])
def test_an_empty_question_is_refused(pack: Pack, question: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        answer_question(pack, question)


def test_a_question_that_is_not_read_whole_says_so(pack: Pack) -> None:
    told = answer_question(pack, "When was the Lamb shift measured, " * 20).trace.warnings
    assert len(told) == 1
    assert "120 words" in told[0]
    assert answer_question(pack, "When was the Lamb shift measured?").trace.warnings == []


def test_a_huge_or_broken_question_is_answered_or_declined(pack: Pack) -> None:
    assert answer_question(pack, "spin " * 200_000).query_type in ("extractive", "abstained")
    assert answer_question(pack, "what \udcff is spin?").query_type == "extractive"
    assert answer_question(pack, 'what is "spin" AND (title:x OR -y)?').query_type in ("extractive", "abstained")
