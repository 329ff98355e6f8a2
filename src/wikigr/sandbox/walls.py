"""Confine the current process: no network, processes or writing, few readable files, and limited memory and time."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wikigr.sandbox.landlock import restrict_files
from wikigr.sandbox.seccomp import restrict_system_calls

_MAX_OPEN_FILES = 256
_SET_NO_NEW_PRIVILEGES, _SET_DUMPABLE = 38, 4  # PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE


@dataclass(frozen=True, slots=True)
class Walls:
    """The walls around a process.

    ``landlock`` is the version of the kernel's interface, 0 without it. ``seccomp`` says whether the filter of system
    calls is in force, ``memory`` whether the limit on the address space is.
    """

    landlock: int
    seccomp: bool
    memory: bool


def confine(
    *, readable: Sequence[Path], scratch: Path | None, address_space: int, cpu_seconds: int, listening: bool = False
) -> Walls:
    """Confine this process for the rest of its life. It must have a single thread.

    It can read ``readable`` (files and folders) and what it has already opened, and create empty files in the folder
    ``scratch``. With ``listening``, it can listen on a Unix socket there. ``address_space`` is in bytes.
    ``cpu_seconds`` counts all threads; the process is killed when they are used up.

    Raises ``OSError`` if a wall that the system supports cannot be raised, and ``RuntimeError`` if other threads run.
    """
    memory = _limit(address_space, cpu_seconds)
    if sys.platform != "linux":
        return Walls(0, seccomp=False, memory=memory)
    threads = Path("/proc/self/task")
    if threads.exists() and len(list(threads.iterdir())) > 1:
        raise RuntimeError("another thread is running, which Landlock would not restrict")
    library = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_SET_NO_NEW_PRIVILEGES, 1), (_SET_DUMPABLE, 0)):
        if library.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    landlock = restrict_files(readable, scratch, listening=listening)
    seccomp = restrict_system_calls(creating=scratch is not None, listening=listening)
    return Walls(landlock, seccomp=seccomp, memory=memory)


def _limit(address_space: int, cpu_seconds: int) -> bool:
    limits = {
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _MAX_OPEN_FILES,
        resource.RLIMIT_AS: address_space,
    }
    for kind, limit in limits.items():
        # A lower limit is already in force, or the system does not support this one. The others still apply.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))
    in_force, _ = resource.getrlimit(resource.RLIMIT_AS)
    return in_force not in (-1, resource.RLIM_INFINITY) and in_force <= address_space
