"""What the trace of an answer says about an article; `wikigr why` prints it (tests/cli/commands/test_why.py)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.possible_answers import possible_answer

from wikigr.documents.why import why_document
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.rerankers import cross_encoder
from wikigr.rerankers.cross_encoder import CrossEncoderOptions

QUESTION = "Who measured the wavelength of the electron?"


def test_what_another_possible_answer_quotes_was_read(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        answer = Pipeline(Profile(), pack, offline=True).answer(QUESTION)
        other = next(item.section for item in answer.evidence if item.section.title not in answer.sources)
    answer = replace(answer, alternatives=(possible_answer(other, other.content[:20]),))
    explained = why_document(answer, other.title)
    assert (explained["outcome"], explained["dropped_at"]) == ("read", None)
    assert explained["reason"] == "The answer does not quote it, but one of the other possible answers does."
    assert why_document(answer, answer.sources[0])["outcome"] == "cited"


def test_a_stage_that_failed_is_not_what_dropped_it(
    physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(model_name: str, *, download: bool) -> None:
        raise ValueError(f"{model_name} is empty")  # what the library would say after five seconds

    monkeypatch.setattr(cross_encoder, "_load", load)
    profile = Profile(name="x").override(CrossEncoderOptions, enabled=True, model=str(tmp_path))
    with Pack(physics_pack) as pack:
        answer = Pipeline(profile, pack, offline=True).answer(QUESTION)
    explained = why_document(answer, "Louis de Broglie")
    failed = next(stage for stage in explained["stages"] if stage["stage"] == "cross_encoder")
    assert (failed["rank"], failed["reason"]) == (None, "the stage failed and was skipped")
    assert explained["outcome"] == "cited" and explained["dropped_at"] is None


def test_nothing_is_retrieved_to_explain(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        answer = Pipeline(Profile(), pack, offline=True).answer(QUESTION)
    before = [(record.stage, record.milliseconds, record.ranking) for record in answer.trace.stages]
    # The pack is closed: the trace alone must do.
    assert why_document(answer, "Spin")["outcome"] == "dropped"
    assert why_document(answer, "No such article")["outcome"] == "not_found"
    assert [(record.stage, record.milliseconds, record.ranking) for record in answer.trace.stages] == before
