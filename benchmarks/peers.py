"""Compare wikigr with sentence-transformers + faiss, txtai and bm25s on the same passages and questions.

    python benchmarks/peers.py --data FOLDER [--runs 5] [--passages 0] [--build 1000] [--json FILE]

The passages and questions are those of FOLDER/hotpotqa (corpus.jsonl.xz, queries.jsonl.xz); WIKIGR_BENCHMARK_DATA can
name the folder too. ``peer_systems.py`` shows what each system does. Every measurement runs in a process of its own,
and every round runs all systems:

    build     an index of the first --build passages, with the start of the process and of the libraries
    cold      a whole process that answers one question with its five best passages
    warm      milliseconds per question in one process; each round asks other questions of the set
    quality   share of the gold passages among the first five, over all questions (HotpotQA's R@5)
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean
from typing import Any

from figures import Process, Table, timed, write_tables

HERE = Path(__file__).parent
SYSTEMS = ("wikigr", "wikigr, hybrid only", "sentence-transformers + faiss", "txtai", "bm25s")
# The same pack as "wikigr", searched in another way.
SAME_INDEX = {"wikigr, hybrid only": "wikigr"}
BUILT = [system for system in SYSTEMS if system not in SAME_INDEX]
DATA = "WIKIGR_BENCHMARK_DATA"
DESCRIPTION = """`wikigr` searches with the profile `enhanced`: vectors, BM25, a walk along links, and for questions of
several hops, the reader. Its build also finds links, ranks articles and loads a database. `wikigr, hybrid only` is
the same pack with vectors and BM25. sentence-transformers with faiss has only vectors, txtai vectors and BM25, and
bm25s only BM25. All encode with all-MiniLM-L6-v2. A cold question is a whole process."""


def read_lines(path: Path) -> list[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_corpus(path: Path, records: list[dict[str, Any]]) -> Path:
    lines = (json.dumps({key: record[key] for key in ("id", "title", "text")}) for record in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def task(name: str, system: str, folder: Path, given: str) -> list[str]:
    """Return the command of one task of one system, whose index is in its own folder below ``folder``."""
    own = folder / SAME_INDEX.get(system, system).replace(" ", "-")
    own.mkdir(parents=True, exist_ok=True)
    return [sys.executable, str(HERE / "peer_systems.py"), name, system, str(own), given]


def ask(system: str, folder: Path, question: str) -> list[str]:
    """Return the command that asks one question: for wikigr, the one that users type."""
    if not system.startswith("wikigr"):
        return task("ask", system, folder, question)
    profile = str(HERE / "hybrid.yaml") if system in SAME_INDEX else "enhanced"
    pack = str(folder / SAME_INDEX.get(system, system))
    command = str(Path(sys.executable).parent / "wikigr")
    return [command, "search", question, "--pack", pack, "--profile", profile, "--offline", "-k", "5"]


def size_of(folder: Path) -> float:
    """Return the megabytes of all files below ``folder``."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def recall(found: list[list[str]], asked: list[dict[str, Any]]) -> list[float]:
    """Return, for each question, the share of its gold passages that were found."""
    return [
        len({*passages} & {*question["gold_ids"]}) / len(question["gold_ids"])
        for passages, question in zip(found, asked, strict=True)
    ]


class Comparison:
    """Adds figures of all systems, on a corpus and questions, to ``table``; ``folder`` holds their indexes."""

    def __init__(
        self,
        folder: Path,
        corpus: list[dict[str, Any]],
        asked: list[dict[str, Any]],
        runs: int,
        part: int,
        table: Table,
    ) -> None:
        self._folder, self._corpus, self._asked, self._runs = folder, corpus, asked, runs
        self._part, self.table = corpus[:part], table

    def build_all(self) -> None:
        """Build an index of all passages, once, for the questions."""
        whole = write_corpus(self._folder / "whole.jsonl", self._corpus)
        for system in BUILT:
            built = timed(task("build", system, self._folder, str(whole)))
            self.table.add(f"build of {len(self._corpus):,} passages (once)", "s", system, [built.wall])
            self.table.add("memory of the build (once)", "MB", system, [built.peak])
            self.table.add("size on disk", "MB", system, [size_of(self._folder / system.replace(" ", "-"))])

    def ask_cold(self) -> None:
        """Ask one question in a new process, another one in every round."""
        taken: dict[str, list[Process]] = {system: [] for system in SYSTEMS}
        # The first round only reads the files into memory and compiles the modules.
        for question in [self._asked[-1], *self._asked[: self._runs]]:
            for system in SYSTEMS:
                taken[system].append(timed(ask(system, self._folder, question["question"])))
        for system in SYSTEMS:
            processes = taken[system][1:]
            self.table.add("cold question", "s", system, [process.wall for process in processes])
            self.table.add("cold question, processor time", "s", system, [process.processor for process in processes])
            self.table.add("memory of a cold question", "MB", system, [process.peak for process in processes])

    def ask_warm(self) -> None:
        """Ask every question in one of the rounds, many in a process."""
        taken: dict[str, list[dict[str, Any]]] = {system: [] for system in SYSTEMS}
        shares: dict[str, list[float]] = {system: [] for system in SYSTEMS}
        for number in range(self._runs):
            asked = self._asked[number :: self._runs]
            file = self._folder / "questions.json"
            file.write_text(json.dumps([question["question"] for question in asked]), encoding="utf-8")
            for system in SYSTEMS:
                command = task("warm", system, self._folder, str(file))
                done = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])
                taken[system].append(done)
                if "gold_ids" in asked[0]:
                    shares[system] += recall(done["found"], asked)
        for system, rounds in taken.items():
            processor = [done["processor_ms"] for done in rounds]
            self.table.add("warm question, median", "ms", system, [statistics.median(done["ms"]) for done in rounds])
            self.table.add("warm question, processor time on average", "ms", system, processor)
            self.table.add("memory while warm", "MB", system, [done["peak_mb"] for done in rounds])
            if shares[system]:
                self.table.add("gold passages among the first five", "%", system, [100 * fmean(shares[system])])

    def build_parts(self) -> None:
        """Build an index of the first passages in every round."""
        part = write_corpus(self._folder / "part.jsonl", self._part)
        taken: dict[str, list[Process]] = {system: [] for system in BUILT}
        for _ in range(self._runs):
            for system in BUILT:
                with tempfile.TemporaryDirectory(dir=self._folder) as fresh:
                    taken[system].append(timed(task("build", system, Path(fresh), str(part))))
        for system, processes in taken.items():
            measure = f"build of {len(self._part):,} passages"
            self.table.add(measure, "s", system, [process.wall for process in processes])
            self.table.add(f"{measure}, processor time", "s", system, [process.processor for process in processes])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"folder of hotpotqa/ ({DATA})")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--passages", type=int, default=0, help="index this many (0: all)")
    parser.add_argument("--build", type=int, default=1_000, help="passages of the repeated builds")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    if not options.data:
        raise SystemExit(f"--data or {DATA} must name a folder with hotpotqa/")
    folder = Path(options.data) / "hotpotqa"
    corpus, asked = read_lines(folder / "corpus.jsonl.xz"), read_lines(folder / "queries.jsonl.xz")
    if options.passages:
        corpus = corpus[: options.passages]
        kept = {record["id"] for record in corpus}
        asked = [question for question in asked if kept.issuperset(question["gold_ids"])]
    source = f"{len(corpus):,} passages and {len(asked):,} questions of HotpotQA"
    table = Table("Search", f"{source}. Rounds: {options.runs}. {DESCRIPTION}", "wikigr")
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        comparison = Comparison(Path(name), corpus, asked, options.runs, options.build, table)
        phases = (comparison.build_all, comparison.ask_cold, comparison.ask_warm, comparison.build_parts)
        for measure in phases:
            measure()
            if options.json:
                write_tables(options.json, [table])
    table.show()


if __name__ == "__main__":
    main()
