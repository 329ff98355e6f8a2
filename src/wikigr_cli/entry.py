"""The console script: start-up, signals and end of the process. Ctrl-C is handled before anything heavy is imported."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from types import FrameType, ModuleType
from typing import NoReturn


def main() -> None:
    """Import the command line, run it, and end the process with its exit code."""
    # A shell that starts a job in the background makes it ignore Ctrl-C.
    handles_ctrl_c = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_ctrl_c:
        signal.signal(signal.SIGINT, end_at_once)
    # No child process imports modules from the working directory, where a stranger's documents may lie.
    os.environ["PYTHONSAFEPATH"] = "1"
    # wikigr does not read it, but numpy, imported by scipy, fails at a value that is not the number of a date.
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    _fill_closed_streams()
    _skip_unused_parts()

    from wikigr_cli.app import run
    from wikigr_cli.environment import Environment

    environment = Environment()
    try:
        if handles_ctrl_c:
            signal.signal(signal.SIGINT, interrupt_command)
        status = run(sys.argv[1:], environment)
    except KeyboardInterrupt:
        # Just before the command, or while its error was printed.
        status = 130
    finally:
        if handles_ctrl_c:
            signal.signal(signal.SIGINT, end_at_once)
    with suppress(OSError, AttributeError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Every command has closed its files. Python's normal exit would free the model piece by piece, which takes a
    # seventh of a question's time.
    os._exit(status)


def end_at_once(number: int, frame: FrameType | None) -> None:
    """Handle Ctrl-C where no command runs: a ``KeyboardInterrupt`` in an import can be lost or become another error."""
    with suppress(OSError):
        os.write(2, b"Interrupted.\n")
    os._exit(130)


def interrupt_command(number: int, frame: FrameType | None) -> None:
    """Handle Ctrl-C where a command runs: raise ``KeyboardInterrupt``, or end at once if the command is importing.

    An interrupted import may lose the exception and keep its lock, for which other threads then wait for ever.
    """
    caller = frame
    while caller is not None:
        if caller.f_code.co_filename.startswith("<frozen importlib"):
            end_at_once(number, frame)
        caller = caller.f_back
    raise KeyboardInterrupt


def _skip_unused_parts() -> None:
    """Make a cold question a tenth faster. Only the console script does this, because it owns the process.

    No command multiplies large matrices with numpy, so OpenBLAS needs no threads. No command uses the asynchronous
    connection of the engine, which is the only reason why the engine imports asyncio and ssl. Imported objects live
    until the end, so the garbage collector can look at them rarely.
    """
    gc.set_threshold(100_000, 50, 50)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    absent = ModuleType("real_ladybug.async_connection")
    vars(absent)["AsyncConnection"] = None
    sys.modules.setdefault(absent.__name__, absent)


def _fill_closed_streams() -> None:
    """Open the null device for every standard stream that the caller closed (``2>&-``).

    Otherwise the next file that is opened would take the descriptor of that stream. Printing a result is an error then.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # Inheritable like standard streams, because a build starts processes.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            stream = _ClosedOutput if name == "stdout" else TextIOWrapper
            binary = os.fdopen(number, "rb" if name == "stdin" else "wb", closefd=False)
            setattr(sys, name, stream(binary, encoding="utf-8"))


class _ClosedOutput(TextIOWrapper):
    """A standard output that the caller closed."""

    def write(self, text: str) -> NoReturn:
        """Raise ``OSError``."""
        raise OSError(errno.EBADF, "Standard output is closed")
