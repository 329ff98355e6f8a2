"""The console script. It imports nothing heavy before Ctrl-C is handled."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType


def main() -> None:
    """Import the command line and run it."""
    # A shell that starts a job in the background makes it ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_at_once)
    from wikigr_cli import app

    app.main()


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
