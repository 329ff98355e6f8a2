"""Commands against servers that break HTTP, each in a process of its own, with a table of times and peak memory.

To see the table: ``python -m pytest tests/trust/test_server_behaviors.py -s``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.conftest import MAIN
from tests.llm.plugin import FOREIGN
from tests.scripted_server import BEHAVIORS, OK, Behavior, playing, reply, sends
from tests.trust.conftest import Tally
from tests.trust.hostile import QUESTION

from wikigr.settings import cache_folder

TIMEOUT, RETRIES = 1.0, 1
# Starting Python and opening the pack takes longer on a busy machine than the calls are allowed to.
GRACE_SECONDS = 20.0
EXTRA_MB = 40
# A process that needs more is killed, so that a failing test does not fill the memory of the machine.
KILL_MB = 1_000
INSTALL = f"""
from wikigr.distribution import download, install
install._MAX_DOWNLOAD_BYTES = 5_000_000
download._FIRST_PAUSE, download._MAX_ATTEMPTS = 0.0, {RETRIES + 1}
download._HEADER_SECONDS = download._STALL_SECONDS = {TIMEOUT}
"""


@dataclass(frozen=True, slots=True)
class Run:
    """How a command ended; ``seconds`` of its life after it connected, ``peak`` of its memory in MB."""

    code: int
    seconds: float
    peak: int
    err: str


Command = Callable[[str, Path], tuple[str, tuple[str, ...]]]


def commands(pack: Path, folder: Path) -> Mapping[str, Command]:
    profile = folder / "p.yaml"
    profile.write_text(f"{{synthesis: {{timeout: {TIMEOUT}, retries: {RETRIES}}}}}\n")
    ask = ("ask", QUESTION, "--pack", str(pack), "--profile", str(profile))
    return {
        "ask": lambda url, home: ("", ask),
        "ask --stream": lambda url, home: ("", (*ask, "--stream")),
        "pack install": lambda url, home: (INSTALL, ("pack", "install", f"{url}/p.wikigr", "--allow-private")),
    }


def run(command: Command, behavior: Behavior) -> Run:
    with playing(behavior, hang_up=60) as server, tempfile.TemporaryDirectory() as home:
        before, arguments = command(server.url, Path(home))
        code = f"import sys\n{before}\nsys.argv = ['wikigr', *sys.argv[1:]]\n{MAIN}\n"
        kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
        variables = {name: f"{home}/{name}" for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        caches = Path(variables["XDG_CACHE_HOME"]) / cache_folder().name
        caches.mkdir(parents=True)
        (caches / "models").symlink_to(cache_folder() / "models")
        with (Path(home) / "err").open("w+") as err:
            process = subprocess.Popen(
                [sys.executable, "-c", code, *arguments],
                env={**kept, **variables, "ANTHROPIC_BASE_URL": server.url},
                cwd=home,
                stdout=subprocess.DEVNULL,
                stderr=err,
            )
            begun = time.monotonic()
            peak = 0
            while process.poll() is None:
                if not server.connected.is_set():
                    begun = time.monotonic()
                peak = max(peak, peak_mb(process.pid))
                if peak > KILL_MB:
                    process.kill()
                time.sleep(0.02)
            seconds = time.monotonic() - begun
            err.seek(0)
            return Run(process.returncode, seconds, peak, err.read())


def peak_mb(pid: int) -> int:
    """Return the peak memory of a process so far; 0 once it has ended."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status.get("VmHWM", "0 kB").split()[0]) // 1024


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
def test_every_behavior_ends_in_time_and_in_little_memory(
    hostile_pack: Path, tmp_path: Path, tally: Callable[[str], Tally], capsys: pytest.CaptureFixture[str]
) -> None:
    found = commands(hostile_pack, tmp_path)
    cases = [(name, command) for name in BEHAVIORS for command in found]
    with ThreadPoolExecutor(2) as pool:
        runs = dict(zip(cases, pool.map(lambda case: run(found[case[1]], BEHAVIORS[case[0]]), cases), strict=True))
    usual = {command: run(found[command], sends(reply(OK))).peak for command in found}
    with capsys.disabled():
        sys.stdout.write(table(runs, usual))
    offenders = {}
    for (name, command), done in runs.items():
        # The file may not be an archive (4), and the answer may come first and the rest after it.
        answered = (name, command) == ("two replies at once", "ask")
        codes = (3, 4) if command == "pack install" else (0,) if answered else (3,)
        slow = done.seconds > TIMEOUT * (RETRIES + 1) + GRACE_SECONDS
        large = done.peak > usual[command] + EXTRA_MB
        if done.code not in codes or slow or large or "a bug" in done.err or not (done.err.strip() or done.code == 0):
            offenders[name, command] = done
        else:
            tally(f"servers that break HTTP: {command}").refused()
    assert offenders == {}


def table(runs: Mapping[tuple[str, str], Run], usual: Mapping[str, int]) -> str:
    lines = [f"\n{'behavior':<32}" + "".join(f" | {command:^24}" for command in usual)]
    lines.append(f"{'(peak with a usual reply)':<32}" + "".join(f" | {peak:>21} MB" for peak in usual.values()))
    for name in BEHAVIORS:
        cells = [runs[name, command] for command in usual]
        lines.append(f"{name:<32}" + "".join(f" | {c.seconds:>6.1f} s {c.peak:>5} MB exit {c.code:>2}" for c in cells))
    return "\n".join(lines) + "\n"
