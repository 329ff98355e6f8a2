"""Run the part of a build that writes the database in a child process.

When the disk fills up during a write, LadybugDB 0.15.3 aborts the whole process or hangs while closing the database. A
child process turns this into an ordinary error, and the staged work is kept. It has no walls: it runs our own code on
our own files. Its messages are pickled.
"""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wikigr.errors import BuildError, WikigrError
from wikigr.progress import Progress
from wikigr.sandbox.process import HEADER, Channel, end_process, exit_reason, start_python

_START = "import sys; sys.path[:] = sys.argv[1:]; from wikigr.sandbox.isolation import main; main()"
_HINT = "Free some disk space, then run the same command again."


def run_isolated(function: Callable[..., Any], arguments: tuple[Any, ...], progress: Progress, log: Path) -> Any:
    """Call ``function(*arguments, progress)`` in a child process and return its result.

    Raises the ``WikigrError`` that the child raised, or ``BuildError`` if the child died. Its standard error goes to
    the file ``log``. The child ends with this process.
    """
    task = pickle.dumps((function, arguments))
    with log.open("wb") as errors:
        child = start_python(_START, {**os.environ}, errors)
    assert child.stdin is not None and child.stdout is not None
    try:
        child.stdin.write(HEADER.pack(len(task)) + task)
        with os.fdopen(child.stdout.fileno(), "rb", closefd=False) as incoming:
            while header := incoming.read(HEADER.size):
                kind, values, named = pickle.loads(incoming.read(HEADER.unpack(header)[0]))  # noqa: S301 (our own)
                if kind == "result":
                    return values[0]
                if kind == "error":
                    raise values[0]
                getattr(progress, kind)(*values, **named)
        raise BuildError(
            f"Writing the database failed: its process {exit_reason(child.wait())} (its output is in {log}). The usual "
            "cause is a full disk.",
            hint=_HINT,
        )
    finally:
        end_process(child)


class _ForwardedProgress:
    """A progress that forwards every call to the parent process."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self.send("start", stage, total, unit, done=done)

    def advance(self, count: int) -> None:
        self.send("advance", count)

    def note(self, message: str) -> None:
        self.send("note", message)

    def send(self, kind: str, *values: object, **named: object) -> None:
        self._channel.send_bytes(pickle.dumps((kind, values, named)))


def main() -> None:
    """Call the function in the first message: the program of the child.

    After an error, the process exits at once, without closing the database, which might hang.
    """
    channel = Channel()
    progress = _ForwardedProgress(channel)
    function, arguments = pickle.loads(channel.receive_bytes())  # noqa: S301 (the build pickled it)
    channel.watch()
    try:
        progress.send("result", function(*arguments, progress))
        return
    except WikigrError as error:
        error.hint = error.hint or _HINT
        progress.send("error", error)
    except OSError as error:
        progress.send("error", BuildError(f"Writing the pack failed: {error.strerror or error}.", hint=_HINT))
    except Exception as error:  # noqa: BLE001 -- the parent reports it
        traceback.print_exc()
        failed = f"Writing the database failed with {type(error).__name__}; the traceback is in the log of the build."
        progress.send("error", BuildError(failed, hint="Please report this with that file."))
    os._exit(1)
