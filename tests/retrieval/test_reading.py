"""The reader orders sentences, gives the short answer, and makes a probability of its margin."""

from __future__ import annotations

import pytest
from tests.answer.evidence import evidence, from_markdown, material

from wikigr.answer.abstention import THRESHOLD_NAME
from wikigr.answer.answer import Answer
from wikigr.answer.probability import WITH_READER, answer_models
from wikigr.errors import ModelError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.reader.passage import ReaderOptions
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.reading import read_sentences

WITHOUT = Profile().override(ReaderOptions, enabled=False)


def ask(pack: Pack, question: str, profile: Profile | None = None) -> Answer:
    return Pipeline(profile or Profile(), pack, offline=True).answer(question)


def test_the_short_answer_is_a_stored_span_inside_the_first_quotation(pack: Pack) -> None:
    answer = ask(pack, "Where was Werner Heisenberg born?")
    assert answer.span is not None
    section = pack.sections([answer.span.section_id])[answer.span.section_id]
    assert section.content[answer.span.start : answer.span.end] == answer.span.text
    assert "Würzburg" in answer.span.text
    first = answer.citations[0]
    assert first.section_id == answer.span.section_id
    assert first.start <= answer.span.start < answer.span.end <= first.end


def test_questions_that_want_an_explanation_have_no_short_answer(pack: Pack) -> None:
    for question in ("Why did Rutherford propose a nucleus?", "How does an electron diffract?", "Describe spin"):
        answer = ask(pack, question)
        assert answer.span is None
        assert answer.abstained or answer.citations


def test_a_profile_without_the_reader_answers_from_features_alone(pack: Pack) -> None:
    answer = ask(pack, "Where was Werner Heisenberg born?", WITHOUT)
    assert answer.span is None
    assert "reader" not in [record.stage for record in answer.trace.stages]
    assert all(sentence.span is None for sentence in answer.sentences)


def test_only_the_given_number_of_sections_is_read(pack: Pack) -> None:
    for count in (1, 3):
        answer = ask(pack, "Who discovered the neutron?", Profile().override(ReaderOptions, sections=count))
        assert len({s.section.section_id for s in answer.sentences if s.span is not None}) == count
        (record,) = [record for record in answer.trace.stages if record.stage == "reader"]
        assert len(record.ranking) == count


def test_each_cell_of_a_row_is_read_and_the_section_of_the_best_row_too(pack: Pack) -> None:
    table = "| site | wind | rain |\n|---|---|---|\n| Ossa Ridge | 41 knots | 3 mm |\n| Tarn | 12 knots | 9 mm |"
    items = [evidence(f"Weather {n}#0", f"The weather of day {n} was mild.", 0.9) for n in range(3)]
    items.append(from_markdown("Stations#0", table, score=0.1))
    question = "How strong was the wind at Ossa Ridge?"
    found_in = material(pack, question, *items)
    read = read_sentences(pack.reader, found_in.question, items, found_in.sentences, ReaderOptions(sections=2))
    sections = {sentence.section.title for sentence in read if sentence.span is not None}
    assert sections == {"Weather 0", "Stations"}
    row = next(s for s in read if s.row is not None and s.text.startswith("site: Ossa Ridge"))
    assert row.row is not None
    for cell, span in zip(row.row.cells, row.cell_spans, strict=True):
        assert span is not None
        assert cell.start <= span.start < span.end <= cell.end


def test_the_sentences_that_were_read_come_first_and_in_order(pack: Pack) -> None:
    answer = ask(pack, "When did Niels Bohr receive the Nobel Prize?")
    read = [sentence.span is not None for sentence in answer.sentences]
    assert read == sorted(read, reverse=True)
    scores = [sentence.score for sentence in answer.sentences if sentence.span is not None]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 < score < 1.0 for score in scores)


def test_the_confidence_is_the_strength_that_is_compared_with_the_named_threshold(pack: Pack) -> None:
    answer = ask(pack, "Where was Werner Heisenberg born?")
    (record,) = [record for record in answer.trace.stages if record.stage == "abstention"]
    assert record.notes["strength"] == answer.confidence
    assert record.notes["threshold"] == answer_models()[WITH_READER].covered
    assert record.notes["threshold_name"] == THRESHOLD_NAME
    assert answer.confidence > ask(pack, "Who won the football World Cup in 2022?").confidence


def test_a_pack_with_another_encoder_says_once_that_it_has_no_reader(
    pack: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(self: Pack) -> None:
        raise NoReaderError("There is no reader for the encoder other.")

    monkeypatch.setattr(Pack, "reader", property(missing))
    pipeline = Pipeline(Profile(), pack, offline=True)
    first, second = (pipeline.answer("Where was Werner Heisenberg born?") for _ in range(2))
    assert first.trace.warnings == ["reader: There is no reader for the encoder other."]
    assert second.trace.warnings == []
    without = ask(pack, "Where was Werner Heisenberg born?", WITHOUT)
    assert first.text == second.text == without.text
    (record,) = [record for record in second.trace.stages if record.stage == "reader"]
    assert record.notes["reader"] == "There is no reader for the encoder other."


def test_a_reader_that_must_be_prepared_is_an_error(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(self: Pack) -> None:
        raise ModelError("The reader is damaged.", hint="wikigr model prepare --force")

    monkeypatch.setattr(Pack, "reader", property(damaged))
    with pytest.raises(ModelError, match="damaged"):
        ask(pack, "Where was Werner Heisenberg born?")


@pytest.mark.parametrize("question", ["why " * 2000, "¿" * 300, "誰がプランクですか", "من هو بور؟", "?", "a" * 5000])
def test_odd_questions_get_an_answer_or_an_abstention(pack: Pack, question: str) -> None:
    answer = ask(pack, question)
    assert answer.abstained or answer.citations
    assert 0.0 <= answer.confidence <= 1.0


def test_windows_that_leave_no_room_are_a_mistake_of_the_profile() -> None:
    assert ReaderOptions().problem() is None
    problem = ReaderOptions(window=128, overlap=120).problem()
    assert problem is not None
    assert problem[0] == ("window", "overlap")
