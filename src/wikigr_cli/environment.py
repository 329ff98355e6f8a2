"""Everything a command touches outside the library, in one object, so that commands can be tested in-process."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from wikigr_cli.render.wrapping import breaks, cells, cut, wrap_pieces

if TYPE_CHECKING:
    from rich.console import Console


def _open(stream: TextIO | None) -> TextIO:
    """Return ``stream``, or an empty one where the caller closed it (``2>&-``)."""
    return stream if stream is not None else Path(os.devnull).open("r+", encoding="utf-8")


class Interrupted(Exception):  # noqa: N818
    """The user stopped a command with Ctrl-C; ``hint`` says what the same command would do, if that is known."""

    def __init__(self, hint: str = "") -> None:
        super().__init__(hint)
        self.hint = hint


class ReaderGone(Exception):  # noqa: N818
    """Whoever read our output has closed it: there is no more to do, and nothing is wrong."""


# Terminal control characters, C0 and C1, but for tab and newline, and those that turn the direction of text.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def plain(text: str) -> str:
    """Return ``text`` with control characters made visible: text from outside must not drive a terminal."""
    return _CONTROL.sub("�", text)


def plain_json(text: str) -> str:
    """Return a document of JSON that means the same and drives no terminal: control characters as ``\\uXXXX``."""
    # In JSON they stand in strings only; the line breaks of an indented document are none of them.
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def is_utf8(stream: TextIO) -> bool:
    """Tell whether ``stream`` takes every character; one without an encoding is in memory."""
    encoding = getattr(stream, "encoding", None)
    return not encoding or codecs.lookup(encoding).name.startswith("utf-8")


def strict_utf8(stream: TextIO) -> TextIO:
    """Return ``stream``, of which nothing was read yet, so that it refuses what is no UTF-8, whatever the locale."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="strict")
    return stream


# What becomes of a line that is too long for a terminal.
Overflow = Literal["wrap", "cut", "keep"]
# Of a terminal that does not tell its width.
_WIDTH = 80
# SGR codes; rich would cost a question 40 ms for these.
_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}


@dataclass(slots=True)
class Environment:
    """Streams, verbosity and the variables that decide about color.

    ``verbosity`` is -1 for ``-q``, 0, or 1 for ``-v``. Results go to ``stdout``; everything else to ``stderr``.
    """

    stdin: TextIO = field(default_factory=lambda: _open(sys.stdin))
    stdout: TextIO = field(default_factory=lambda: _open(sys.stdout))
    stderr: TextIO = field(default_factory=lambda: _open(sys.stderr))
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    verbosity: int = 0
    debug: bool = False
    # Of a line for the terminal that is not complete: its pieces with their styles.
    _begun: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for stream in (self.stdout, self.stderr):
            if isinstance(stream, TextIOWrapper):
                # What the locale's encoding lacks is seen as an escape; a name is no reason to break off an answer.
                stream.reconfigure(errors="backslashreplace")

    def color(self, stream: TextIO) -> bool:
        """Tell whether ``stream`` gets color: NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
        if self.variables.get("NO_COLOR"):
            return False
        if self.variables.get("FORCE_COLOR"):
            return True
        return stream.isatty() and self.variables.get("TERM") != "dumb"

    def animates(self) -> bool:
        """Tell whether progress may be drawn on stderr."""
        return self.verbosity >= 0 and self.stderr.isatty() and self.variables.get("TERM") != "dumb"

    def console(self, stream: TextIO) -> Console:
        """Return a rich console on ``stream`` that neither colors nor wraps what is not a terminal."""
        from rich.console import Console

        terminal = stream.isatty()
        return Console(
            file=stream,
            # NO_COLOR asks for no color; progress is drawn all the same.
            force_terminal=terminal or self.color(stream),
            no_color=not self.color(stream),
            width=None if terminal else 10_000,
            soft_wrap=not terminal,
            highlight=False,
            emoji=False,
            markup=False,
        )

    def width(self, stream: TextIO) -> int | None:
        """Return how many columns ``stream`` has: COLUMNS, else what the terminal says; ``None`` for no terminal."""
        if not stream.isatty():
            return None
        columns = self.variables.get("COLUMNS", "")
        if columns.isdecimal() and int(columns) > 0:
            return int(columns)
        try:
            return os.get_terminal_size(stream.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH

    def print(
        self, text: str = "", *, style: str = "", end: str = "\n", hang: int | None = None, overflow: Overflow = "wrap"
    ) -> None:
        """Write a piece of the result, in a ``style`` (``bold``, ``dim`` or a color) where stdout has color.

        Of codes there is the style's: a name or a path in ``text`` may come from anywhere. In a terminal a line that
        is too long is broken between words (``wrap``) and goes on below, indented by ``hang`` columns or by its own
        leading blanks; or it is ``cut``, as that of a table; or it is kept as it is, so that a command can be copied.
        All of it is decided by the call that ends the line.
        """
        text = plain(text)
        width = self.width(self.stdout)
        if width is None:
            self.write(self._styled(text, style) + end)
            return
        self._begun.append((text, style))
        if not end.endswith("\n"):
            self._begun.append((end, ""))
            return
        pieces, self._begun = self._begun, []
        if overflow == "cut":
            joined = "".join(piece for piece, _ in pieces)
            pieces = pieces if cells(joined) <= width else [(cut(joined, width), style)]
        lines = wrap_pieces(pieces, width, hang) if overflow == "wrap" else [pieces]
        self.write("\n".join("".join(self._styled(*piece) for piece in line) for line in lines) + end)

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and self.color(self.stdout) else text

    def write(self, text: str) -> None:
        """Write a piece of the result; raises ``ReaderGone`` when nobody reads it any more (``| head``)."""
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except BrokenPipeError as error:
            raise ReaderGone from error

    def write_json(self, text: str) -> None:
        """Write JSON that drives no terminal, in ASCII where stdout is not UTF-8: readers of JSON take nothing else."""
        text = plain_json(text)
        if not is_utf8(self.stdout):
            import json

            # Such characters stand in strings only.
            text = _NOT_ASCII.sub(lambda found: json.dumps(found.group())[1:-1], text)
        self.write(text)

    def write_text(self, text: str) -> None:
        """Write a piece of text from outside, without anything that could drive the terminal."""
        self.write(plain(text))

    def note(self, message: str, *, overflow: Overflow = "wrap") -> None:
        """Say something beside the result; ``-q`` silences it."""
        if self.verbosity >= 0:
            self.complain(message, overflow=overflow)

    def complain(self, message: str, *, overflow: Overflow = "wrap") -> None:
        """Say something on stderr, whatever the verbosity; a stderr that is gone is no reason to fail.

        In a terminal it is broken between words, unless ``overflow`` is ``keep``.
        """
        message = plain(message)
        with suppress(OSError, ValueError):
            width = self.width(self.stderr)
            if width is not None and overflow == "wrap":
                lines = breaks(message, width)
                message = "\n".join(" " * indent + message[begin:end] for indent, begin, end in lines)
            self.stderr.write(f"{message}\n")
            self.stderr.flush()
