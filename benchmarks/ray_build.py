"""Build a large source on two Ray nodes and locally, maybe killing a node, and compare the times and the packs.

    python benchmarks/ray_build.py [--articles 250000] [--kill reading embedding]

The text is generated, with four sections and twenty links in an article, and the vectors are random: encoding a million
sections takes hours, and nothing else depends on their values. Nodes are processes on this machine, with one CPU each.
When half of a stage in --kill is done, the second node is killed and another one joins. Prints the time of each build,
the local one on all cores and the other one with the start of a cluster. Fails if a node was not killed or the digests
differ. Needs the extra ``ray``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generated import GeneratedSource
from growth import LINKS, PER_ARTICLE, WORDS, RandomEncoder

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
from wikigr.ingest.build import BuildOptions, BuildReport, build_pack
from wikigr.ingest.engines.cluster import connect
from wikigr.ingest.engines.ray_engine import RayEngine, WorkerEncoder
from wikigr.sources.detect import open_source

OBJECT_STORE = 200 << 20
# Stages that workers take part in.
STAGES = ("reading", "linking", "embedding")


@dataclass(frozen=True)
class RandomWorkerEncoder(WorkerEncoder):
    """How a worker opens its encoder: without loading a model."""

    def open(self) -> Embedder:
        return RandomEncoder(self.identity)


class Killer:
    """A progress listener that kills a node when half of each of ``stages`` is done, and starts another one.

    A stage whose total is unknown has ``articles`` records.
    """

    def __init__(self, cluster: Any, stages: Sequence[str], articles: int) -> None:
        self._cluster, self._articles = cluster, articles
        self.stages = list(stages)
        self._node = self._start_node()
        self._stage, self._total, self._done = "", 0, 0
        self.notes: list[str] = []

    def _start_node(self) -> Any:
        return self._cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE)

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self._stage, self._total, self._done = stage, total or self._articles, done
        print(f"{time.strftime('%H:%M:%S')} {stage}: {self._total:,} {unit}", flush=True)

    def advance(self, count: int) -> None:
        self._done += count
        if self._stage in self.stages and self._total <= 2 * self._done:
            self.stages.remove(self._stage)
            print(f"{time.strftime('%H:%M:%S')} killed a node after {self._done:,}", flush=True)
            self._cluster.remove_node(self._node, allow_graceful=False)
            self._node = self._start_node()

    def note(self, message: str) -> None:
        self.notes.append(message)


def write_source(path: Path, articles: int) -> Path:
    generated = GeneratedSource(articles, per_article=PER_ARTICLE, words=WORDS, links=LINKS)
    with path.open("w") as file:
        for number in range(articles):
            article = generated.article(number)
            text = "\n\n".join(f"## {section.heading_path[0]}\n\n{section.text}" for section in article.sections)
            record = {"id": article.source_id, "title": article.title, "text": text, "links": article.links}
            file.write(json.dumps(record) + "\n")
    return path


def build_on_nodes(
    source: Path, pack: Path, encoder: Embedder, options: BuildOptions, stages: Sequence[str], articles: int
) -> BuildReport:
    """Return the report of the build on two nodes, one of which is killed in each of ``stages``."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        progress = Killer(cluster, stages, articles)
        with connect(cluster.address) as joined:
            engine = RayEngine(joined, DEFAULT_MODEL, encoder)
            engine._encoder = RandomWorkerEncoder(DEFAULT_MODEL, encoder.identity, on_gpu=False)
            opened = open_source(source)
            report = build_pack(opened, str(source), pack, encoder, options, progress=progress, engine=engine)
    finally:
        cluster.shutdown()
    print("\n".join(progress.notes))
    if progress.stages:
        sys.exit(f"No node was killed in {' and '.join(progress.stages)}.")
    return report


def show(name: str, report: BuildReport, begun: float) -> None:
    counts = report.manifest.counts
    seconds = time.perf_counter() - begun
    print(f"{name}: {counts['sections']:,} sections, {seconds:.0f} s, digest {report.manifest.digest[:12]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=250_000)
    parser.add_argument("--kill", nargs="+", choices=STAGES, default=[], help="stages in which a node is killed")
    arguments = parser.parse_args()
    os.environ.update({"RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_USAGE_STATS_ENABLED": "0"})
    # Workers import the modules of this folder.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path[1:]])
    encoder = RandomEncoder(open_encoder(DEFAULT_MODEL).identity)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = write_source(folder / "source.jsonl", arguments.articles)
        options = BuildOptions(name="ray", language="en")
        begun = time.perf_counter()
        local = build_pack(open_source(source), str(source), folder / "local", encoder, options)
        show("local", local, begun)
        begun = time.perf_counter()
        report = build_on_nodes(source, folder / "pack", encoder, options, arguments.kill, arguments.articles)
        show("two nodes", report, begun)
        if report.manifest.digest != local.manifest.digest:
            sys.exit("The digests differ.")


if __name__ == "__main__":
    main()
