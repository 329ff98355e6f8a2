"""The table of system calls, compared with the kernel's headers where they are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wikigr.sandbox.seccomp import _LISTENING_CALLS, _MACHINES, _SYSTEM_CALLS

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"{header} is not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {"newfstatat" if name == "fstatat" else name: number for name, number in found}
    column = _MACHINES[machine].column
    for entry in f"{_SYSTEM_CALLS},{_LISTENING_CALLS}".split(","):
        parts = entry.split()
        assert numbers.get(parts[0], "-") == parts[column], parts[0]
    for name in ("clone", "clone3", "open", "openat", "prctl", "prlimit64", "seccomp", "socket", "tgkill"):
        number = getattr(_MACHINES[machine], name)
        assert numbers.get(name) == (None if number is None else str(number)), name
