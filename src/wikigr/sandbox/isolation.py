"""Run the part of a build that writes the database in a child process.

When the disk fills up during a write, LadybugDB 0.15.3 aborts the whole process or hangs while closing the database. A
child process turns this into an ordinary error, and the staged work is kept.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

from wikigr.errors import BuildError, WikigrError
from wikigr.progress import Progress


def child_processes() -> SpawnContext:
    """Return what starts child processes: new ones, because a fork would copy the locks that other threads hold.

    From now on, no child of this process imports modules from the working directory (``PYTHONSAFEPATH``), where the
    documents of a stranger may lie.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    return multiprocessing.get_context("spawn")


_HINT = "Free some disk space, then run the same command again: it resumes where it stopped."


class _ForwardingProgress:
    """A progress that forwards every call to the parent process."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self._pipe.send(("start", (stage, total, unit), {"done": done}))

    def advance(self, count: int) -> None:
        self._pipe.send(("advance", (count,), {}))

    def note(self, message: str) -> None:
        self._pipe.send(("note", (message,), {}))


def run_isolated(function: Callable[..., Any], arguments: tuple[Any, ...], progress: Progress, log: Path) -> Any:
    """Call ``function(*arguments, progress)`` in a child process and return its result.

    Raises the ``WikigrError`` that the child raised, or ``BuildError`` if the child died. Its standard error goes to
    the file ``log``.
    """
    processes = child_processes()
    ours, theirs = processes.Pipe()
    child = processes.Process(target=_call, args=(function, arguments, theirs, log), daemon=True)
    child.start()
    theirs.close()
    try:
        while True:
            kind, values, named = ours.recv()
            if kind == "result":
                return values[0]
            if kind == "error":
                raise values[0]
            getattr(progress, kind)(*values, **named)
    except EOFError as error:
        child.join()
        if child.exitcode is not None and child.exitcode < 0:
            raise BuildError(
                f"Writing the database failed: the engine was terminated by signal {-child.exitcode} (its output is "
                f"in {log}). The usual cause is a full disk.",
                hint=_HINT,
            ) from error
        raise BuildError(
            f"Writing the database failed; the traceback is in {log}.", hint="Please report this with that file."
        ) from error
    finally:
        ours.close()
        child.terminate()
        child.join()


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], pipe: Connection, log: Path) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(handle, 2)
    die_with_parent()
    try:
        result = function(*arguments, _ForwardingProgress(pipe))
    except WikigrError as error:
        if error.hint is None:
            error.hint = _HINT
        _send_error(pipe, error)
    except OSError as error:
        _send_error(pipe, BuildError(f"Writing the pack failed: {error.strerror or error}.", hint=_HINT))
    else:
        pipe.send(("result", (result,), {}))


def _send_error(pipe: Connection, error: WikigrError) -> None:
    """Send ``error`` to the parent and exit at once, without closing the database, which might hang."""
    pipe.send(("error", (error,), {}))
    os._exit(1)


def die_with_parent() -> None:
    """Make this child process exit when its parent dies, so that it cannot disturb the next build in the folder."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
