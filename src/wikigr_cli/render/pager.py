"""Show text in the user's pager."""

from __future__ import annotations

import io
import shlex
import signal
import subprocess
from collections.abc import Callable
from types import FrameType

from wikigr_cli.environment import Environment

_DEFAULT_PAGER = "less"
# As git does: color, quit if the text fits on the screen, and leave it there afterwards.
_LESS = "FRX"


class _Screen(io.StringIO):
    """Text for a terminal, kept until the pager shows it."""

    def isatty(self) -> bool:
        return True


def page(environment: Environment, print_text: Callable[[Environment], None]) -> None:
    """Show what ``print_text`` prints in $PAGER (default: ``less``), or print it if stdout is not a terminal.

    A pager that cannot be started is named in a note, and the text is printed instead.
    """
    if not environment.stdout.isatty() or environment.variables.get("TERM") in (None, "", "dumb"):
        print_text(environment)
        return
    command = _pager(environment)
    screen = _Screen()
    variables = {**environment.variables, "COLUMNS": str(environment.width(environment.stdout))}
    # Not every version of less hides the addresses of links.
    variables["TERM"] = ""
    print_text(Environment(environment.stdin, screen, environment.stderr, variables))
    own = {"LESS": _LESS, **environment.variables}
    # Ctrl-C belongs to the pager. A handler, unlike SIG_IGN, is not inherited by it.
    before = signal.signal(signal.SIGINT, _do_nothing)
    try:
        subprocess.run(command, input=screen.getvalue(), text=True, encoding="utf-8", env=own, check=False)
    except OSError as error:
        environment.note(f"Cannot start the pager {command[0]!r}: {error.strerror}. Set PAGER to another one.")
        print_text(environment)
    finally:
        signal.signal(signal.SIGINT, before)


def _pager(environment: Environment) -> list[str]:
    """Return the command of the user's pager, or the default one if $PAGER is no command."""
    given = environment.variables.get("PAGER", "")
    try:
        return shlex.split(given) or [_DEFAULT_PAGER]
    except ValueError as error:
        environment.note(f"Cannot read PAGER ({given}): {error}. Using {_DEFAULT_PAGER}.")
        return [_DEFAULT_PAGER]


def _do_nothing(number: int, frame: FrameType | None) -> None:
    del number, frame
