from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from wikigr.embeddings.embedder import Vectors
from wikigr.errors import UsageError
from wikigr.index.lexical import LexicalIndex, LexicalWriter, stems
from wikigr.question.question import Question, analyze


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    folder = tmp_path_factory.mktemp("question") / "lexical"
    with LexicalWriter(folder) as writer:
        for n in range(20):
            writer.add(f"a#{n}", "a", "", "common words" + (" rare" if n == 0 else ""))
    return LexicalIndex(folder)


def analyzed(text: str, index: LexicalIndex) -> Question:
    return analyze(text, index, lambda texts: np.eye(len(texts), 3, dtype=np.float32))


def test_stems_are_those_of_the_index() -> None:
    assert stems("The Normans' invasions, 1066!") == ["the", "norman", "invas", "1066"]


def test_rare_words_weigh_more_and_question_words_nothing(index: LexicalIndex) -> None:
    question = analyzed("What is the rare common thing?", index)
    assert set(question.weights) == {"rare", "common", "thing"}
    assert question.weights["thing"] > question.weights["rare"] > question.weights["common"] > 0


def test_coverage_is_a_share_by_weight(index: LexicalIndex) -> None:
    question = analyzed("rare common", index)
    assert question.coverage({"rare", "common"}) == pytest.approx(1.0)
    assert question.coverage({"rare"}) > 0.5 > question.coverage({"common"}) > 0
    assert question.coverage(set()) == 0.0


def test_a_related_word_counts_in_part_and_an_unrelated_one_not(index: LexicalIndex) -> None:
    question = analyzed("Normandy", index)
    assert question.coverage({"norman"}) == pytest.approx(0.7)
    assert question.coverage({"normal"}) == 0.0
    assert question.coverage({"norm"}) == 0.0


def test_phrases_are_neighboring_words(index: LexicalIndex) -> None:
    question = analyzed("speed of light", index)
    assert question.phrase_coverage(["the", "speed", "of", "light"]) == 1.0
    assert question.phrase_coverage(["light", "speed", "of"]) == 0.5
    assert question.phrase_coverage([]) == 0.0


def test_the_expected_thing_must_be_new(index: LexicalIndex) -> None:
    question = analyzed("When after 1900 did Planck speak?", index)
    assert question.is_answer_type_in("He spoke in 1901.")
    assert not question.is_answer_type_in("He spoke after 1900.")


def test_a_question_of_question_words_alone_covers_nothing(index: LexicalIndex) -> None:
    question = analyzed("What is it?", index)
    assert (dict(question.weights), question.coverage({"it"}), question.phrase_coverage(["what", "is"])) == (
        {},
        0.0,
        0.0,
    )
    assert isinstance(question, Question)


def test_the_question_is_encoded_once_and_only_when_needed(index: LexicalIndex) -> None:
    calls: list[list[str]] = []

    def encode(texts: Sequence[str]) -> Vectors:
        calls.append(list(texts))
        return np.ones((len(texts), 3), dtype=np.float32)

    question = analyze("Who spoke?", index, encode)
    assert calls == []
    assert question.vector is question.vector
    assert calls == [["Who spoke?"]]


@pytest.mark.parametrize("part", ["2021-01-01 ", "which is the ", "older than 7 "])
def test_a_question_of_unlimited_length_is_refused(index: LexicalIndex, part: str) -> None:
    with pytest.raises(UsageError, match="characters, more than 20,000"):
        analyzed(part * 9_000, index)
    assert analyzed((part * 9_000)[:20_000], index).text


def test_an_empty_question_is_refused_and_broken_unicode_is_not(index: LexicalIndex) -> None:
    with pytest.raises(UsageError, match="empty"):
        analyzed(" \n", index)
    assert analyzed("Who is Ada \ud800?", index).text == "Who is Ada ??"
