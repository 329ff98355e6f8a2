"""The table of commands. Each module is imported when its command is used, so that no command waits for the others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any

import typer

from wikigr.errors import UsageError
from wikigr.suggestions import did_you_mean, nearest
from wikigr_cli.command_class import Command, Group, leaf_commands, prepare
from wikigr_cli.environment import Environment

HELP_OPTIONS = ("-h", "--help")
# Command name to module, in the order of the help. The module has a Typer app (a group) or a function of that name.
_MODULES = {
    "ask": "ask",
    "replay": "replay",
    "log": "log",
    "search": "search",
    "why": "show",
    "show": "show",
    "open": "show",
    "graph": "graph",
    "pack": "pack",
    "pagerank": "pagerank",
    "profile": "profile",
    "eval": "eval",
    "serve": "serve",
    "mcp": "serve",
    "model": "about",
    "config": "about",
    "doctor": "about",
    "help": "about",
    "version": "about",
}


class _Commands(Mapping[str, Any]):
    """The commands by name. Looking one up imports its module."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            module = import_module(f"wikigr_cli.commands.{_MODULES[name]}")
            # `help` and `eval` would hide the built-in.
            found = getattr(module, name, None) or getattr(module, f"{name}_command")
            if isinstance(found, typer.Typer):
                command: Any = typer.main.get_group(found)
            else:
                app = typer.Typer(rich_markup_mode=None, add_completion=False)
                app.command(cls=Command)(found)
                command = typer.main.get_command(app)
            command.name = name
            prepare(command, (name,))
            self._loaded[name] = command
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __contains__(self, name: object) -> bool:
        return name in _MODULES


def group(text: str, commands: Mapping[str, Callable[..., None]]) -> typer.Typer:
    """Return a group with the help ``text`` and ``commands`` by name."""
    app = typer.Typer(cls=Group, help=text, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(print_help)
    for name, function in commands.items():
        app.command(name, cls=Command)(function)
    return app


def print_help(context: typer.Context) -> None:
    """Print the help of a group that was called without a command."""
    if context.invoked_subcommand is None:
        context.ensure_object(Environment).write(f"{context.get_help()}\n")


class CommandTable(Group):
    """The root of the command tree."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()  # type: ignore[assignment]  # click only reads it

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        words = [args[0], *takewhile(lambda word: not word.startswith("-"), args[1:])]
        if not _is_question(words) and (len(words) == 1 or nearest_commands(self, self, words[0])):
            question = shlex.join(("wikigr", "ask", *words))
            raise unknown_command(self, self, args[0], f"Try 'wikigr --help', or ask a question: {question}")
        return "ask", self.commands["ask"], args


def _is_question(words: Sequence[str]) -> bool:
    """Return whether words without a command can only be a question: quoted, or beginning or ending like one."""
    from wikigr.segmentation import QUESTION_START

    begins = len(words) > 1 and re.match(QUESTION_START, words[0], re.IGNORECASE)
    return " " in words[0] or words[-1].endswith("?") or bool(begins)


def nearest_commands(root: Any, group: Any, word: str) -> list[str]:
    """Return the command of ``group`` that ``word`` probably means, or one elsewhere in the tree, or nothing."""
    near = nearest(word, getattr(group, "commands", ()))
    if near:
        return near
    # Of commands with the same name, the first one.
    known = {path[-1]: " ".join(path) for path, _ in reversed(list(leaf_commands(root)))}
    return [known[name] for name in nearest(word, known)]


def unknown_command(root: Any, group: Any, word: str, otherwise: str) -> UsageError:
    """Return the error for a ``word`` that is not a command of ``group``; without a near one, it says ``otherwise``."""
    name = " ".join(("wikigr", *group.path))
    hint = did_you_mean(nearest_commands(root, group, word), otherwise)
    return UsageError(f"{name} has no command {word!r}.", hint=hint)
