"""What the trust suite shares: the count of attacks and its table, a pack of hostile text, a command in a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.cli.conftest import Result, wikigr
from tests.conftest import ROOT
from tests.llm.plugin import messages_server, no_model
from tests.trust import flips, hostile

from wikigr.embeddings.embedder import Embedder

__all__ = ["messages_server", "no_model", "wikigr"]

_PROPERTY = "tally"
_PROCESSES = 2


def kills(default: int) -> int:
    """Return how many times a test kills a process: ``default``, or ``WIKIGR_KILLS``."""
    return int(os.environ.get("WIKIGR_KILLS", default))


def kill_when(process: subprocess.Popen[bytes], happened: Callable[[], object], after: float) -> None:
    """Kill all processes of a group ``after`` seconds from when ``happened``, unless its command ends before.

    Where the work takes place differs with every machine, and with what else it does.
    """
    while process.poll() is None and not happened():
        time.sleep(0.001)
    time.sleep(after)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    # The other processes of the group hold their locks until the kernel has ended them too.
    with suppress(ProcessLookupError):
        for _ in range(1_000):
            os.killpg(process.pid, 0)
            time.sleep(0.01)


@pytest.fixture(autouse=True)
def _build_as_for_users(spawn_builds: None) -> None: ...


@dataclass(slots=True)
class Tally:
    """Counts what one test tried of an attack: ``refused`` with an error, or taken and ``harmless``."""

    attack: str
    tried: int = field(default=0, init=False)
    outcome: dict[str, int] = field(default_factory=lambda: {"refused": 0, "harmless": 0}, init=False)

    def refused(self, n: int = 1) -> None:
        self.tried += n
        self.outcome["refused"] += n

    def harmless(self, n: int = 1) -> None:
        self.tried += n
        self.outcome["harmless"] += n


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Iterator[Callable[[str], Tally]]:
    """Make the count of an attack; the table at the end adds up all of that name, and counts a failed test as one."""
    made: list[Tally] = []

    def make(attack: str) -> Tally:
        made.append(Tally(attack))
        return made[-1]

    yield make
    for one in made:
        record_property("tried", one.tried)
        record_property("outcome", json.dumps(one.outcome))
        record_property(_PROPERTY, json.dumps([one.attack, one.outcome["refused"], one.outcome["harmless"]]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for found in terminalreporter.stats.values() for report in found if hasattr(report, "when")]
    failed = {report.nodeid for report in reports if report.failed}
    rows: dict[str, list[int]] = {}
    for report in reports:
        if report.when != "teardown":
            continue
        for name, value in report.user_properties:
            if name != _PROPERTY:
                continue
            attack, refused, harmless = json.loads(str(value))
            row = rows.setdefault(attack, [0, 0, 0])
            row[0] += refused
            row[1] += harmless
            row[2] += report.nodeid in failed
    if not rows:
        return
    width = max(map(len, rows))
    terminalreporter.section("attacks")
    terminalreporter.write_line(f"{'attack':<{width}} | {'tried':>7} | refused or harmless | failed")
    for attack, (refused, harmless, failures) in sorted(rows.items()):
        tried = refused + harmless + failures
        terminalreporter.write_line(f"{attack:<{width}} | {tried:>7,} | {refused + harmless:>19,} | {failures:>6,}")


def try_seeds(module: str, *arguments: str, first: int, times: int, count: Tally) -> list[str]:
    """Run ``python -m module`` with ``arguments`` in two processes that share the seeds from ``first`` on.

    They print a list of a seed, its outcome, a place and a reason for each, at least ``times`` in all. Adds the
    outcomes to ``count``, and returns those that broke something.
    """
    each = -(-times // _PROCESSES)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", module, *arguments, str(first + n * each), str(each)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(_PROCESSES)
    ]
    broken = []
    for process in running:
        output, _ = process.communicate()
        assert process.returncode == 0
        for seed, outcome, place, reason in map(json.loads, output.splitlines()):
            if outcome == flips.BROKEN:
                broken.append(f"seed {seed}, {place}: {reason}")
            elif outcome == flips.REFUSED:
                count.refused()
            else:
                count.harmless()
    assert broken or count.tried == each * _PROCESSES
    return broken


@pytest.fixture(scope="session")
def hostile_pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """Articles whose every field attacks a prompt or a terminal, with worked examples; see ``hostile``."""
    return hostile.build_articles(tmp_path_factory.mktemp("hostile"), encoder)


@pytest.fixture(scope="session")
def hostile_graph(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """Triples whose names and relations do."""
    return hostile.build_triples(tmp_path_factory.mktemp("hostile-graph"), encoder)


Process = Callable[..., Result]


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """Run a command line in a process of its own; ``before`` is Python to run there first."""

    def call(*arguments: str, before: str = "", timeout: float = 120.0, **variables: str) -> Result:
        start = "sys.argv = ['wikigr', *sys.argv[1:]]\nfrom wikigr_cli.entry import main\nmain()\n"
        code = f"import sys\n{before}\n{start}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "WIKIGR_"))}
        environment = {**kept, "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**environment, **variables},
            cwd=tmp_path,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    return call
