"""The reader `base` reads the best sentences of the small one again, and decides."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.reader.mpnet import write_adapter, write_mpnet

from wikigr.answer.answer import Answer
from wikigr.documents.answer import answer_document
from wikigr.errors import ModelError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.reader import base as bases
from wikigr.reader.base import find_base, prepare_base
from wikigr.reader.passage import Passage, ReaderName, ReaderOptions
from wikigr.retrieval.reading import REREAD, reread_sentences

READERS: tuple[ReaderName, ...] = ("small", "base")
QUESTION = "When did Niels Bohr receive the Nobel Prize?"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader `base` with random weights."""
    folder = write_mpnet(tmp_path / "base")
    adapter = write_adapter(tmp_path / "adapters" / "base.safetensors", folder)
    monkeypatch.setattr(bases, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(bases, "find_base", partial(find_base, adapter=adapter))
    prepare_base(str(folder), adapter=adapter)


def ask(pack: Pack, use: ReaderName, question: str = QUESTION, *, enabled: bool = True) -> tuple[Answer, Pipeline]:
    pipeline = Pipeline(Profile().override(ReaderOptions, use=use, enabled=enabled), pack, offline=True)
    return pipeline.answer(question), pipeline


@pytest.mark.usefixtures("base")
def test_it_decides_over_the_best_sentences(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        answer, pipeline = ask(pack, "base")
        small, _ = ask(pack, "small")
        assert (answer.reader, small.reader) == ("base", "small")
        assert answer_document(answer, pipeline, explain=20)["reader"] == "base"
        read = [s for s in answer.sentences if s.span is not None]
        # The margins are new, and those of the small reader are gone.
        before = {s.place: s.span.margin for s in small.sentences if s.span is not None}
        assert {s.place for s in read} < set(before)
        assert {s.place for s in small.sentences[:REREAD]} <= {s.place for s in read}
        assert all(s.span is not None and s.span.margin != before[s.place] for s in read)
        assert list(answer.sentences[: len(read)]) == read
        assert [s.score for s in read] == sorted((s.score for s in read), reverse=True)
        rest = [s.place for s in answer.sentences if s.span is None]
        assert rest == [s.place for s in small.sentences if s.place in set(rest)]
        assert len(answer.sentences) == len(small.sentences)


@pytest.mark.usefixtures("base")
def test_its_margins_are_those_of_the_windows_around_the_best_sentences(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        small, pipeline = ask(pack, "small")
        question = pipeline.retrieve(QUESTION, small.trace).question
        for sentence in reread_sentences(pack.base_reader, question, small.sentences, ReaderOptions()):
            if sentence.span is not None:
                section = sentence.section
                own = (sentence.start, sentence.end)
                passage = Passage(section.title, section.heading, section.content, (own,))
                ((span,),) = pack.base_reader.read(QUESTION, [passage])
                assert span is not None
                assert span.margin >= sentence.span.margin - 1e-4


@pytest.mark.usefixtures("base")
def test_the_cells_of_rows_have_its_margins_too(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        read = [ask(pack, use, "In which year did Jönsson send electrons through two slits?")[0] for use in READERS]
        small, base = ({s.place: s.cell_spans for s in answer.sentences if s.row is not None} for answer in read)
        assert small.keys() == base.keys()
        both = [(one, other) for place in small for one, other in zip(small[place], base[place], strict=False)]
        assert any(one is not None and other is not None for one, other in both)
        assert all(one is None or other is None or one.margin != other.margin for one, other in both)
        assert {len(base[s.place]) for s in read[1].sentences if s.row is not None and s.span is None} <= {0}


def test_one_that_is_not_prepared_names_the_command(
    physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bases, "cache_folder", lambda: tmp_path / "cache")
    with Pack(physics_pack) as pack:
        with pytest.raises(ModelError, match="`base` has not been prepared") as caught:
            ask(pack, "base")
        assert caught.value.hint == "wikigr model prepare --reader base"
        assert ask(pack, "small")[0].reader == "small"
        assert ask(pack, "base", enabled=False)[0].reader is None
