"""Kill a build, an export and an evaluation at arbitrary moments: the same command then gives the same result."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Wikigr
from tests.distribution.letters import build_letters

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.manifest import read_manifest
from wikigr.pack.validate import validate_pack
from wikigr.sources.detect import open_source

from .conftest import Tally, kill_when, kills

SEED = int(os.environ.get("WIKIGR_TRUST_SEED", "20261121"))
BUILD_KILLS, EXPORT_KILLS, RUN_KILLS = kills(20), kills(10), kills(15)
_COMMAND = "from wikigr_cli.entry import main; main()"
_TOWNS = 24
_QUESTIONS = 12
# Incompressible bytes, so that the export of a small pack takes long enough to be interrupted.
_BALLAST = 24 << 20
# The fields in which two equal runs differ: durations, and the command line with the run's folder.
_OF_ONE_RUN = {"timings", "latency", "argv"}


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command line in its own process group, without reading its output."""
    return subprocess.Popen(
        [sys.executable, "-c", _COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def undisturbed(folder: Path, *arguments: str) -> float:
    """Run a command to its end and return its duration in seconds."""
    begun = time.monotonic()
    assert start(folder, *arguments).wait() == 0
    return time.monotonic() - begun


def towns(path: Path) -> Path:
    records = [
        {"id": str(n), "title": f"Town {n}", "text": f"Town {n} has a river.\n# Bridge\nIts bridge is of {1800 + n}."}
        for n in range(_TOWNS)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_a_killed_build_is_finished_by_the_same_command(
    wikigr: Wikigr, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    count, chance = tally("pack build killed"), random.Random(SEED)
    towns(tmp_path / "towns.jsonl")
    build = ("pack", "build", "towns.jsonl", "-o")
    seconds = undisturbed(tmp_path, *build, "whole")
    digest = read_manifest(tmp_path / "whole" / "manifest.json").digest
    unfinished = 0
    for n in range(BUILD_KILLS):
        pack = tmp_path / f"killed-{n}"
        staging = pack / ".wikigr" / "staging.sqlite"
        building = start(tmp_path, *build, pack.name)
        if n % 2:
            kill_when(building, lambda: True, chance.uniform(0.2, 1.05) * seconds)
        else:
            kill_when(building, staging.exists, chance.uniform(0, 0.3) * seconds)
        unfinished += staging.exists()
        assert wikigr(*build, pack.name).code == 0
        assert [check for check in validate_pack(pack) if not check.passed] == []
        assert read_manifest(pack / "manifest.json").digest == digest
        assert not any((pack / ".wikigr").glob("staging*"))
        assert not (pack / ".wikigr" / "new").exists()
        count.harmless()
    # Some were killed while working, and not only while Python imported modules.
    assert unfinished > 1


def test_a_killed_export_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, encoder: Embedder, tally: Callable[[str], Tally]
) -> None:
    count, chance = tally("pack export killed"), random.Random(SEED)
    pack = build_letters(tmp_path / "letters", encoder)
    (pack / "few_shot_examples.json").write_bytes(chance.randbytes(_BALLAST))
    export = ("pack", "export", "letters", "-o", "out/p.wikigr", "--force")
    (tmp_path / "out").mkdir()
    seconds = undisturbed(tmp_path, *export)
    archive = tmp_path / "out" / "p.wikigr"
    new, old = archive.read_bytes(), b"the archive of before"
    left = 0
    for n in range(EXPORT_KILLS):
        archive.write_bytes(old)
        exporting = start(tmp_path, *export)
        if n % 2:
            kill_when(exporting, lambda: True, chance.uniform(0.3, 1.05) * seconds)
        else:
            kill_when(exporting, lambda: len(list(archive.parent.iterdir())) > 1, chance.uniform(0, 0.05))
        assert archive.read_bytes() in (old, new), n
        beside = [path.name for path in archive.parent.iterdir() if path != archive]
        assert len(beside) <= 1
        left += len(beside)
        count.harmless()
    undisturbed(tmp_path, *export)
    assert archive.read_bytes() == new
    assert [path.name for path in archive.parent.iterdir()] == ["p.wikigr"]
    # Some were killed while writing.
    assert left > 0


@pytest.fixture
def asked(tmp_path: Path, encoder: Embedder) -> tuple[str, ...]:
    """Return the command that evaluates a small pack under two profiles, without the run's folder."""
    source = towns(tmp_path / "towns.jsonl")
    build_pack(open_source(source), str(source), tmp_path / "pack", encoder, BuildOptions(name="towns"))
    questions = [
        {"id": f"q{n}", "question": f"Of which year is the bridge of Town {n}?", "answers": [str(1800 + n)],
         "gold": [{"title": f"Town {n}", "section": "Bridge"}], "answerable": True, "type": "single", "split": "test"}
        for n in range(_QUESTIONS)
    ]  # fmt: skip
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
    return ("eval", "run", "--pack", "pack", "--questions", "gold.jsonl", "--offline", "-o")


def samples(folder: Path) -> list[dict[str, Any]]:
    """Return the samples of a run without their durations; fail unless each appears exactly once."""
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    keys = [(row["profile"], row["question_id"], row["repeat"]) for row in rows]
    assert len(set(keys)) == len(keys) == 2 * _QUESTIONS
    return [without_timings(row) for _, row in sorted(zip(keys, rows, strict=True), key=lambda pair: pair[0])]


def without_timings(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_timings(each) for name, each in value.items() if name not in _OF_ONE_RUN}
    return [without_timings(each) for each in value] if isinstance(value, list) else value


def report(wikigr: Wikigr, folder: str) -> Any:
    """Return the report of a run without its durations."""
    done = wikigr("eval", "report", folder, "--format", "json")
    assert done.code == 0, done.err
    return without_timings(json.loads(done.out))


def test_a_killed_evaluation_resumes_to_the_same_report(
    asked: tuple[str, ...], wikigr: Wikigr, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    count, chance = tally("eval run killed"), random.Random(SEED)
    seconds = undisturbed(tmp_path, *asked, "whole")
    expected, told = samples(tmp_path / "whole"), report(wikigr, "whole")
    partly = 0
    for n in range(RUN_KILLS):
        folder = tmp_path / "killed"
        file, enough = folder / "samples.jsonl", chance.randint(1, 2 * _QUESTIONS - 1)

        def written() -> int:
            return file.read_bytes().count(b"\n") if file.is_file() else 0  # noqa: B023

        evaluating = start(tmp_path, *asked, folder.name)
        if n % 2:
            kill_when(evaluating, lambda: True, chance.uniform(0.4, 1.0) * seconds)
        else:
            kill_when(evaluating, lambda: written() >= enough, 0.0)  # noqa: B023
        partly += 0 < written() < 2 * _QUESTIONS
        assert wikigr(*asked, folder.name).code == 0
        assert samples(folder) == expected, n
        count.harmless()
        if n + 1 < RUN_KILLS:
            shutil.rmtree(folder)
    assert report(wikigr, "killed") == told
    assert partly > 1
