"""Measure builds on Ray: one and two nodes of one CPU each, and the overhead of one local node against no Ray.

    python benchmarks/ray_build.py [SOURCE] [--limit N] [--rounds 1]

Without SOURCE, builds from generated text. Each round alternates the builds, and ratios are of the same round. Nodes
are processes on this machine, which should have at least two cores and nothing else to do. All builds must have the
same digest. Needs the extra ``ray``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from build_overhead import StageClock
from generated import GeneratedSource

from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.ingest.engines.cluster import connect
from wikigr.ingest.engines.engine import Engine
from wikigr.ingest.engines.parts import PartStore, staging_location
from wikigr.ingest.engines.ray_engine import RayEngine
from wikigr.progress import Silent
from wikigr.sources.detect import open_source
from wikigr.sources.streams import open_bytes

OBJECT_STORE = 200 << 20


def write_source(path: Path, given: str | None, limit: int) -> Path:
    """Write the first ``limit`` records as plain JSON Lines, which workers read in blocks."""
    with path.open("wb") as file:
        if given is not None:
            with open_bytes(given) as stream:
                file.writelines(islice(stream, limit))
        else:
            generated = GeneratedSource(limit, words=150)
            for number in range(limit):
                article = generated.article(number)
                text = "\n\n".join(section.text for section in article.sections)
                record = {"id": article.source_id, "title": article.title, "text": text}
                file.write(json.dumps(record).encode() + b"\n")
    return path


class Builder:
    """Builds one source repeatedly; ``digests`` collects the digests."""

    def __init__(self, source: Path, folder: Path, cores: int) -> None:
        self._source = source
        self._folder = folder
        self._cores = cores
        self._count = 0
        self.digests: set[str] = set()
        self.sections = 0

    def build(self, make_engine: Callable[[Path], Engine] | None) -> tuple[float, dict[str, float]]:
        """Return the seconds of a build, and of each of its stages."""
        self._count += 1
        destination = self._folder / f"pack{self._count}"
        encoder = open_encoder(DEFAULT_MODEL, purpose="bulk", threads=self._cores)
        clock = StageClock()
        begun = time.perf_counter()
        engine = make_engine(destination) if make_engine is not None else None
        options = BuildOptions(name="ray")
        source = str(self._source)
        report = build_pack(open_source(source), source, destination, encoder, options, progress=clock, engine=engine)
        ended = time.perf_counter()
        clock.marks.append(("", ended))
        self.digests.add(report.manifest.digest)
        self.sections = report.manifest.counts["sections"]
        stages: dict[str, float] = {}
        for (stage, first), (_, last) in zip(clock.marks, clock.marks[1:], strict=False):
            stages[stage] = stages.get(stage, 0.0) + last - first
        return ended - begun, stages

    def on_nodes(self, nodes: int, cpus: int) -> tuple[float, dict[str, float]]:
        """Build on a cluster of ``nodes`` nodes with ``cpus`` CPUs each; starting the cluster is not counted."""
        from ray.cluster_utils import Cluster

        node = {"num_cpus": cpus, "object_store_memory": OBJECT_STORE}
        cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        try:
            for _ in range(nodes - 1):
                cluster.add_node(**node)
            encoder = open_encoder(DEFAULT_MODEL)
            with connect(cluster.address) as joined:
                return self.build(
                    lambda pack: RayEngine(
                        joined, PartStore(staging_location(None, pack)), DEFAULT_MODEL, encoder, Silent()
                    )
                )
        finally:
            cluster.shutdown()


def show(name: str, seconds: float, stages: dict[str, float]) -> None:
    listed = "  ".join(f"{stage} {value:.1f}" for stage, value in stages.items())
    print(f"{name:<24} {seconds:8.1f} s   {listed}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", help="JSON Lines, plain or compressed")
    parser.add_argument("--limit", type=int, default=2_000, help="articles")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    for variable in ("RAY_BACKEND_LOG_LEVEL", "RAY_USAGE_STATS_ENABLED"):
        os.environ.setdefault(variable, {"RAY_BACKEND_LOG_LEVEL": "fatal"}.get(variable, "0"))
    speedups, overheads = [], []
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        builder = Builder(write_source(folder / "source.jsonl", options.source, options.limit), folder, cores)
        for _ in range(options.rounds):
            local, stages = builder.build(None)
            show(f"local, {cores} cores", local, stages)
            one_local, stages = builder.on_nodes(1, cores)
            show(f"ray, 1 node x {cores} CPUs", one_local, stages)
            one, stages = builder.on_nodes(1, 1)
            show("ray, 1 node x 1 CPU", one, stages)
            two, stages = builder.on_nodes(2, 1)
            show("ray, 2 nodes x 1 CPU", two, stages)
            speedups.append(one / two)
            overheads.append(100 * (one_local / local - 1))
    print(f"{builder.sections:,} sections; {'equal' if len(builder.digests) == 1 else 'DIFFERENT'} digests")
    print(f"two nodes are {statistics.median(speedups):.2f} times as fast as one")
    print(f"one local node takes {statistics.median(overheads):+.0f}% compared with no Ray")


if __name__ == "__main__":
    main()
