from __future__ import annotations

import pytest

from wikigr.question.masked_question import MaskedQuestion, mask


def masked(question: str) -> MaskedQuestion:
    start = question.index("X Y")
    return mask(question, start, start + len("X Y"))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("who acted in the films written by the writer of X Y", ["writer", "written", "films", "acted", "person"]),
        ("when did the movies directed by X Y release", ["directed", "movies", "release", "date year"]),
        ("X Y's mother's birthplace", ["mother", "birthplace"]),
        ("name the director of X Y", ["director"]),
    ],
)
def test_words_are_ordered_from_the_topic_outward(question: str, words: list[str]) -> None:
    found = masked(question)
    assert [found.tokens[n].text for n in found.orders[0]] == words


def test_the_role_of_a_word_follows_from_the_grammar() -> None:
    cases = {
        ("the owner of X Y", "owner"): "possessor",
        ("films directed by X Y", "directed"): "agent",
        ("what does X Y eat", "eat"): "subject",
        ("who eats X Y", "eats"): "object",
        ("X Y is the owner of what", "owner"): "holder",
        ("X Y is eaten by", "eaten"): "patient",
        ("whose father is X Y", "father"): "holder",
    }
    assert {
        (question, word): next((token.role for token in masked(question).tokens if token.text == word), None)
        for question, word in cases
    } == cases


def test_a_word_names_a_relation_or_a_kind_of_thing() -> None:
    cases = {
        ("films directed by X Y", "films"): "kind",
        ("who wrote the movie X Y", "movie"): "kind",
        ("the people that admire X Y", "people"): "kind",
        ("what kind of film is X Y", "film"): "kind",
        ("which company does X Y own", "company"): "asked",
        ("X Y is in which country", "country"): "asked",
        ("the chief executive of X Y", "chief"): "relation",
    }
    assert {
        (question, word): next((token.use for token in masked(question).tokens if token.text == word), None)
        for question, word in cases
    } == cases


def test_a_word_that_is_nested_counts_each_time() -> None:
    cases = {
        "the parent of the parent of X Y": 2,
        "X Y's parent's parent": 2,
        "the parent of X Y": 1,
        "the owner of the parent of X Y": 1,
        "who owns X Y": 0,
    }
    assert {question: masked(question).nested for question in cases} == cases


def test_same_and_also_mark_the_word_that_they_precede() -> None:
    found = masked("which films have the same director as X Y")
    assert found.is_shared
    assert [token.text for token in found.tokens if token.is_shared] == ["director"]
    assert [token.text for token in masked("who co-starred with X Y").tokens if token.is_shared] == ["starred"]
    assert not masked("films directed by X Y").is_shared
