"""A terminal in memory for tests."""

from __future__ import annotations

import io

from wikigr_cli.app import run
from wikigr_cli.environment import Environment
from wikigr_cli.render.terminal import cells

from .conftest import Result


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def environment_of(columns: int, **variables: str) -> tuple[Environment, Terminal, Terminal]:
    out, err = Terminal(), Terminal()
    shown = {"COLUMNS": str(columns), "NO_COLOR": "1", **variables}
    return Environment(io.StringIO(), out, err, {key: value for key, value in shown.items() if value}), out, err


def in_terminal(*arguments: str, columns: int = 80, **variables: str) -> Result:
    environment, out, err = environment_of(columns, **variables)
    return Result(run(arguments, environment), out.getvalue(), err.getvalue())


def widest(text: str) -> int:
    return max(cells(line) for line in text.splitlines())
