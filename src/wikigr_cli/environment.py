"""The streams, verbosity and variables of a command in one object, so that commands can be tested in-process."""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Literal, TextIO

from wikigr.errors import UsageError
from wikigr.text import CONTROL, harmless, one_line
from wikigr_cli.render.terminal import breaks, cells, cut, openable, wrap_pieces

if TYPE_CHECKING:
    from rich.console import Console

    from wikigr.errors import WikigrError

# How to print a line that is too long for the terminal.
Overflow = Literal["wrap", "cut", "keep"]
# Terminals that would print an address instead of hiding it; ``linux`` is the console without a desktop.
_WITHOUT_LINKS = (None, "", "dumb", "linux")
# SGR codes. Importing rich for these would add 40 ms to every question.
_STYLES = {"bold": 1, "dim": 2, "reverse": 7, "red": 31, "green": 32, "yellow": 33}


class Interrupted(Exception):  # noqa: N818
    """The user stopped a command with Ctrl-C. ``hint`` says how to resume it, or is empty."""

    def __init__(self, hint: str = "") -> None:
        super().__init__(hint)
        self.hint = hint


class OutputClosed(Exception):  # noqa: N818
    """The reader of stdout closed it (``| head``): stop without an error."""


def plain_json(text: str) -> str:
    """Return an equivalent JSON document with each control character written as ``\\uXXXX``."""
    # JSON allows these characters inside strings only. The line breaks of an indented document do not match.
    return CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def typed_in(context: Any) -> Callable[[str], bool]:
    """Return a function that tells whether the parameter of a name is on the command line of a click ``context``."""

    def is_typed(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    return is_typed


def as_utf8(stream: TextIO, *, errors: str = "strict") -> TextIO:
    """Make an unread ``stream`` decode UTF-8 in every locale, and return it; ``errors`` is that of ``open``."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors=errors)
    return stream


def read_stdin(environment: Environment, what: str) -> str:
    """Return the text on standard input; on a terminal, say first what is awaited.

    Raises ``UsageError`` unless it is UTF-8.
    """
    if environment.stdin.isatty():
        environment.note(f"Reading {what} from the terminal. Press Ctrl-D on a line of its own to end it.")
    try:
        return as_utf8(environment.stdin).read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UsageError(f"Cannot read {what}: standard input is not UTF-8 text ({error.reason}).") from error


@dataclass(slots=True)
class Environment:
    """The streams, the verbosity and the environment variables of a command.

    ``verbosity`` is -1 with ``-q``, 1 with ``-v``, else 0. Results go to ``stdout``, everything else to ``stderr``.
    """

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    verbosity: int = 0
    debug: bool = False
    # The pieces of a terminal line that has not ended yet, each with its style and the address that a click opens.
    _pending: list[tuple[str, tuple[str, str]]] = field(default_factory=list)
    # Prints a message above the progress bars while they are shown; written to stderr, it would garble them.
    print_above_bars: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        for stream in (self.stdout, self.stderr):
            if isinstance(stream, TextIOWrapper):
                # Escape what the locale's encoding lacks: a name must not end a command.
                stream.reconfigure(errors="backslashreplace")

    def has_color(self, stream: TextIO) -> bool:
        """Return whether ``stream`` gets color: NO_COLOR decides first, then FORCE_COLOR, then the terminal."""
        if self.variables.get("NO_COLOR"):
            return False
        if self.variables.get("FORCE_COLOR"):
            return True
        return stream.isatty() and self.variables.get("TERM") != "dumb"

    def is_interactive(self) -> bool:
        """Return whether a person types at a terminal and reads the result there."""
        return self.stdin.isatty() and self.stdout.isatty()

    def can_animate(self) -> bool:
        """Return whether progress bars may be drawn on stderr."""
        return self.verbosity >= 0 and self.stderr.isatty() and self.variables.get("TERM") != "dumb"

    def console(self, stream: TextIO) -> Console:
        """Return a rich console on the terminal ``stream``, for progress."""
        from rich.console import Console

        # NO_COLOR turns off color only; progress is still drawn.
        return Console(
            file=stream,
            force_terminal=True,
            no_color=not self.has_color(stream),
            highlight=False,
            emoji=False,
            markup=False,
        )

    def width(self, stream: TextIO) -> int | None:
        """Return the columns of ``stream``: what the terminal reports, or COLUMNS if that is less or nothing.

        An exported COLUMNS does not change when the terminal is resized. Without a terminal the width is ``None``.
        """
        if not stream.isatty():
            return None
        variable = self.variables.get("COLUMNS", "")
        wanted = int(variable) if variable.isdecimal() else 0
        try:
            reported = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            reported = 0
        return min(filter(None, (wanted, reported)), default=80)

    def has_links(self, stream: TextIO) -> bool:
        """Return whether ``stream`` is a terminal that can make text clickable (OSC 8), which others ignore."""
        return stream.isatty() and self.has_color(stream) and self.variables.get("TERM") not in _WITHOUT_LINKS

    def print(
        self,
        text: str = "",
        *,
        style: str = "",
        end: str = "\n",
        hang: int | None = None,
        overflow: Overflow = "wrap",
        link: str | None = None,
        has_lines: bool = False,
    ) -> None:
        """Write a piece of the result to stdout, without control characters, in ``style`` if stdout has color.

        It stays on its line, unless it is a text that ``has_lines``: no name or metadata begins a line of its own.

        ``style`` is ``bold``, ``dim``, ``reverse`` or a color. In a terminal a piece is held back until its line ends;
        the call that ends the line decides how it overflows. ``wrap`` breaks it between words and indents the next
        lines by ``hang`` columns (default: by the line's own leading blanks), ``cut`` shortens it like a row of a
        table, and ``keep`` leaves it whole so that a command can be copied. A terminal that can opens the address
        ``link`` on a click.
        """
        text = harmless(text if has_lines else one_line(text))
        width = self.width(self.stdout)
        shown = (style, openable(link) or "")
        if width is None:
            self.write(self._styled(text, shown) + end)
            return
        self._pending.append((text, shown))
        if not end.endswith("\n"):
            self._pending.append((end, ("", "")))
            return
        pieces, self._pending = self._pending, []
        if overflow == "cut":
            joined = "".join(piece for piece, _ in pieces)
            pieces = pieces if cells(joined) <= width else [(cut(joined, width), shown)]
        lines = wrap_pieces(pieces, width, ("", ""), hang) if overflow == "wrap" else [pieces]
        self.write("\n".join("".join(self._styled(*piece) for piece in line) for line in lines) + end)

    def drop_line(self) -> None:
        """Forget the pieces of a line that has not ended, after an interruption."""
        self._pending.clear()

    def _styled(self, text: str, shown: tuple[str, str]) -> str:
        style, link = shown
        if style and self.has_color(self.stdout):
            text = f"\x1b[{_STYLES[style]}m{text}\x1b[0m"
        if link and self.has_links(self.stdout):
            text = f"\x1b]8;;{link}\x1b\\{text}\x1b]8;;\x1b\\"
        return text

    def write(self, text: str) -> None:
        """Write ``text`` to stdout as it is; raises ``OutputClosed`` if nobody reads stdout any more."""
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosed from error

    def write_json(self, text: str) -> None:
        """Write JSON to stdout without control characters, and as ASCII unless stdout is UTF-8."""
        text = plain_json(text)
        # A stream without an encoding is in memory, and can hold every character.
        encoding = getattr(self.stdout, "encoding", None)
        if encoding and not codecs.lookup(encoding).name.startswith("utf-8"):
            # JSON has non-ASCII characters inside strings only.
            text = re.sub(r"[^\x00-\x7f]+", lambda found: json.dumps(found.group())[1:-1], text)
        self.write(text)

    def write_text(self, text: str) -> None:
        """Write untrusted text to stdout without control characters."""
        self.write(harmless(text))

    def note(self, message: str, *, overflow: Overflow = "wrap") -> None:
        """Write a note of one line to stderr; ``-q`` silences it."""
        if self.verbosity >= 0:
            self.print_error(one_line(message), overflow=overflow)

    def print_error(self, message: str, *, overflow: Overflow = "wrap") -> None:
        """Write a message to stderr whatever the verbosity; a closed stderr is ignored.

        A terminal breaks it between words, unless ``overflow`` is ``keep``.
        """
        message = harmless(message)
        with suppress(OSError, ValueError):
            width = self.width(self.stderr)
            if width is not None and overflow == "wrap":
                lines = breaks(message, width)
                message = "\n".join(" " * indent + message[begin:end] for indent, begin, end in lines)
            if self.print_above_bars is not None:
                self.print_above_bars(message)
                return
            self.stderr.write(f"{message}\n")
            self.stderr.flush()

    def report(self, error: WikigrError) -> None:
        """Write the message and the hint of an error to stderr."""
        self.print_error(one_line(f"wikigr: {error.message}"))
        if error.hint:
            self.print_error(one_line(error.hint))
