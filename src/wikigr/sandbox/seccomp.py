"""Restrict the system calls of a process to those of a computation that reads files, with seccomp (Linux).

The filter is an allow-list. Everything else fails with ``EPERM``: sockets, new processes, signals to other processes,
opening a file for writing, changing owners or modes. ``clone3`` fails with ``ENOSYS``, because a filter cannot read its
arguments; the C library then starts a thread with ``clone``, whose flags the filter checks.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Each system call with its number on x86-64 and on AArch64 (- where it does not exist).
_SYSTEM_CALLS = """
access 21 -, arch_prctl 158 -, brk 12 214, clock_getres 229 114, clock_gettime 228 113, clock_nanosleep 230 115,
close 3 57, dup 32 23, dup3 292 24, epoll_create1 291 20, epoll_ctl 233 21, epoll_pwait 281 22, epoll_wait 232 -,
eventfd2 290 19, exit 60 93, exit_group 231 94, faccessat 269 48, faccessat2 439 439, fadvise64 221 223,
flock 73 32, fstat 5 80, fstatfs 138 44, futex 202 98, getcpu 309 168, getcwd 79 17, getdents64 217 61,
getegid 108 177, geteuid 107 175, getgid 104 176, getpid 39 172, getppid 110 173, getrandom 318 278, getrlimit 97 163,
getrusage 98 165, gettid 186 178, gettimeofday 96 169, getuid 102 174, lseek 8 62, lstat 6 -, madvise 28 233,
membarrier 324 283, mincore 27 232, mmap 9 222, mprotect 10 226, mremap 25 216, munmap 11 215, nanosleep 35 101,
newfstatat 262 79, pipe2 293 59, poll 7 -, ppoll 271 73, pread64 17 67, preadv 295 69, pselect6 270 72, read 0 63,
readlink 89 -, readlinkat 267 78, readv 19 65, restart_syscall 219 128, rseq 334 293, rt_sigaction 13 134,
rt_sigprocmask 14 135, rt_sigreturn 15 139, sched_getaffinity 204 123, sched_getparam 143 121,
sched_getscheduler 145 120, sched_yield 24 124, select 23 -, set_robust_list 273 99, set_tid_address 218 96,
sigaltstack 131 132, stat 4 -, statfs 137 43, statx 332 291, sysinfo 99 179, time 201 -, times 100 153, uname 63 160,
write 1 64, writev 20 66
"""
# For a process that listens on a Unix socket. It cannot connect to one.
_LISTENING_CALLS = """
accept 43 202, accept4 288 242, bind 49 200, getsockname 51 204, getsockopt 55 209, listen 50 201, setsockopt 54 208,
shutdown 48 210
"""


class _Machine(NamedTuple):
    audit: int  # AUDIT_ARCH_* of linux/audit.h
    column: int
    clone: int
    clone3: int
    fcntl: int
    open: int | None
    openat: int
    prctl: int
    prlimit64: int
    seccomp: int
    socket: int
    tgkill: int


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 1, 56, 435, 72, 2, 257, 157, 302, 317, 41, 234),
    "aarch64": _Machine(0xC00000B7, 2, 220, 435, 25, None, 56, 167, 261, 277, 198, 131),
}

_LOAD, _EQUALS, _HAS_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06  # operations of classic BPF
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets into struct seccomp_data
_SET_FILTER, _GET_ACTION_AVAILABLE, _ALL_THREADS = 1, 2, 1
_UNIX = 1  # AF_UNIX
_THREAD_FLAG = 0x00010000  # CLONE_THREAD
_SET_NAME = 15  # PR_SET_NAME
# A file opened with O_WRONLY cannot be mapped, and the limit on file sizes prevents writing to it.
_CHANGING = os.O_RDWR | os.O_TRUNC | os.O_APPEND
_WRITING = os.O_WRONLY | os.O_CREAT | _CHANGING
# Copies, flags of descriptors and locks; not F_SETFL, F_SETOWN and F_SETSIG, which together send signals.
_FCNTL = (0, 1, 2, 3, 5, 6, 7, 36, 37, 38, 1030)


def seccomp_supported() -> bool:
    """Return whether there is a filter for this system and processor."""
    return sys.platform == "linux" and platform.machine() in _MACHINES


def restrict_system_calls(*, creating: bool, listening: bool) -> bool:
    """Restrict all threads of this process, and those that they start, to the allow-list. Requires ``no_new_privs``.

    ``creating`` allows opening files with ``O_WRONLY``, but neither truncating them nor appending to them.
    ``listening`` allows Unix sockets that wait for connections.

    Returns whether the filter is in force: not on other systems and processors, nor on a kernel without seccomp. Raises
    ``OSError`` if the kernel rejects the filter.
    """
    if not seccomp_supported():
        return False
    machine = _MACHINES[platform.machine()]
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    available = ctypes.byref(ctypes.c_uint32(_ALLOW))
    if library.syscall(ctypes.c_long(machine.seccomp), _GET_ACTION_AVAILABLE, 0, available) != 0:
        return False
    program = b"".join(_filter(machine, os.getpid(), _CHANGING if creating else _WRITING, listening))
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    result = library.syscall(ctypes.c_long(machine.seccomp), _SET_FILTER, _ALL_THREADS, header)
    if result == 0:
        return True
    failed = ctypes.get_errno()
    raise OSError(failed or errno.EINVAL, os.strerror(failed) if failed else "a thread cannot be restricted")


def _filter(machine: _Machine, pid: int, refused: int, listening: bool) -> Iterator[bytes]:
    """Yield the instructions of the filter. Numbers of the x32 interface match no entry and therefore fail."""
    yield _instruction(_LOAD, _ARCHITECTURE)
    yield _instruction(_EQUALS, machine.audit, 1, 0)
    yield _instruction(_RETURN, _KILL)
    yield _instruction(_LOAD, _NUMBER)
    calls = f"{_SYSTEM_CALLS},{_LISTENING_CALLS}" if listening else _SYSTEM_CALLS
    for entry in calls.split(","):
        number = entry.split()[machine.column]
        if number != "-":
            yield _instruction(_EQUALS, int(number), 0, 1)
            yield _instruction(_RETURN, _ALLOW)
    yield _instruction(_EQUALS, machine.clone3, 0, 1)
    yield _instruction(_RETURN, _FAIL | errno.ENOSYS)
    yield from _checked(machine.clone, 0, _HAS_BITS, _THREAD_FLAG, if_so=_ALLOW)
    yield from _checked(machine.openat, 2, _HAS_BITS, refused, if_so=_FAIL | errno.EPERM)
    if machine.open is not None:
        yield from _checked(machine.open, 1, _HAS_BITS, refused, if_so=_FAIL | errno.EPERM)
    if listening:
        yield from _checked(machine.socket, 0, _EQUALS, _UNIX, if_so=_ALLOW)
    yield from _one_of(machine.fcntl, 1, _FCNTL)
    yield from _checked(machine.prctl, 0, _EQUALS, _SET_NAME, if_so=_ALLOW)
    yield from _checked(machine.prlimit64, 0, _EQUALS, 0, if_so=_ALLOW)  # process 0 is the caller
    yield from _checked(machine.tgkill, 0, _EQUALS, pid, if_so=_ALLOW)  # abort() sends a signal to itself
    yield _instruction(_RETURN, _FAIL | errno.EPERM)


def _checked(number: int, argument: int, test: int, value: int, *, if_so: int) -> Iterator[bytes]:
    """Yield the instructions that decide a system call by one of its arguments."""
    otherwise = _FAIL | errno.EPERM if if_so == _ALLOW else _ALLOW
    yield _instruction(_EQUALS, number, 0, 4)
    yield _instruction(_LOAD, _ARGUMENTS + 8 * argument)
    yield _instruction(test, value, 0, 1)
    yield _instruction(_RETURN, if_so)
    yield _instruction(_RETURN, otherwise)


def _one_of(number: int, argument: int, values: Sequence[int]) -> Iterator[bytes]:
    """Yield the instructions that allow a system call if one of its arguments is in ``values``."""
    yield _instruction(_EQUALS, number, 0, 2 * len(values) + 2)
    yield _instruction(_LOAD, _ARGUMENTS + 8 * argument)
    for value in values:
        yield _instruction(_EQUALS, value, 0, 1)
        yield _instruction(_RETURN, _ALLOW)
    yield _instruction(_RETURN, _FAIL | errno.EPERM)


def _instruction(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", operation, if_true, if_false, value)
