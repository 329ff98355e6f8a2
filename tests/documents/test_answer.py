"""The document of an answer has one shape for the answer and its alternatives, and every key of its type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest
from pydantic import TypeAdapter
from tests.possible_answers import answer_everything, demo_answer

from wikigr.answer.candidates import table
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, quotation_of, span_in
from wikigr.answer.candidates.table import AnswerKind
from wikigr.documents import shapes
from wikigr.documents.answer import answer_document
from wikigr.documents.receipt import make_receipt, read_receipts, write_receipts
from wikigr.documents.replay import replay
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.server.mcp import bounded


@pytest.fixture(scope="module")
def pipeline(physics_pack: Path) -> Iterator[Pipeline]:
    with Pack(physics_pack) as pack:
        yield Pipeline(Profile(), pack, offline=True)


def test_an_answer_has_the_keys_of_its_alternatives(pipeline: Pipeline) -> None:
    answer = demo_answer(pipeline.pack, "likely")
    document = answer_document(answer, pipeline)
    optional = {"explain", "packs"}
    assert document.keys() == get_type_hints(shapes.AnswerDocument).keys() - optional
    possible = shapes.PossibleAnswerShape.__annotations__.keys()
    assert possible == {"answer", "kind", "confidence", "span", "citations", "context", "blocks"}
    assert possible <= document.keys()
    assert [other.keys() for other in document["alternatives"]] == [possible, possible]
    assert (document["answer"], document["kind"], document["level"]) == (answer.text, "span", "likely")
    first, second = document["alternatives"]
    assert (first["kind"], first["confidence"], second["span"]) == ("fact", 0.3, None)
    assert [citation["n"] for other in document["alternatives"] for citation in other["citations"]] == [1, 1]


def test_everything_that_is_quoted_is_stored_text(pipeline: Pipeline) -> None:
    document = answer_document(demo_answer(pipeline.pack, "not_sure"), pipeline)
    for possible in (document, *document["alternatives"]):
        parts = [(part, part["text"]) for part in (possible["span"], possible["context"]) if part is not None]
        parts += [(citation, citation["quote"]) for citation in possible["citations"]]  # type: ignore[misc]
        for part, text in parts:
            content = pipeline.pack.sections([part["section_id"]])[part["section_id"]].content
            assert content[part["start"] : part["end"]] == text
        assert possible["context"] is not None
        assert possible["context"]["start"] <= possible["citations"][0]["start"]
        assert possible["context"]["end"] >= possible["citations"][0]["end"]


def test_what_is_not_covered_has_none_of_it(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.pipeline.pipeline.STRATEGIES", ())
    document = answer_document(pipeline.answer("Who painted the ceiling?"), pipeline)
    found = (document["level"], document["kind"], document["context"], document["citations"])
    assert found == ("not_covered", "", None, [])
    assert [other["kind"] for other in document["alternatives"]] == ["passage"] * 3
    assert document["abstained"]


def test_the_citations_of_alternatives_have_addresses(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_everything(monkeypatch, "likely")
    answer = pipeline.answer("Where was he born?")
    for citation in (answer.citations[0], *(other.citations[0] for other in answer.alternatives)):
        url = citation.url
        assert url is not None and url.endswith(".md")
    assert "niels-bohr.md" in str(answer.alternatives[0].citations[0].url)


def test_a_new_kind_of_answer_is_one_function_and_one_row(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def find_first_words(material: Material) -> Iterator[AnswerCandidate]:
        sentence = material.sentences[0]
        span = span_in(sentence, 0, sentence.text.index(" "))
        yield AnswerCandidate("first_word", (quotation_of(sentence),), span=span, lead="It begins so:", fit=1.0)

    monkeypatch.setattr(table, "ANSWER_KINDS", (AnswerKind(("first_word",), find_first_words),))
    answer = pipeline.answer("Who proposed matter waves?")
    quoted = answer.citations[0].quote
    document = answer_document(answer, pipeline, explain=20)
    TypeAdapter(shapes.AnswerDocument).validate_python(document, strict=True)
    assert (document["kind"], document["span"] and document["span"]["text"]) == ("first_word", quoted.split()[0])
    tool = bounded(document)
    assert (tool["kind"], tool["span"]) == ("first_word", document["span"])
    (source,) = document["citations"]
    assert "".join(run["text"] for block in source["blocks"] for run in block["runs"]) == quoted
    write_receipts(tmp_path / "receipt.json", [make_receipt(answer, pipeline)], batch=False)
    (read,) = read_receipts(tmp_path / "receipt.json")
    assert (read.document["kind"], read.document["span"]) == ("first_word", document["span"])
    (pack,) = pipeline.pack.members
    assert all(check.passed for check in replay(read, pack) if check.required)
