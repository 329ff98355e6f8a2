"""The closed classes of words and the division of questions into words."""

from __future__ import annotations

import pytest

from wikigr.question.grammar import AUXILIARIES, RELATIVES, RESTRICTIVE, is_negation, is_pronoun, one_of, tokenize
from wikigr.stop_words import FUNCTION_WORDS


def test_words_keep_inner_marks_and_lose_final_ones() -> None:
    text = 'Who left "St. Louis", Ohio, with cobalt-60 in the 1940s’ U.S.?'
    words = tokenize(text)
    assert [word.text for word in words if not word.is_mark] == (
        ["Who", "left", "St", "Louis", "Ohio", "with", "cobalt-60", "in", "the", "1940s’", "U.S"]
    )
    assert [word.text for word in words if word.is_mark] == ['"', '"', ",", ","]
    assert all(text[word.start : word.end] == word.text for word in words)


@pytest.mark.parametrize("word", ["not", "never", "isn't", "isn’t", "nor"])
def test_negations(word: str) -> None:
    assert is_negation(word)
    assert not is_negation("note")


def test_classes_are_in_lower_case_and_mostly_function_words() -> None:
    for words in (AUXILIARIES, RELATIVES, RESTRICTIVE):
        assert all(word == word.lower() for word in words)
    assert RELATIVES <= FUNCTION_WORDS
    assert one_of({"b", "a"}) == "a|b"


def test_a_pronoun_names_nothing_by_itself() -> None:
    pointing = ["she", "It", "that city", "there", "these two", "Them"]
    assert [text for text in pointing if not is_pronoun(text)] == []
    naming = ["", "Hera", "that City", "this old mill", "IT department", "12", "herself and Bo"]
    assert [text for text in naming if is_pronoun(text)] == []
