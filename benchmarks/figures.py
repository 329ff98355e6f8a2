"""Figures that benchmarks measure, as data for ``page.py``, and the time and memory of a process.

A benchmark writes a JSON file with a list of tables (``write_tables``). A table compares systems: each ``Figure`` has
the values of one measure for one system, one for each round, and ratios are relative to the system ``baseline``.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True)
class Figure:
    """The values of ``measure`` for ``system``, in order of the rounds."""

    measure: str
    unit: str
    system: str
    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.runs)

    def ratio_to(self, baseline: Figure) -> float:
        """Return the median of the ratios of the rounds, or the ratio of the medians if the rounds differ in number."""
        if len(self.runs) != len(baseline.runs):
            return self.median / baseline.median
        return statistics.median(own / other for own, other in zip(self.runs, baseline.runs, strict=True))


@dataclass
class Table:
    """A comparison of systems. ``text`` says what was measured, on what."""

    title: str
    text: str
    baseline: str
    figures: list[Figure] = field(default_factory=list)

    def add(self, measure: str, unit: str, system: str, runs: Sequence[float]) -> None:
        self.figures.append(Figure(measure, unit, system, tuple(runs)))

    def show(self) -> None:
        """Print the medians, and their ratios to the baseline."""
        own = {figure.measure: figure for figure in self.figures if figure.system == self.baseline}
        for figure in self.figures:
            ratio = figure.ratio_to(own[figure.measure]) if figure.measure in own else float("nan")
            print(f"{figure.measure:<48}{figure.system:<30}{figure.median:12.4g} {figure.unit:<11}{ratio:8.2f}×")


def write_tables(path: Path, tables: Sequence[Table]) -> None:
    path.write_text(json.dumps([asdict(table) for table in tables], indent=1) + "\n", encoding="utf-8")


def read_tables(path: Path) -> list[Table]:
    tables = []
    for found in json.loads(path.read_text(encoding="utf-8")):
        figures = [Figure(**{**figure, "runs": tuple(figure["runs"])}) for figure in found.pop("figures")]
        tables.append(Table(**found, figures=figures))
    return tables


def peak_memory() -> float:
    """Return the peak memory of this process in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss is inherited from the parent process
        held = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(held.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Process(NamedTuple):
    """What a process took: seconds from its start to its end and of the processors, and megabytes at its peak."""

    wall: float
    peak: float
    processor: float


def timed(command: list[str]) -> Process:
    """Run a process, without its output."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:5])} failed with {process.returncode}")
    return Process(elapsed, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)
