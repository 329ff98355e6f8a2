"""What makes a run the same one, and what is kept with it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from wikigr.errors import WikigrError
from wikigr.evaluation import runner
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.evaluation.run import differences, read_run
from wikigr.evaluation.runner import Evaluation, ablations, evaluate
from wikigr.evaluation.samples import SAMPLES, Sample
from wikigr.pipeline.profile_files import load_profile

QUESTIONS = [
    GoldQuestion(f"q{n}", text, (answer,), (Gold("Albert Einstein"),), True, "", "", None, n)
    for n, (text, answer) in enumerate(
        (("Where was Albert Einstein born?", "Ulm"), ("What did Einstein explain in 1905?", "photoelectric"))
    )
]
CONTEXT = {"articles": ["Spin"], "facts": ["Spin is a kind of angular momentum."]}


@pytest.fixture
def evaluation(physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluation:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    # The tests of the command line ask; here it does not matter what the answers are.
    monkeypatch.setattr(runner, "ask_question", lambda pipeline, asked, n: Sample(pipeline.profile.name, asked.id, n))
    pack = shutil.copytree(physics_pack, tmp_path / "pack")
    return Evaluation(str(pack), QUESTIONS, "gold.jsonl", None, [load_profile("baseline"), load_profile("fast")])


def cut(folder: Path) -> None:
    """Have the run look as one that was killed."""
    lines = (folder / SAMPLES).read_text().splitlines(keepends=True)
    (folder / SAMPLES).write_text("".join(lines[:1]))


@pytest.mark.parametrize("change", ["thresholds", "model", "examples"])
def test_a_run_goes_on_only_as_itself(
    evaluation: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    folder = tmp_path / "run"
    evaluate(evaluation, folder)
    cut(folder)
    pack = Path(evaluation.pack)
    if change == "thresholds":
        fields = json.loads((pack / "manifest.json").read_text())
        fields["thresholds"]["min_relevance"] = 0.123
        (pack / "manifest.json").write_text(json.dumps(fields))
    elif change == "model":
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://user:secret@127.0.0.1:9/")
    else:
        examples = {"question": "What is spin?", "answer": "A kind of angular momentum.", "context": CONTEXT}
        (pack / "few_shot_examples.json").write_text(json.dumps([examples]))
    with pytest.raises(WikigrError, match="different run"):
        evaluate(evaluation, folder)
    if change == "thresholds":
        evaluate(evaluation, tmp_path / "other")
        found = differences(read_run(folder), read_run(tmp_path / "other"))
        assert found == ["the packs' thresholds differ"]


def test_what_was_declared_is_kept(evaluation: Evaluation, tmp_path: Path) -> None:
    evaluate(replace(evaluation, primary="f1", margin=0.05, sources={"baseline": "baseline"}), tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert (run.primary, run.margin, run.subject, run.models) == (
        "f1",
        0.05,
        "fast",
        {"baseline": "none", "fast": "none"},
    )
    # What can be loaded by its name again is not written.
    assert [path.name for path in (tmp_path / "run" / "profiles").iterdir()] == ["fast.yaml"]


def test_the_profiles_of_an_ablation_can_be_loaded_again(evaluation: Evaluation, tmp_path: Path) -> None:
    profiles = ablations(load_profile("enhanced"))
    evaluate(replace(evaluation, profiles=profiles, subject="enhanced"), tmp_path / "run")
    assert read_run(tmp_path / "run").subject == "enhanced"
    assert len(profiles) > 2
    for profile in profiles:
        assert load_profile(str(tmp_path / "run" / "profiles" / f"{profile.name}.yaml")) == profile
