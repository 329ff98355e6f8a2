"""Section quality: every row and example of reference/retrieval-enhancements.md, and what must always hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.retrieval.rerankers.section_quality import CONTENT_QUALITY_THRESHOLD, score_section_quality
from wikigr.stop_words import STOP_WORDS

TWO = "quantum entanglement"


def text(length: int, *, holding: str = "") -> str:
    """A text of ``length`` words, those of ``holding`` first."""
    first = holding.split()
    return " ".join([*first, *["word"] * (length - len(first))])


@pytest.mark.parametrize(
    ("content", "question", "score"),
    [
        (text(19, holding=TWO), TWO, 0.0),
        ("", TWO, 0.0),
        (text(20), "", 0.26),
        (text(20, holding="what is the"), "What is the … of it?", 0.26),
        (text(50), TWO, 0.35),
        (text(50, holding=TWO), TWO, 0.55),
        (text(100), TWO, 0.50),
        (text(200), TWO, 0.80),
        (text(200, holding=TWO), TWO, 1.0),
        (text(1000), TWO, 0.80),
        (text(1000, holding="quantum"), TWO, 0.90),
        (text(1000, holding=TWO), TWO, 1.0),
        ("See also.", TWO, 0.0),
        (" ".join(["quantum", "entanglement"] * 100), TWO, 1.0),
    ],
)
def test_documented_scores(content: str, question: str, score: float) -> None:
    assert score_section_quality(content, question) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("(Photosynthesis),", "What is PHOTOSYNTHESIS?"),
        ("Bell", "Who was Bell’s?"),
        ("Bell's", "Who was bell?"),
        ("Schro\u0308dinger", "Who was Schrödinger?"),
        ("quantum_state", "quantum state"),
        ("ﬁne", "fine"),
    ],
)
def test_a_match_ignores_case_punctuation_unicode_form_and_possessives(written: str, asked: str) -> None:
    assert score_section_quality(text(200, holding=written), asked) == pytest.approx(1.0)


def test_part_of_a_word_is_no_match() -> None:
    assert score_section_quality(text(200, holding="atomic"), "atom") == pytest.approx(0.8)


def test_stop_words() -> None:
    assert set("a an the in of to for with by from".split()) <= STOP_WORDS
    assert "photosynthesis" not in STOP_WORDS
    assert isinstance(STOP_WORDS, frozenset)
    assert 75 <= len(STOP_WORDS) <= 85
    assert CONTENT_QUALITY_THRESHOLD == 0.3


@given(st.text(), st.text())
def test_a_score_lies_between_0_and_1(content: str, question: str) -> None:
    assert 0.0 <= score_section_quality(content, question) <= 1.0
    assert 0.26 <= score_section_quality(content + " word" * 20, question) <= 1.0


@given(st.integers(20, 400), st.integers(0, 400), st.integers(1, 8), st.data())
def test_more_keywords_or_more_words_never_lower_a_score(
    length: int, longer: int, asked: int, data: st.DataObject
) -> None:
    keywords = [f"key{n}" for n in range(asked)]
    more = data.draw(st.integers(1, asked))
    fewer = data.draw(st.integers(0, more - 1))
    question = "What is " + " ".join(keywords)

    def score(words: int, held: int) -> float:
        return score_section_quality(text(words, holding=" ".join(keywords[:held])), question)

    assert score(length, fewer) < score(length, more)
    assert score(length, more) <= score(length + longer, more)
