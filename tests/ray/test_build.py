"""Builds on real clusters: same digests, whatever dies."""

from __future__ import annotations

import functools
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ray.conftest import Recorder, add_worker, build_on, run_wikigr
from tests.ray.encoders import FAILURES, MARKED, FailingEncoder

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.engines import ray_engine
from wikigr.ingest.engines.cluster import ClusterError
from wikigr.pack.manifest import read_manifest

MakeCluster = Callable[..., Any]


def test_two_nodes_build_the_pack_of_a_local_build(
    make_cluster: MakeCluster, small_parts: None, source: Path, local_digest: str, tmp_path: Path, encoder: Embedder
) -> None:
    cluster = make_cluster()
    add_worker(cluster)
    progress = Recorder()
    report = build_on(cluster.address, source, tmp_path / "pack", encoder, progress)
    assert report.manifest.digest == local_digest
    assert progress.done["reading"] == progress.done["linking"] == 300
    assert progress.done["embedding"] == report.embedded == report.manifest.counts["sections"] == 600


def test_files_are_parsed_by_the_cluster_too(
    make_cluster: MakeCluster, physics_pack: Path, tmp_path: Path, encoder: Embedder
) -> None:
    articles = Path(__file__).parents[2] / "packs" / "physics" / "articles"
    report = build_on(make_cluster(2).address, articles, tmp_path / "pack", encoder, Recorder())
    assert report.manifest.digest == read_manifest(physics_pack / "manifest.json").digest


def test_worker_nodes_die_at_random_moments_and_nothing_is_lost(
    make_cluster: MakeCluster, small_parts: None, source: Path, local_digest: str, tmp_path: Path, encoder: Embedder
) -> None:
    cluster = make_cluster()
    nodes = [add_worker(cluster)]
    draw = random.Random(11)
    for attempt in range(5):
        moment = draw.choice(["reading", "linking", "embedding", "embedding"]), draw.randrange(1, 280)
        killed: list[tuple[str, int]] = []

        def kill(stage: str, done: int, moment: tuple[str, int] = moment, killed: list[Any] = killed) -> None:
            if not killed and (stage, done) >= moment and stage == moment[0]:
                killed.append((stage, done))
                cluster.remove_node(nodes.pop(), allow_graceful=False)

        report = build_on(cluster.address, source, tmp_path / f"pack{attempt}", encoder, Recorder(kill))
        assert killed, moment
        assert report.manifest.digest == local_digest, moment
        assert report.embedded == 600
        nodes.append(add_worker(cluster))


DRIVER = """
import sys
from pathlib import Path
from tests.ray.conftest import Recorder, build_on
from wikigr.embeddings.loader import open_encoder
from wikigr.ingest.engines import ray_engine

ray_engine._TEXTS_PER_CPU_PART = 16
def show(stage, done): print(stage, done, flush=True)
address, source, pack = sys.argv[1:]
build_on(address, Path(source), Path(pack), open_encoder(purpose="bulk"), Recorder(show))
"""


def test_the_vectors_of_a_killed_driver_are_kept(
    make_cluster: MakeCluster, small_parts: None, source: Path, local_digest: str, tmp_path: Path, encoder: Embedder
) -> None:
    cluster = make_cluster(2)
    pack = tmp_path / "pack"
    command = [sys.executable, "-c", DRIVER, cluster.address, str(source), str(pack)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        next(line for line in driver.stdout if line.startswith("embedding ") and int(line.split()[1]) >= 100)
        driver.send_signal(signal.SIGKILL)
    progress = Recorder()
    report = build_on(cluster.address, source, pack, encoder, progress)
    assert report.manifest.digest == local_digest
    assert report.embedded <= 500
    assert any("vectors of the interrupted build" in note for note in progress.notes)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("RuntimeError", "CUDA out of memory"),
        ("exit", "its process ended, perhaps because memory ran out"),
        ("OSError", "OSError: .*CUDA"),
    ],
)
def test_a_batch_that_fails_is_tried_again_and_then_named(
    make_cluster: MakeCluster,
    small_parts: None,
    source: Path,
    tmp_path: Path,
    encoder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    error: str,
    reason: str,
) -> None:
    marked = tmp_path / "marked.jsonl"
    lines = source.read_text().splitlines(keepends=True)
    marked.write_text("".join([*lines[:29], lines[29].replace("is older", f"is {MARKED}"), *lines[30:60]]))
    failing = functools.partial(FailingEncoder, log=str(tmp_path / "log"), error=error)
    monkeypatch.setattr(ray_engine, "WorkerEncoder", failing)
    cluster = make_cluster(2)

    (tmp_path / FAILURES).write_text("99")
    with pytest.raises(ClusterError, match=rf"Encoding \d+ sections, the first of '.* failed: .*{reason}") as caught:
        build_on(cluster.address, marked, tmp_path / "pack", encoder, Recorder())
    assert "run the same command again" in (caught.value.hint or "")
    assert len((tmp_path / "log").read_text().splitlines()) == 4

    (tmp_path / FAILURES).write_text("1")
    report = build_on(cluster.address, marked, tmp_path / "pack", encoder, Recorder())
    assert 0 < report.embedded < 120


def test_the_command_starts_a_cluster(
    paths_for_workers: None, source: Path, local_digest: str, tmp_path: Path, encoder: Embedder
) -> None:
    done = run_wikigr(
        *("pack", "build", str(source), "-o", str(tmp_path / "pack"), "--engine", "ray", "--workers", "1"),
    )
    assert done.returncode == 0, done.stderr
    assert read_manifest(tmp_path / "pack" / "manifest.json").digest == local_digest
    assert "Traceback" not in done.stderr
