"""Real clusters on this machine: a head and workers as processes, each with one CPU."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, BuildReport, build_pack
from wikigr.ingest.engines import ray_engine
from wikigr.progress import Silent
from wikigr.sources.detect import open_source

ROOT = Path(__file__).parents[2]
# The smallest object store that Ray allows is 75 MB.
OBJECT_STORE = 80 << 20


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.ray)


@pytest.fixture(scope="session")
def paths_for_workers() -> Iterator[None]:
    """Let worker processes import the same code as the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT / "src"), str(ROOT))))
        patch.setenv("RAY_BACKEND_LOG_LEVEL", "fatal")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield


@pytest.fixture
def make_cluster(paths_for_workers: None) -> Iterator[Callable[..., Any]]:
    """Start a cluster whose head has ``head_cpus`` CPUs (by default one); more nodes are added with ``add_node``."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="needs the extra ray")
    started = []

    def make(head_cpus: int = 1, **options: Any) -> Any:
        cluster = cluster_utils.Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": head_cpus,
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE,
                **options,
            },
        )
        started.append(cluster)
        return cluster

    yield make
    for cluster in started:
        cluster.shutdown()


def add_worker(cluster: Any, **options: Any) -> Any:
    return cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE, **options)


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JSON Lines with 300 articles of one or two sections, which mention and link each other."""
    draw = random.Random(7)
    names = [f"{draw.choice('BDFGKLMNPRST')}{draw.choice('aeiou')}{draw.choice('lmnr')}{n}stad" for n in range(300)]
    words = "the river old town was built near a mill and has many bridges over quiet water".split()
    lines = []
    for number, name in enumerate(names):
        others = draw.sample(names, 3)
        text = " ".join(draw.choice(words) for _ in range(30))
        record = {
            "id": str(number),
            "title": name,
            "text": f"{name} is near {others[0]}. {text.capitalize()}.\n## History\n{others[1]} is older. {text}.",
            "links": others,
            "aliases": [f"Old {name}"],
        }
        if number % 10 == 0:
            del record["id"]
        lines.append(json.dumps(record) + "\n")
    path = tmp_path_factory.mktemp("ray") / "towns.jsonl"
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="session")
def local_digest(source: Path, encoder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the pack that the local engine builds from ``source``."""
    pack = tmp_path_factory.mktemp("local") / "pack"
    report = build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="towns"))
    return report.manifest.digest


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide the work into many parts, as for a large source."""
    monkeypatch.setattr(ray_engine, "_TEXTS_PER_CPU_PART", 16)
    monkeypatch.setattr(ray_engine, "_CHARACTERS_PER_PART", 20_000)


class Recorder(Silent):
    """Records the notes and the progress of each stage; ``hook`` is called with both after every advance."""

    def __init__(self, hook: Callable[[str, int], None] | None = None) -> None:
        self.notes: list[str] = []
        self.done: dict[str, int] = {}
        self.stage = ""
        self._hook = hook

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self.stage = stage
        self.done[stage] = done

    def advance(self, count: int) -> None:
        self.done[self.stage] += count
        if self._hook is not None:
            self._hook(self.stage, self.done[self.stage])

    def note(self, message: str) -> None:
        self.notes.append(message)


def build_on(
    address: str | None,
    source: Path,
    pack: Path,
    encoder: Embedder,
    progress: Recorder,
    *,
    workers: int | None = None,
    **options: Any,
) -> BuildReport:
    """Build ``pack`` on the cluster at ``address``."""
    from wikigr.embeddings.loader import DEFAULT_MODEL
    from wikigr.ingest.engines.cluster import connect
    from wikigr.ingest.engines.ray_engine import RayEngine

    with connect(address, workers) as cluster:
        engine = RayEngine(cluster, DEFAULT_MODEL, encoder)
        chosen = BuildOptions(name="towns", **options)
        return build_pack(open_source(source), str(source), pack, encoder, chosen, progress=progress, engine=engine)


def run_wikigr(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process, as a user does."""
    return subprocess.run(
        [sys.executable, "-c", "from wikigr_cli.entry import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
        check=False,
    )
