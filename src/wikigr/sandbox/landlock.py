"""Restrict which files a process can open, with Landlock (Linux 5.13 and later).

The system calls and structures are those of ``linux/landlock.h``. Their numbers are the same on all architectures.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION = 1
_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR, _MAKE_FILE, _MAKE_SOCKET = 1 << 1, 1 << 2, 1 << 3, 1 << 8, 1 << 9
# The number of rights on files that each version of the interface knows, starting with version 1.
_FILE_RIGHTS = (13, 14, 15, 15, 16)
_TCP = 0b11  # bind and connect, from version 4
_SCOPES = 0b11  # abstract Unix sockets and signals, from version 6


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def landlock_version() -> int:
    """Return the version of the kernel's Landlock interface, or 0 if there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_GET_VERSION)))


def restrict_files(readable: Iterable[Path], scratch: Path | None, *, listening: bool) -> int:
    """Allow this thread and those that it starts to read ``readable`` (files and folders), and no other file.

    They can write only in the folder ``scratch``, and make Unix sockets there if ``listening``. Where the kernel
    supports it, TCP and signals to other processes are denied as well. Paths that cannot be opened are skipped. Files
    that are already open stay usable. Requires ``no_new_privs``.

    Returns the version of the interface, 0 if the kernel has none; raises ``OSError`` if a restriction fails.
    """
    version = landlock_version()
    if version == 0:
        return 0
    attributes = _RulesetAttributes(
        files=(1 << _FILE_RIGHTS[min(version, len(_FILE_RIGHTS)) - 1]) - 1,
        network=_TCP if version >= 4 else 0,
        scoped=_SCOPES if version >= 6 else 0,
    )
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    ruleset = _checked(_system_call(_CREATE_RULESET, ctypes.byref(attributes), size, ctypes.c_uint32(0)))
    try:
        for path in readable:
            _allow(ruleset, path, _READ_FILE | _READ_DIR if path.is_dir() else _READ_FILE)
        if scratch is not None:
            socket = _MAKE_SOCKET if listening else 0
            _allow(ruleset, scratch, _READ_FILE | _READ_DIR | _WRITE_FILE | _MAKE_FILE | socket)
        _checked(_system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    finally:
        os.close(ruleset)
    return version


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        rule = _PathBeneath(rights, parent)
        arguments = (ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
        _checked(_system_call(_ADD_RULE, *arguments))
    finally:
        os.close(parent)


def _system_call(number: int, *arguments: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return int(library.syscall(ctypes.c_long(number), *arguments))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
