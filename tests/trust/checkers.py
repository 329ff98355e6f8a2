"""What a compromised child might do instead of ``validate_untrusted._report``; importable in a child process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

# Made by whoever unpickles what ``pickle`` sends.
TRACE = Path(tempfile.gettempdir()) / f"wikigr-was-unpickled-{os.getpid()}"


def crash(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    os.abort()


def leave(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    os._exit(0)


def babble(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    pipe.send_bytes(b'{"name": "digest"}')


def say_nothing(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    pipe.send_bytes(b"null")


def say_yes(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    pipe.send_bytes(b'{"name": "digest", "passed": "yes", "detail": "", "mend": "", "required": []}')
    pipe.send_bytes(b"null")


class _Evil:
    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return os.mkdir, (str(TRACE.with_name(f"wikigr-was-unpickled-{os.getppid()}")),)


def pickle(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    pipe.send(_Evil())


def nest(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    pipe.send_bytes(b"[" * 100_000)


def flood(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    pipe.send_bytes(b'{"name": "digest", "passed": true, "detail": "' + b"x" * (5 << 20) + b'"}')
    pipe.send_bytes(b"null")
