"""The table of commands. Each module is imported when its command is used, so that no command waits for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from wikigr_cli.exit_codes import EXIT_CODES_HELP

HELP_OPTIONS = ("-h", "--help")
# Command name to module, in the order of the help. A module holds a Typer app (a group) or a function of that name.
_MODULES = {
    "ask": "ask",
    "replay": "replay",
    "search": "search",
    "rerank": "rerank",
    "why": "why",
    "show": "show",
    "open": "open",
    "graph": "graph",
    "pack": "pack",
    "pagerank": "pagerank",
    "profile": "profile",
    "eval": "eval",
    "model": "model",
    "config": "config",
    "doctor": "doctor",
}
# Options that print something instead of running a command.
_EAGER_OPTIONS = ("help", "version", "install_completion", "show_completion")


class _Commands(Mapping[str, Any]):
    """The commands by name. Looking one up imports its module."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            module = import_module(f"wikigr_cli.commands.{_MODULES[name]}")
            self._loaded[name] = (
                typer.main.get_group(module.app) if hasattr(module, "app") else _single_command(getattr(module, name))
            )
            self._loaded[name].name = name
            _ignore_help_variables(self._loaded[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES


def group(
    text: str, commands: Mapping[str, Callable[..., None]], *, epilogs: Mapping[str, str] | None = None
) -> typer.Typer:
    """Return a group with the help ``text`` and ``commands`` by name.

    ``epilogs`` gives a command a paragraph of its own, which its help prints above the exit codes.
    """
    app = typer.Typer(help=text, rich_markup_mode=None, no_args_is_help=True, epilog=EXIT_CODES_HELP)
    for name, function in commands.items():
        own = (epilogs or {}).get(name)
        app.command(name, epilog=f"{own}\n\n{EXIT_CODES_HELP}" if own else EXIT_CODES_HELP)(function)
    return app


def _single_command(function: Callable[..., None]) -> Any:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(epilog=EXIT_CODES_HELP)(function)
    return typer.main.get_command(app)


def _ignore_help_variables(command: Any) -> None:
    """Keep variables such as ``WIKIGR_ASK_HELP`` from printing the help of ``command`` or of its subcommands."""
    context = typer.Context(command, help_option_names=list(HELP_OPTIONS))
    command.get_help_option(context).allow_from_autoenv = False
    for child in getattr(command, "commands", {}).values():
        _ignore_help_variables(child)


class CommandTable(TyperGroup):
    """The root of the command tree."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()  # type: ignore[assignment]  # click only reads it

    def get_params(self, ctx: Any) -> Any:
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            # WIKIGR_VERSION=1.2.0 may be a variable of the user's own and must not print the version.
            if parameter.name in _EAGER_OPTIONS:
                parameter.allow_from_autoenv = False
        return parameters
