"""Validate an untrusted pack in a resource-limited child process.

The database engine is not safe against a maliciously crafted file, so the first process to open one is a child with
limits on time, memory and writing. The child reports in JSON, because unpickling would execute what a compromised
child sends.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import threading
from contextlib import suppress
from dataclasses import asdict, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from wikigr.checks import Check
from wikigr.distribution.untrusted_checks import DISTRUST, LAST_CHECK, untrusted_checks
from wikigr.errors import WikigrError
from wikigr.isolation import die_with_parent

# Time limit: a fixed part and one for the size. A pack of 72 MB takes 3 seconds on two cores.
_SECONDS = 120.0
_BYTES_PER_SECOND = 2_000_000
# Bytes of address space for Python, the encoder and the engine's buffers, beyond what the engine reserves.
_ADDRESS_SPACE = 6 << 30
_MIN_RESERVE = 1 << 30
# How long a child that has closed its pipe may take to exit.
_EXIT_SECONDS = 10.0
_MAX_MESSAGE_LENGTH = 1 << 20
_MAX_DETAIL_LENGTH = 500

# Exceptions that a malicious database can cause, besides our own.
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)


def validate_untrusted(folder: Path, *, seconds: float | None = None) -> list[Check]:
    """Run all checks on the pack in ``folder``: those of ``validate_pack``, and the database's schema and digest.

    They run in a child process for at most ``seconds`` (default: depends on the pack's size). A crash, a timeout or
    excessive memory use there is reported as a failed check. An encoder that is missing on this machine is reported,
    but is not a failure. The memory limit has no effect on macOS.
    """
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    allowed = seconds if seconds is not None else _SECONDS + size / _BYTES_PER_SECOND
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(str(folder), size, allowed, theirs), daemon=True)
    child.start()
    theirs.close()
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        child.kill()

    watch = threading.Timer(allowed, expire)
    watch.start()
    checks: list[Check] = []
    try:
        while True:
            message: Any = json.loads(ours.recv_bytes(_MAX_MESSAGE_LENGTH))
            if message is not None:
                checks.append(_parse_check(message))
            elif checks and (checks[-1].name == LAST_CHECK or not all(check.passed for check in checks)):
                return checks
            else:
                raise ValueError("the last check is missing")
    except EOFError:
        child.join(_EXIT_SECONDS)
        why = _exit_reason(child.exitcode)
    except (OSError, ValueError, TypeError, RecursionError):
        why = "sent an invalid report"
    finally:
        watch.cancel()
        child.kill()
        child.join()
        ours.close()
    if expired.is_set():
        why = f"took more than {allowed:,.0f} seconds and was stopped"
    return [*checks, Check("proof", False, f"The validation process {why}.", DISTRUST)]


def _parse_check(message: dict[str, Any]) -> Check:
    """Return the check in a message of the child; raises ``TypeError`` for anything else."""
    check = Check(**message)
    if not all(isinstance(text, str) for text in (check.name, check.detail, check.mend)):
        raise TypeError("a text is not a string")
    if not (check.passed in (True, False) and check.required in (True, False)):
        raise TypeError("an outcome is not a boolean")
    return check


def _exit_reason(code: int | None) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "took too much time or memory and was stopped"
    if code is not None and code < 0:
        return f"crashed in the database engine (signal {-code})"
    return "exited unexpectedly"


# -- in the child process


def _report(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    """Send every check as JSON, then ``null``."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    die_with_parent()
    reserve = _power_of_two(max(_MIN_RESERVE, 2 * size))
    _limit(reserve + _MIN_RESERVE + size + _ADDRESS_SPACE, seconds)
    try:
        for check in untrusted_checks(Path(folder), reserve):
            _send(pipe, check)
    except WikigrError as error:
        _send(pipe, Check("proof", False, error.message, DISTRUST))
    except _UNREADABLE as error:
        _send(pipe, Check("proof", False, f"Cannot read the pack: {type(error).__name__}: {error}", DISTRUST))
    pipe.send_bytes(b"null")


def _send(pipe: Connection, check: Check) -> None:
    detail = check.detail if len(check.detail) <= _MAX_DETAIL_LENGTH else check.detail[:_MAX_DETAIL_LENGTH] + "…"
    pipe.send_bytes(json.dumps(asdict(replace(check, detail=detail))).encode())


def _limit(address_space: int, seconds: float) -> None:
    processors = os.cpu_count() or 1
    limits = {
        resource.RLIMIT_AS: address_space,
        resource.RLIMIT_CPU: int(seconds * processors) + 1,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,  # the checks write nothing
    }
    for kind, limit in limits.items():
        # A lower limit is already in force, or the system does not support this one. The others still apply.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


def _power_of_two(minimum: int) -> int:
    return 1 << (minimum - 1).bit_length()
