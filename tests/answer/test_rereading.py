"""The large reader reads the best sentences of the small one again, and decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.reader.mpnet import write_adapter, write_mpnet

from wikigr.answer.answer import Answer
from wikigr.answer.reading import MAX_REREAD, reread_sentences
from wikigr.documents.answer import answer_document
from wikigr.errors import ModelError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.reader.large import prepare_large, ready_readers
from wikigr.reader.options import ReaderOptions, ReaderUse
from wikigr.reader.passage import Passage

QUESTION = "When did Niels Bohr receive the Nobel Prize?"
CALIBRATION = {
    "sentence_intercept": 0.1, "sentence_margin": 0.01, "sentence_features": 0.0, "answer_intercept": 0.3,
    "answer_margin": 0.0, "answer_gap": 0.0, "answer_features": 0.0, "answer_nearest": 0.0,
}  # fmt: skip


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The base of a large reader with random weights, which ships but is not prepared."""
    base = write_mpnet(tmp_path / "base")
    adapter = write_adapter(tmp_path / "adapters" / "large.safetensors", base, calibration=CALIBRATION)
    monkeypatch.setattr("wikigr.reader.adapter.LARGE_ADAPTER", adapter)
    monkeypatch.setattr("wikigr.reader.large.large_folder", lambda: tmp_path / "large")
    return base


@pytest.fixture
def large(base: Path) -> None:
    prepare_large(str(base))


@pytest.fixture
def fresh(physics_pack: Path) -> Callable[[], Pack]:
    return lambda: Pack(physics_pack)


def profile(use: ReaderUse) -> Profile:
    return Profile().override(ReaderOptions, use=use)


def stages(answer: Answer) -> list[str]:
    return [record.stage for record in answer.trace.stages]


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("use", ["large", "auto"])
def test_the_large_reader_decides(fresh: Callable[[], Pack], use: ReaderUse) -> None:
    with fresh() as pack:
        pipeline = Pipeline(profile(use), pack, offline=True)
        answer = pipeline.answer(QUESTION)
        small = Pipeline(profile("small"), pack, offline=True).answer(QUESTION)
        document = answer_document(answer, pipeline, explain=True)
    assert (answer.reader, small.reader, document["reader"]) == ("large", "small", "large")
    names = stages(answer)
    assert names[names.index("reader") : names.index("abstention")] == ["reader", "large_reader", "answers"]
    (record,) = [record for record in answer.trace.stages if record.stage == "large_reader"]
    assert record.notes["reader"] == "large"
    assert not answer.trace.degraded and not answer.trace.warnings
    # The calibration is that of the large reader.
    assert answer.confidence == pytest.approx(0.5744425)
    read = [s for s in answer.sentences if s.span is not None]
    assert record.scored == len(read)
    # The margins are new, and those of the small reader are gone.
    before = {s.place: s.span.margin for s in small.sentences if s.span is not None}
    assert {s.place for s in read} < set(before)
    assert {s.place for s in small.sentences[:MAX_REREAD]} <= {s.place for s in read}
    assert all(s.span is not None and s.span.margin != before[s.place] for s in read)
    assert list(answer.sentences[: len(read)]) == read
    assert [s.score for s in read] == sorted((s.score for s in read), reverse=True)
    rest = [s.place for s in answer.sentences if s.span is None]
    assert rest == [s.place for s in small.sentences if s.place in set(rest)]
    assert len(answer.sentences) == len(small.sentences)


@pytest.mark.usefixtures("large")
def test_its_margins_are_those_of_the_windows_around_the_best_sentences(fresh: Callable[[], Pack]) -> None:
    with fresh() as pack:
        pipeline = Pipeline(profile("small"), pack, offline=True)
        small = pipeline.answer(QUESTION)
        question = pipeline.retrieve(QUESTION, small.trace).question
        found = reread_sentences(pack.large_reader, question, small.sentences, ReaderOptions())
        for sentence in found:
            if sentence.span is not None:
                section = sentence.section
                own = (sentence.start, sentence.end)
                passage = Passage(section.title, section.heading, section.content, (own,))
                ((span,),) = pack.large_reader.read(QUESTION, [passage])
                assert span is not None
                assert span.margin >= sentence.span.margin - 1e-4


@pytest.mark.usefixtures("large")
def test_the_default_does_not_load_it(fresh: Callable[[], Pack]) -> None:
    with fresh() as pack:
        answer = Pipeline(Profile(), pack, offline=True).answer(QUESTION)
        assert pack._large_reader is None
    assert answer.reader == "small"
    assert "large_reader" not in stages(answer)


@pytest.mark.usefixtures("large")
def test_a_profile_without_the_reader_does_not_use_the_large_one(fresh: Callable[[], Pack]) -> None:
    with fresh() as pack:
        without = Pipeline(Profile().override(ReaderOptions, enabled=False, use="large"), pack, offline=True)
        answer = without.answer(QUESTION)
    assert answer.reader is None
    assert "large_reader" not in stages(answer)


@pytest.mark.usefixtures("base")
def test_auto_without_it_says_so_once(fresh: Callable[[], Pack]) -> None:
    with fresh() as pack:
        pipeline = Pipeline(profile("auto"), pack, offline=True)
        first, second = (pipeline.answer(QUESTION) for _ in range(2))
    (warning,) = first.trace.warnings
    assert warning.startswith("large_reader: The large reader has not been prepared on this machine.")
    assert warning.endswith("wikigr model prepare --reader large")
    assert second.trace.warnings == []
    for answer in (first, second):
        assert (answer.reader, answer.trace.degraded) == ("small", False)
        (record,) = [record for record in answer.trace.stages if record.stage == "large_reader"]
        assert "has not been prepared" in record.notes["reader"]


@pytest.mark.usefixtures("base")
def test_large_without_it_is_an_error_with_the_command(fresh: Callable[[], Pack]) -> None:
    with fresh() as pack:
        pipeline = Pipeline(profile("large"), pack, offline=True)
        for question in (QUESTION, "What is spin?"):
            with pytest.raises(ModelError, match="has not been prepared on this machine") as caught:
                pipeline.answer(question)
            assert caught.value.hint == "wikigr model prepare --reader large"


@pytest.mark.usefixtures("large")
def test_a_damaged_one_is_an_error_with_the_command(fresh: Callable[[], Pack], tmp_path: Path) -> None:
    (tmp_path / "large" / "reader.onnx").write_bytes(b"")
    with fresh() as pack, pytest.raises(ModelError, match=r"reader\.onnx has 0 bytes") as caught:
        Pipeline(profile("auto"), pack, offline=True).answer(QUESTION)
    assert caught.value.hint == "wikigr model prepare --reader large --force"


def test_a_version_without_one_offers_none(
    fresh: Callable[[], Pack], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikigr.reader.adapter.LARGE_ADAPTER", tmp_path / "none.safetensors")
    with fresh() as pack:
        answer = Pipeline(profile("auto"), pack, offline=True).answer(QUESTION)
        assert answer.reader == "small"
        assert not answer.trace.warnings
        assert "large_reader" not in stages(answer)
        with pytest.raises(ModelError, match="ships no large reader"):
            Pipeline(profile("large"), pack, offline=True).answer(QUESTION)


def test_the_readers_that_are_ready(base: Path, physics_pack: Path, tmp_path: Path) -> None:
    with Pack(physics_pack) as pack:
        model = pack.manifest.encoder.model_id
    assert ready_readers(model, is_bundled=False) == ["small"]
    prepare_large(str(base))
    assert ready_readers(model, is_bundled=False) == ["small", "large"]
    assert ready_readers(str(tmp_path / "none"), is_bundled=False) == []
