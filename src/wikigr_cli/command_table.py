"""The commands of ``wikigr``, each imported when it is called: one question need not wait for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from wikigr_cli.exit_codes import EXIT_CODES_HELP

HELP_OPTIONS = ("-h", "--help")
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
    "eval": "eval",
    "model": "model",
    "config": "config",
    "doctor": "doctor",
}


_INSTEAD_OF_A_COMMAND = ("help", "version", "install_completion", "show_completion")


class _Commands(Mapping[str, Any]):
    """The commands by name; asking for one imports it."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            module = import_module(f"wikigr_cli.commands.{_MODULES[name]}")
            self._loaded[name] = (
                typer.main.get_group(module.app) if hasattr(module, "app") else _single(getattr(module, name))
            )
            self._loaded[name].name = name
            _keep_help_from_environment(self._loaded[name])
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


def _keep_help_from_environment(command: Any) -> None:
    """Have no variable (``WIKIGR_ASK_HELP``) ask for the help of ``command`` or of those below it."""
    context = typer.Context(command, help_option_names=list(HELP_OPTIONS))
    command.get_help_option(context).allow_from_autoenv = False
    for child in getattr(command, "commands", {}).values():
        _keep_help_from_environment(child)


class CommandTable(TyperGroup):
    """The root of the command tree."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()  # type: ignore[assignment]  # click only reads it

    def get_params(self, ctx: Any) -> Any:
        found: list[Any] = super().get_params(ctx)
        for parameter in found:
            # What is done instead of a command is asked for on the command line only: WIKIGR_VERSION=1.2.0 is
            # somebody's own variable.
            if parameter.name in _INSTEAD_OF_A_COMMAND:
                parameter.allow_from_autoenv = False
        return found
