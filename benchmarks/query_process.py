"""Measure what running Cypher in a sandboxed process costs, compared with the engine in the same process.

    python benchmarks/query_process.py PACK [--runs N]

Prints the first query (start of the process, walls, opening the database), later ones, their ratio to the engine
without a process, the restart after a crash, the memory of the process, and `wikigr graph cypher` as a whole.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from wikigr.graph.engine import Graph, QueryError
from wikigr.graph_search.cypher.runner import QueryRunner
from wikigr.pack.layout import DATABASE
from wikigr.pack.locate import find_pack

LOOKUP = "MATCH (a:Article) RETURN a.title, a.word_count ORDER BY a.title LIMIT 5"
CRASH = "MATCH (a:Article) RETURN a.word_count[1:2]"


def milliseconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def first(database: Path) -> float:
    with contextlib.closing(QueryRunner(database)) as runner:
        return milliseconds(lambda: runner.run(LOOKUP))


def after_a_crash(runner: QueryRunner) -> float:
    with contextlib.suppress(QueryError):
        runner.run(CRASH)
    return milliseconds(lambda: runner.run(LOOKUP))


def memory_mb(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    database = find_pack(options.pack).part(DATABASE)
    runs = range(options.runs)

    opened = statistics.median(milliseconds(lambda: Graph(database).rows(LOOKUP)) for _ in runs)
    started = statistics.median(first(database) for _ in runs)
    print(f"first query           {started:7.1f} ms   the engine alone, opened in this process: {opened:.1f} ms")
    with Graph(database) as graph, contextlib.closing(QueryRunner(database)) as runner:
        runner.run(LOOKUP)
        graph.rows(LOOKUP)
        pairs = [
            (milliseconds(lambda: runner.run(LOOKUP)), milliseconds(lambda: graph.rows(LOOKUP))) for _ in range(200)
        ]
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
        print(f"later queries         {ours:7.2f} ms   the engine alone: {theirs:.2f} ms, ratio {ratio:.2f}")
        process = runner._process
        assert process is not None
        print(f"memory of the process {memory_mb(process._process.pid):7.0f} MB")
        restarted = statistics.median(after_a_crash(runner) for _ in runs)
        print(f"after a crash         {restarted:7.1f} ms")
    command = [str(Path(sys.executable).with_name("wikigr")), "graph", "cypher", LOOKUP, "--pack", options.pack]
    whole = statistics.median(
        milliseconds(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)) for _ in runs
    )
    print(f"graph cypher, cold    {whole:7.0f} ms")


if __name__ == "__main__":
    main()
