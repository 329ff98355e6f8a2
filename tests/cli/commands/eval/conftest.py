"""Fixtures of the ``wikigr eval`` tests: a small question set and runs over the demo pack."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr.evaluation.questions import load_questions
from wikigr.evaluation.runner import Evaluation, evaluate
from wikigr.pipeline.profile import Profile

from ...conftest import ROOT_PACK, Result, Wikigr

TOTAL = 6
# The answerable and the other questions of an ablation, which asks twelve profiles.
FEW = (3, 1)
# Enough questions that a gate can fail for a profile that declines all of them.
GATED = 16

GOLD = ROOT_PACK / "eval" / "questions.jsonl"


@pytest.fixture(autouse=True)
def _responses_of_this_test(own_caches: Path) -> None:
    """A cache folder without replies of models."""


def write_questions(path: Path, answerable: int, others: int) -> Path:
    rows = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    chosen = [r for r in rows if r["answerable"]][:answerable] + [r for r in rows if not r["answerable"]][:others]
    path.write_text("".join(json.dumps(row) + "\n" for row in chosen), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Four answerable gold questions and two others."""
    return write_questions(tmp_path / "gold.jsonl", TOTAL - 2, 2)


Run = Callable[..., Result]


@pytest.fixture
def run(wikigr: Wikigr, physics_pack: Path, questions: Path) -> Run:
    def call(folder: str, *options: str) -> Result:
        common = ("--pack", str(physics_pack), "--questions", str(questions), "-o", folder, "--offline")
        return wikigr("eval", "run", *common, *options)

    return call


@pytest.fixture(scope="module")
def enhanced_run(physics_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of `enhanced` over enough questions that a broken profile cannot pass for chance."""
    folder = tmp_path_factory.mktemp("eval")
    questions = write_questions(folder / "gold.jsonl", GATED - 2, 2)
    evaluation = Evaluation(
        pack=str(physics_pack),
        questions=load_questions(questions),
        questions_path=str(questions),
        split=None,
        profiles=[Profile()],
        offline=True,
    )
    evaluate(evaluation, folder / "good")
    return folder
