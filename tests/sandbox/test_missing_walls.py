"""What holds on a kernel without Landlock or seccomp, tried on one that has both.

A filter in the process that starts the sandbox makes the kernel answer as an old one does.
"""

from __future__ import annotations

import errno
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr.sandbox.landlock import landlock_version
from wikigr.sandbox.seccomp import _MACHINES, seccomp_supported

pytestmark = pytest.mark.skipif(
    not (seccomp_supported() and landlock_version()), reason="needs a kernel whose walls can be hidden"
)

# Runs in a fresh interpreter: hide system calls, run the attempts of tests/sandbox/tasks.py, print what succeeded.
SCRIPT = """
import ctypes, json, os, struct, sys, time
from pathlib import Path
from wikigr.sandbox.process import ProcessLimits, SandboxedProcess
machine, hidden, folder = int(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])
code = [(0x20, 0, 0, 0)]
for number in hidden:
    code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | int(sys.argv[4]))]
code += [(0x06, 0, 0, 0x7FFF0000)]
program = b"".join(struct.pack("HBBI", *one) for one in code)
buffer = ctypes.create_string_buffer(program, len(program))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
assert libc.syscall(machine, 1, 0, header) == 0
arguments = {"readable": str(folder / "readable.txt"), "forbidden": str(folder / "outside"), "parent": os.getpid()}
limits = ProcessLimits([folder / "readable.txt"], address_space=1 << 30, cpu_seconds=60, message_bytes=1 << 20)
with SandboxedProcess("tests.sandbox.tasks:attempt", arguments, limits) as process:
    outcomes = process.receive(time.monotonic() + 20)
    done = sorted(name for name, outcome in outcomes.items() if outcome == "done")
    print(json.dumps([process.walls.landlock, process.walls.seccomp, done]))
"""


def succeeded(tmp_path: Path, hidden: list[int]) -> tuple[int, bool, set[str]]:
    """Return the walls that stand without the system calls ``hidden``, and the attempts that succeed."""
    import json

    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    (tmp_path / "readable.txt").write_text("to read")
    seccomp = str(_MACHINES[platform.machine()].seccomp)
    arguments = [seccomp, json.dumps(hidden), str(tmp_path), str(errno.ENOSYS)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{SCRIPT}", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    landlock, filtered, names = json.loads(done.stdout)
    return landlock, filtered, set(names)


READING = {"read a file", "list a folder", "read a readable file", "start a thread"}


def test_without_landlock_files_can_be_read_but_not_written(tmp_path: Path) -> None:
    landlock, filtered, names = succeeded(tmp_path, [444])
    assert (landlock, filtered) == (0, True)
    assert names == READING | {"read the parent's environment"}


def test_without_seccomp_files_are_closed_but_processes_can_start(tmp_path: Path) -> None:
    landlock, filtered, names = succeeded(tmp_path, [_MACHINES[platform.machine()].seccomp])
    assert (landlock > 0, filtered) == (True, False)
    assert not names & {
        "read a file",
        "list a folder",
        "read the parent's environment",
        "remove a file",
        "rename a file",
    }
    assert not names & {"write a file", "append to a file", "write a readable file", "create a file", "create a folder"}
    assert not names & {"map a file for writing", "link a file"}
    assert {"fork", "open a socket for datagrams", "open a local socket", "read a readable file"} <= names


def test_without_both_memory_is_still_limited(tmp_path: Path) -> None:
    landlock, filtered, names = succeeded(tmp_path, [444, _MACHINES[platform.machine()].seccomp])
    assert (landlock, filtered) == (0, False)
    assert "allocate 4 GB" not in names
