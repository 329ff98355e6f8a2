"""Questions with two question words are answered in both parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

LIVES = {
    "tessa-arnold": "Tessa Arnold was a glazier.\n\nShe was born in Ghent on 4 May 1871 as the second of six children.",
    "ivo-brandt": "Ivo Brandt was a painter of ships, born in Lübeck.\n\n"
    "The first child of a widowed baker, he was born on 9 March 1902.",
    "nora-quist": "Nora Quist was a botanist of mosses.\n\nShe was born in Uppsala, the daughter of a judge.",
}


@pytest.fixture(scope="module")
def pipeline(pack_of: Callable[..., Path]) -> Iterator[Pipeline]:
    files = {f"{name}.md": f"# {name.replace('-', ' ').title()}\n\n{text}\n" for name, text in LIVES.items()}
    with Pack(pack_of("lives", files)) as pack:
        yield Pipeline(Profile(), pack, offline=True)


def test_words_that_stand_together_are_the_short_answer(pipeline: Pipeline) -> None:
    answer = pipeline.answer("When and where was Tessa Arnold born?")
    assert answer.span is not None
    assert answer.span.text == "Ghent on 4 May 1871"
    assert [c.quote for c in answer.citations] == [LIVES["tessa-arnold"].partition("\n\n")[2]]


def test_two_sentences_are_quoted_in_the_order_of_the_parts(pipeline: Pipeline) -> None:
    place, date = LIVES["ivo-brandt"].split("\n\n")
    for question, quotes in (
        ("Where and when was Ivo Brandt born?", [place, date]),
        ("When and where was Ivo Brandt born?", [date, place]),
    ):
        answer = pipeline.answer(question)
        assert [citation.quote for citation in answer.citations] == quotes
        assert answer.span is None, "either part alone is half an answer"


def test_a_part_that_the_pack_lacks_makes_the_answer_less_likely(pipeline: Pipeline) -> None:
    both = pipeline.answer("When and where was Tessa Arnold born?")
    half = pipeline.answer("When and where was Nora Quist born?")
    assert half.confidence < both.confidence
    assert "Uppsala" in half.text


def test_what_the_pack_does_not_cover_in_either_part_is_not_answered(pipeline: Pipeline) -> None:
    assert pipeline.answer("When and where was the Battle of Hastings fought?").abstained


def test_the_trace_has_the_sentences_of_the_parts(pipeline: Pipeline) -> None:
    answer = pipeline.answer("Where and when was Ivo Brandt born?")
    record = next(record for record in answer.trace.stages if record.stage == "reader")
    assert record.notes["parts"] == [citation.quote for citation in answer.citations]
