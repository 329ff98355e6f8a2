from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.metrics.examples import ANSWER, KIEL, QUESTION

from wikigr.answer.citations import StoredText
from wikigr.evaluation.metrics import score
from wikigr.evaluation.metrics.accuracy import accuracy, exact_match, normalize, token_f1
from wikigr.evaluation.metrics.answered import AnsweredQuestion

WORDS = st.text(alphabet="abtheKi5é -–.,'", max_size=20)


def test_normalization() -> None:
    cases = {
        "The  Kaiser\nWilhelm Society!": "kaiser wilhelm society",
        "an apple, a pear": "apple pear",
        "«Œuvre» “quoted” ¿qué?": "œuvre quoted qué",
        "$1,954.": "1954",
        "20 °C or €5": "20 °c or €5",
        "Kiel—a city…north": "kiel city north",
        "state-of-the-art": "stateoftheart",
        "Schro\u0308dinger": "schrödinger",
        "theory, anode": "theory anode",
        "The": "",
    }
    assert {text: normalize(text) for text in cases} == cases


def test_accuracy(subtests: pytest.Subtests) -> None:
    for text, accepted, right in [
        ("He was born in Kiel.", ["Kiel"], 1.0),
        ("He was born in Kiel.", ["Bern", "kiel"], 1.0),
        ("In 1954.", ["5"], 0.0),
        ("In Stuttgart", ["art"], 0.0),
        ("from 1930–1937, in Berlin", ["1930"], 1.0),
        ("from 1930–1937, in Berlin", ["1930-1937"], 1.0),
        ("from 1930 to 1937", ["1930-1937"], 0.0),
        ("the Davisson–Germer experiment", ["Germer"], 1.0),
        ("wave particle duality", ["wave-particle duality"], 1.0),
        ("It is Planck’s constant", ["Planck"], 1.0),
        ("a 1,954 metre peak", ["1954"], 1.0),
        ("3.5 eV", ["5"], 0.0),
        ("at the University of Kiel", ["University of the Kiel"], 1.0),
        ("Kiel of University", ["University of Kiel"], 0.0),
        ("The vitamin", ["A"], 0.0),
        ("a vitamin", ["A"], 0.0),
        ("vitamin A", ["A"], 1.0),
        ("C++ and +", ["+"], 1.0),
        ("vitamin", ["+"], 0.0),
        ("", ["Kiel"], 0.0),
        ("Kiel", [], 0.0),
        ("Kiel", [""], 0.0),
    ]:
        with subtests.test(text=text):
            assert accuracy(text, accepted) == right


@pytest.mark.parametrize(
    ("text", "accepted", "em", "f1"),
    [
        ("The Kiel.", ["Bern", "Kiel"], 1.0, 1.0),
        ("born in Kiel", ["Kiel"], 0.0, 0.5),
        ("Kiel Kiel", ["Kiel"], 0.0, 2 / 3),
        ("Bern", ["Kiel"], 0.0, 0.0),
        ("", ["Kiel"], 0.0, 0.0),
        ("Kiel", [], 0.0, 0.0),
        ("The", ["A"], 0.0, 0.0),
        ("A", ["A"], 1.0, 1.0),
    ],
)
def test_exact_match_and_f1(text: str, accepted: list[str], em: float, f1: float) -> None:
    assert exact_match(text, accepted) == em
    assert token_f1(text, accepted) == pytest.approx(f1)


@given(WORDS, st.lists(WORDS, max_size=3))
def test_answer_metrics_keep_their_order_and_range(text: str, accepted: list[str]) -> None:
    em, f1 = exact_match(text, accepted), token_f1(text, accepted)
    assert 0.0 <= f1 <= 1.0
    assert em in (0.0, 1.0)
    if em and text.strip():
        assert f1 == 1.0
        assert accuracy(text, accepted) == 1.0
    assert token_f1(text, accepted[::-1]) == f1


@given(WORDS.filter(str.strip), WORDS, WORDS)
def test_an_accepted_string_among_words_is_found(accepted: str, before: str, after: str) -> None:
    assert accuracy(f"{before} {accepted} {after}", [accepted]) == 1.0


def test_exact_match_and_f1_judge_the_short_answer() -> None:
    place = KIEL.content.index("Kiel")
    short = replace(ANSWER, span=StoredText("Kiel", KIEL.section_id, place, place + 4))
    assert [score(QUESTION, ANSWER, ())[name] for name in ("accuracy", "exact_match", "f1")] == [1.0, 0.0, 0.25]
    assert [score(QUESTION, short, ())[name] for name in ("accuracy", "exact_match", "f1")] == [1.0, 1.0, 1.0]
    # The whole answer holds what the short one misses.
    wrong = replace(ANSWER, span=StoredText("1858", KIEL.section_id, 27, 31))
    assert [score(QUESTION, wrong, ())[name] for name in ("accuracy", "exact_match", "f1")] == [1.0, 0.0, 0.0]
    abstained = replace(short, query_type="abstained")
    assert AnsweredQuestion(QUESTION, abstained, ()).short_text == ""
    assert score(QUESTION, abstained, ())["exact_match"] == 0.0


def test_citation_numbers_are_no_answers() -> None:
    number = replace(QUESTION, answers=("1",))
    assert score(number, ANSWER, ())["accuracy"] == 0.0
    claim = replace(ANSWER, text="Kiel [unverified]", citations=(), unverified=("Kiel",))
    values = score(QUESTION, claim, ())
    assert values["exact_match"] == 1.0
    assert values["verified"] == 0.0
    assert values["hallucination"] == 1.0
