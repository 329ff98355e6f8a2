"""The commands of ``wikigr``, each imported when it is called: one question need not wait for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from wikigr_cli.exit_codes import EXIT_CODES_HELP

# In the order in which the help lists them. A module has a Typer app of its own (a group) or a function of this name.
_MODULES = {
    "ask": "ask",
    "replay": "replay",
    "search": "search",
    "rerank": "rerank",
    "why": "why",
    "graph": "graph",
    "pack": "pack",
    "pagerank": "pagerank",
    "profile": "profile",
    "eval": "evaluation",
    "model": "model",
    "config": "config",
    "doctor": "doctor",
}


class _Commands(Mapping[str, Any]):
    """The commands by name; asking for one imports it."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            module = import_module(f"wikigr_cli.{_MODULES[name]}")
            self._loaded[name] = (
                typer.main.get_group(module.app) if hasattr(module, "app") else _single(getattr(module, name))
            )
            self._loaded[name].name = name
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES


def _single(function: Callable[..., None]) -> Any:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(epilog=EXIT_CODES_HELP)(function)
    return typer.main.get_command(app)


class CommandTable(TyperGroup):
    """The root of the command tree."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()  # type: ignore[assignment]  # click only reads it
