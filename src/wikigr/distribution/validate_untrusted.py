"""Validate an untrusted pack in a sandboxed process.

The engine and the libraries that read the other files are not safe against a maliciously crafted file, so the first
process to open one has nothing to lose.
"""

from __future__ import annotations

import os
import resource
import stat
import time
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wikigr.checks import Check
from wikigr.distribution.untrusted_checks import DISTRUST, LAST_CHECK, untrusted_checks
from wikigr.errors import WikigrError
from wikigr.graph.engine import reserved_space
from wikigr.index.lexical import link_index
from wikigr.pack.layout import LEXICAL, Layout
from wikigr.sandbox.process import (
    Channel,
    ProcessLimits,
    SandboxedProcess,
    SandboxError,
    SandboxStartError,
    SandboxTimeoutError,
    library_paths,
)
from wikigr.settings import cache_folder

_TASK = "wikigr.distribution.validate_untrusted:report_checks"

# Time limit: a fixed part and one for the size. A pack of 72 MB takes 3 seconds on two cores.
_SECONDS = 120.0
_BYTES_PER_SECOND = 2_000_000
_MAX_SECONDS = 86_400.0
_MAX_COMPRESSION = 8
_MAX_CHECKS = 200
# Bytes of address space for Python, the encoder, the engine's buffers and the empty database of the schema, beyond what
# the engine reserves for the pack.
_ADDRESS_SPACE = 7 << 30
_PROOF = "proof"  # the check that fails if the others cannot run
_MAX_MESSAGE_LENGTH = 1 << 14
_MAX_DETAIL_LENGTH = 500
# What libraries read to find out how many threads to start.
_MACHINE = (Path("/proc/cpuinfo"), Path("/proc/meminfo"), Path("/sys/devices/system/cpu"), Path("/sys/fs/cgroup"))
_ENVIRONMENT = ("HOME", "XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY")

# Exceptions that a malicious pack can cause, besides our own.
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)


def validate_untrusted(folder: Path, *, seconds: float | None = None) -> list[Check]:
    """Run all checks on the pack in ``folder``: those of ``validate_pack``, and the database's schema and digest.

    They run in a sandboxed process for at most ``seconds`` (default: depends on the pack's size). A crash, a timeout or
    excessive memory use there is reported as a failed check. An encoder that is missing on this machine is reported,
    but is not a failure. Raises ``PackError`` if the engine that reads the database is not installed.
    """
    size = sum(map(_plausible_size, folder.rglob("*")))
    allowed = seconds if seconds is not None else min(_SECONDS + size / _BYTES_PER_SECOND, _MAX_SECONDS)
    reserve = reserved_space(size)
    with TemporaryDirectory(prefix="wikigr-verify-") as links:
        lexical = Layout(folder).part(LEXICAL)
        if lexical.is_dir():
            link_index(lexical, Path(links))
        return _run(folder, reserve, Path(links), size, allowed)


def _plausible_size(path: Path) -> int:
    """Return the size of a regular file in bytes, that of a sparse one by the space that it takes."""
    found = path.lstat()
    # A file system that compresses takes less space than the size says.
    return min(found.st_size, _MAX_COMPRESSION * 512 * found.st_blocks) if stat.S_ISREG(found.st_mode) else 0


def _run(folder: Path, reserve: int, links: Path, size: int, allowed: float) -> list[Check]:
    limits = ProcessLimits(
        readable=(folder, cache_folder() / "models", *_MACHINE, *library_paths()),
        address_space=reserve + size + _ADDRESS_SPACE,
        cpu_seconds=int(allowed * (os.cpu_count() or 1)) + 1,
        message_bytes=_MAX_MESSAGE_LENGTH,
        scratch=links,
    )
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    arguments = {"folder": str(folder), "reserve": reserve, "links": str(links)}
    deadline = time.monotonic() + allowed
    advice = _memory_advice(limits.address_space)
    checks: list[Check] = []
    try:
        with SandboxedProcess(_TASK, arguments, limits, environment=environment) as process:
            while (message := process.receive(deadline)) is not None and len(checks) < _MAX_CHECKS:
                checks.append(_parse_check(message))
            if checks and (checks[-1].name == LAST_CHECK or any(c.required and not c.passed for c in checks)):
                return [replace(c, fix=advice) if c.name == _PROOF else c for c in checks]
            why = "did not run all checks"
    except SandboxStartError as error:
        why, advice = error.message, "Run `wikigr doctor`: this says nothing about the pack."
    except SandboxTimeoutError:
        why = f"took more than {allowed:,.0f} seconds and was stopped"
    except SandboxError as error:
        why = error.message
    except TypeError:
        why = "sent an invalid message"
    return [*checks, Check(_PROOF, False, f"The validation process {why}.", advice)]


def _memory_advice(address_space: int) -> str:
    """Return what to do about a failed validation: the pack may be good if this process has too little memory."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= address_space:
        return DISTRUST
    return (
        f"This process is limited to {limit / 2**30:,.1f} GiB of virtual memory (ulimit -v), which may be the cause. "
        "Remove the limit with `ulimit -v unlimited`, then verify the pack again."
    )


def _parse_check(message: Any) -> Check:
    """Return the check in a message of the child; raises ``TypeError`` for anything else."""
    if not isinstance(message, dict):
        raise TypeError("a message is not a check")
    check = Check(**message)
    if not all(isinstance(text, str) for text in (check.name, check.detail, check.fix)):
        raise TypeError("a text is not a string")
    if not (check.passed in (True, False) and check.required in (True, False)):
        raise TypeError("an outcome is not a boolean")
    return check


def report_checks(channel: Channel, folder: str, reserve: int, links: str) -> None:
    """Send every check, then ``null``. Runs in the sandboxed process."""
    try:
        for check in untrusted_checks(Path(folder), reserve, Path(links)):
            _send(channel, check)
    except WikigrError as error:
        _send(channel, Check(_PROOF, False, error.message, DISTRUST))
    except _UNREADABLE as error:
        _send(channel, Check(_PROOF, False, f"Cannot read the pack: {type(error).__name__}: {error}", DISTRUST))
    channel.send(None)


def _send(channel: Channel, check: Check) -> None:
    detail = check.detail if len(check.detail) <= _MAX_DETAIL_LENGTH else check.detail[:_MAX_DETAIL_LENGTH] + "…"
    channel.send(asdict(replace(check, detail=detail)))
