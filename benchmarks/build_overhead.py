"""Measure the overhead of a build: the seconds of each stage, and how much all other stages add to encoding.

    python benchmarks/build_overhead.py [SOURCE] [--limit N]

Without SOURCE, builds from generated text. Stages are timed by the progress events of the build.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from generated import GeneratedSource

from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.sources.article import Source
from wikigr.sources.detect import open_source


class StageClock:
    """A progress listener that records when each stage begins."""

    def __init__(self) -> None:
        self.marks: list[tuple[str, float]] = []

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self.marks.append((stage, time.perf_counter()))

    def advance(self, count: int) -> None: ...

    def note(self, message: str) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?")
    parser.add_argument("--limit", type=int, default=2000)
    options = parser.parse_args()
    source: Source = open_source(options.source) if options.source else GeneratedSource(options.limit // 5, words=150)
    encoder = open_encoder(DEFAULT_MODEL, purpose="bulk")
    clock = StageClock()
    with tempfile.TemporaryDirectory() as folder:
        report = build_pack(
            source,
            options.source or "-",
            Path(folder) / "pack",
            encoder,
            BuildOptions(name="overhead", limit=options.limit),
            progress=clock,
        )
    clock.marks.append(("", time.perf_counter()))
    seconds: dict[str, float] = {}
    for (stage, begun), (_, ended) in zip(clock.marks, clock.marks[1:], strict=False):
        seconds[stage] = seconds.get(stage, 0.0) + ended - begun
    for stage, value in seconds.items():
        print(f"{stage:<11} {value:7.2f} s")
    encoding = seconds.pop("embedding")
    overhead = 100 * sum(seconds.values()) / encoding
    print(
        f"{report.embedded:,} sections encoded at {report.embedded / encoding:.0f}/s; other stages add {overhead:.0f}%"
    )


if __name__ == "__main__":
    main()
