"""What a build costs beyond encoding: the stages of one build of real passages, timed by their own progress.

    python benchmarks/build_overhead.py [SOURCE] [--limit N]

Without SOURCE, generated text. Prints seconds by stage and the share that everything but encoding adds to encoding.
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
    """A progress that notes when each stage began."""

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
    print(f"{report.embedded:,} sections at {report.embedded / encoding:.0f}/s; the rest adds "
          f"{100 * sum(seconds.values()) / encoding:.0f} % to encoding")  # fmt: skip


if __name__ == "__main__":
    main()
