from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ray.conftest import ROOT, add_worker

from wikigr.errors import UsageError
from wikigr.evaluation.questions import load_questions
from wikigr.evaluation.runner import Evaluation, evaluate
from wikigr.ingest.engines.cluster import ClusterError, connect
from wikigr.pipeline.profile_files import load_profile

QUESTIONS = ROOT / "packs" / "physics" / "eval" / "questions.jsonl"


@pytest.fixture
def evaluation(physics_pack: Path) -> Evaluation:
    profiles = [load_profile("baseline"), load_profile("enhanced")]
    return Evaluation(str(physics_pack), load_questions(QUESTIONS)[:20], "", None, profiles, offline=True)


def samples(folder: Path) -> list[str]:
    """Return the lines of a run's samples, in order, without the timings, which no two runs share."""
    lines = (json.loads(line) for line in (folder / "samples.jsonl").read_text().split("\n")[:-1])
    return [json.dumps({**sample, "timings": sorted(sample["timings"])}) for sample in lines]


def test_a_cluster_gives_the_samples_of_one_process(
    make_cluster: Callable[..., Any], evaluation: Evaluation, tmp_path: Path
) -> None:
    evaluate(evaluation, tmp_path / "one")
    cluster = make_cluster()
    add_worker(cluster)
    advanced: list[int] = []
    with connect(cluster.address) as joined:
        evaluate(evaluation, tmp_path / "two", cluster=joined, advance=advanced.append)
    assert len(samples(tmp_path / "one")) == 40
    assert samples(tmp_path / "one") == samples(tmp_path / "two")
    assert sum(advanced) == 40


def test_a_node_that_does_not_have_the_pack(
    make_cluster: Callable[..., Any],
    evaluation: Evaluation,
    physics_pack: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = make_cluster()
    monkeypatch.chdir(physics_pack.parent)
    elsewhere = f"/proc/self/cwd/{physics_pack.name}"
    there = Evaluation(elsewhere, evaluation.questions, "", None, evaluation.profiles, offline=True)
    with (
        connect(cluster.address) as joined,
        pytest.raises(ClusterError, match=r"The node .* of the Ray cluster cannot open the pack") as caught,
    ):
        evaluate(there, tmp_path / "run", cluster=joined)
    assert "a folder that all nodes share" in (caught.value.hint or "")


def test_a_cluster_asks_no_model(evaluation: Evaluation, paths_for_workers: None, tmp_path: Path) -> None:
    online = Evaluation(evaluation.pack, evaluation.questions, "", None, evaluation.profiles)
    with connect(workers=1) as cluster, pytest.raises(UsageError, match="offline only") as caught:
        evaluate(online, tmp_path / "run", cluster=cluster)
    assert "--offline" in (caught.value.hint or "")
