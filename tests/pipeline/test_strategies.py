"""The table of answer strategies: all that apply write, one after the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wikigr.answer.answer import ABSTAINED, Answer
from wikigr.answer.stages import Draft
from wikigr.pack.open import Pack
from wikigr.pipeline import pipeline as module
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.strategies import STRATEGIES, OnText, Strategy, Writers

QUESTION = "Where did Werner Heisenberg work?"
OFF_TOPIC = "Who won the football World Cup in 2022?"


def write(writers: Writers, draft: Draft, answer: Answer, on_text: OnText | None) -> Answer:
    return replace(answer, text="Mine.", query_type="mine")


def test_a_row_before_the_others_wins(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Strategy("mine", lambda resources, draft, answer: True, write)
    monkeypatch.setattr(module, "STRATEGIES", (mine, *STRATEGIES))
    answer = Pipeline(Profile(), pack, offline=True).answer(QUESTION)
    assert (answer.text, answer.query_type) == ("Mine.", "mine")


def test_a_row_after_the_others_gets_what_they_left(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Strategy("mine", lambda resources, draft, answer: answer.abstained, write)
    monkeypatch.setattr(module, "STRATEGIES", (*STRATEGIES, mine))
    pipeline = Pipeline(Profile(), pack, offline=True)
    assert pipeline.answer(QUESTION).query_type == "extractive"
    assert pipeline.answer(OFF_TOPIC).query_type == "mine"


def test_without_a_model_what_is_not_covered_stays_an_abstention(pack: Pack) -> None:
    assert Pipeline(Profile(), pack, offline=True).answer(OFF_TOPIC).query_type == ABSTAINED
