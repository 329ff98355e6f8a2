"""Builds on real clusters: same digests, whatever dies."""

from __future__ import annotations

import functools
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ray.conftest import Recorder, add_worker, build_on, run_wikigr
from tests.ray.encoders import FAILURES, MARKED, FailingEncoder
from tests.sources.test_multistream import page, write

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.ingest.engines import ray_engine
from wikigr.ingest.engines.cluster import ClusterError
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import read_manifest
from wikigr.sources.detect import open_source

MakeCluster = Callable[..., Any]


def outputs(pack: Path, stage: str) -> dict[str, int]:
    """Return the finished parts of a stage with their times of modification."""
    folder = Layout(pack).parquet_parts / stage / "output"
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}


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
    assert not Layout(tmp_path / "pack").parquet_parts.exists()


def test_workers_read_a_multistream_dump_and_name_what_is_damaged(
    make_cluster: MakeCluster, small_parts: None, tmp_path: Path, encoder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "_MIN_BYTES_PER_PART", 1_000)
    dump = write(tmp_path, [page(n) for n in range(600)], 10).path
    options = BuildOptions(name="towns")
    local = build_pack(open_source(dump), str(dump), tmp_path / "local", encoder, options)
    parts: set[str] = set()

    def look(stage: str, done: int) -> None:
        parts.update(outputs(tmp_path / "pack", "reading"))

    cluster = make_cluster(2)
    report = build_on(cluster.address, dump, tmp_path / "pack", encoder, Recorder(look))
    assert report.manifest.digest == local.manifest.digest
    assert 2 < len(parts) < 60

    data = bytearray(dump.read_bytes())
    data[-400] ^= 255
    dump.write_bytes(data)
    with pytest.raises(
        ClusterError, match=r"Reading the bytes [\d,]+ to [\d,]+ of .* failed 3 times, .* where its index has 40"
    ):
        build_on(cluster.address, dump, tmp_path / "pack", encoder, Recorder())
    assert read_manifest(tmp_path / "pack" / "manifest.json").digest == local.manifest.digest


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
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.ingest.engines import ray_engine
from wikigr.sources import jsonl

ray_engine._TEXTS_PER_CPU_PART, ray_engine._CHARACTERS_PER_PART = 16, 20_000
ray_engine._MIN_BYTES_PER_PART = jsonl._BLOCK_BYTES = 10_000
address, source, pack = sys.argv[1:]
build_on(address, Path(source), Path(pack), open_encoder(purpose="bulk"), Recorder())
"""


@pytest.mark.parametrize("stage", ["reading", "mentions", "embedding"])
def test_a_killed_driver_resumes_from_the_finished_parts(
    make_cluster: MakeCluster,
    small_parts: None,
    source: Path,
    local_digest: str,
    tmp_path: Path,
    encoder: Embedder,
    stage: str,
) -> None:
    cluster = make_cluster(2)
    pack = tmp_path / "pack"
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, cluster.address, str(source), str(pack)])
    deadline = time.monotonic() + 120
    while len(outputs(pack, stage)) < 2 and driver.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    time.sleep(1)  # its workers may finish what they are writing
    before = outputs(pack, stage)
    assert len(before) >= 2
    kept: dict[str, int] = {}

    def look(now: str, done: int) -> None:
        kept.update(outputs(pack, stage))

    report = build_on(cluster.address, source, pack, encoder, Recorder(look))
    assert report.manifest.digest == local_digest
    assert {name: kept.get(name) for name in before} == before


def test_a_batch_that_fails_is_named_and_tried_again(
    make_cluster: MakeCluster,
    small_parts: None,
    source: Path,
    tmp_path: Path,
    encoder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marked = tmp_path / "marked.jsonl"
    lines = source.read_text().splitlines(keepends=True)
    marked.write_text("".join([*lines[:99], lines[99].replace("is older", f"is {MARKED}"), *lines[100:200]]))
    log = tmp_path / "log"
    monkeypatch.setattr(ray_engine, "WorkerEncoder", functools.partial(FailingEncoder, log=str(log)))
    cluster = make_cluster(2)

    (tmp_path / FAILURES).write_text("1")
    progress = Recorder()
    report = build_on(cluster.address, marked, tmp_path / "pack", encoder, progress)
    assert report.embedded == 400
    (note,) = progress.notes
    assert note.startswith("Encoding 16 sections, the first of '")
    assert "failed on the node" in note
    assert note.endswith("CUDA out of memory It is tried again.")

    (tmp_path / FAILURES).write_text("99")
    log.unlink()
    progress = Recorder()
    with pytest.raises(ClusterError, match=r"Encoding 16 sections, .* failed 3 times, .*CUDA out of memory") as caught:
        build_on(cluster.address, marked, tmp_path / "other", encoder, progress)
    assert "resumes" in (caught.value.hint or "")
    assert len(log.read_text().splitlines()) == len(progress.notes) == 3

    # Only the failed batch is left.
    (tmp_path / FAILURES).write_text("0")
    resumed = build_on(cluster.address, marked, tmp_path / "other", encoder, Recorder())
    assert (resumed.embedded, resumed.manifest.digest) == (16, report.manifest.digest)


@pytest.mark.parametrize(
    ("error", "reason"), [("exit", "Its process ended, perhaps because memory ran out."), ("OSError", "OSError: CUDA")]
)
def test_a_batch_that_ends_its_process_or_meets_the_system_is_named_and_tried_again(
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
    progress = Recorder()
    with pytest.raises(ClusterError, match=rf"Encoding \d+ sections, .* failed 3 times, .*{reason}"):
        build_on(cluster.address, marked, tmp_path / "pack", encoder, progress)
    assert len((tmp_path / "log").read_text().splitlines()) == len(progress.notes) == 3
    assert all(reason in note for note in progress.notes)

    (tmp_path / FAILURES).write_text("0")
    resumed = build_on(cluster.address, marked, tmp_path / "pack", encoder, Recorder())
    assert 0 < resumed.embedded < 60


def test_the_command_starts_a_cluster_and_takes_a_staging_path(
    paths_for_workers: None, source: Path, local_digest: str, tmp_path: Path, encoder: Embedder
) -> None:
    stage = tmp_path / "stage"
    done = run_wikigr(
        *("pack", "build", str(source), "-o", str(tmp_path / "pack"), "--engine", "ray", "--workers", "1"),
        *("--staging-path", str(stage)),
    )
    assert done.returncode == 0, done.stderr
    assert read_manifest(tmp_path / "pack" / "manifest.json").digest == local_digest
    assert "Traceback" not in done.stderr
    assert not any(path.is_file() for path in stage.rglob("*"))
