"""The command tree of the CLI as plain values, from which the command page and the man page are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wikigr_cli.app import root_command
from wikigr_cli.command_class import GlobalOption, heading_of, long_name


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or an option. ``names`` includes the metavar; an argument has no long name and no variable."""

    names: str
    long_name: str
    heading: str
    text: str
    default: str
    limits: str
    variable: str
    required: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A command or a group: its ``path`` (``wikigr pack build``), help, examples and parameters.

    The global options are those of the root.
    """

    path: str
    usage: str
    paragraphs: list[str]
    arguments: list[Parameter]
    options: list[Parameter]
    closing: list[str]
    examples: list[str]
    is_group: bool


def commands() -> Iterator[Command]:
    """Yield every command in the order of the help, starting with the root."""
    root = root_command()
    yield from _below(root, _context(root, "wikigr", None))


def _context(command: Any, name: str, parent: Any) -> Any:
    return command.context_class(command, info_name=name, parent=parent, **command.context_settings)


def _below(command: Any, context: Any) -> Iterator[Command]:
    yield _read(command, context)
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _below(child, _context(child, name, context))


def _read(command: Any, context: Any) -> Command:
    is_root = context.parent is None
    parameters = [
        p for p in command.get_params(context) if is_root or not (isinstance(p, GlobalOption) or p.name == "help")
    ]
    text, _, examples = (command.help or "").partition("\b\nExamples:\n")
    return Command(
        path=context.command_path,
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        paragraphs=_paragraphs(text),
        arguments=[_argument(p, context) for p in parameters if p.param_type_name == "argument"],
        options=[_option(p, context) for p in parameters if p.param_type_name == "option"],
        closing=_paragraphs(command.epilog),
        examples=[line.strip() for line in examples.splitlines()],
        is_group=hasattr(command, "commands"),
    )


def _paragraphs(text: str | None) -> list[str]:
    """Return the paragraphs of a help text, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text or "") if part.strip()]


def _argument(parameter: Any, context: Any) -> Parameter:
    return _parameter(parameter, context, parameter.make_metavar(context).strip("[]{}"))


def _option(parameter: Any, context: Any) -> Parameter:
    short_first = sorted(parameter.opts, key=len)
    names = ", ".join(short_first)
    if parameter.secondary_opts:
        names += " / " + ", ".join(parameter.secondary_opts)
    if not parameter.is_flag:
        names += " " + parameter.make_metavar(context)
    variable = f"{context.auto_envvar_prefix}_{parameter.name.upper()}" if parameter.allow_from_autoenv else ""
    return _parameter(parameter, context, names, long_name(parameter), variable)


def _parameter(parameter: Any, context: Any, names: str, name: str = "", variable: str = "") -> Parameter:
    record = parameter.get_help_record(context)[1]
    help_text = " ".join((parameter.help or "").split())
    # Typer adds to the help text: "  [default: 5; x>=1; required]".
    added = " ".join(record.split()).removeprefix(help_text).strip().strip("[]")
    facts = [fact for fact in added.split("; ") if fact]
    default = next((fact.removeprefix("default: ") for fact in facts if fact.startswith("default: ")), "")
    limits = [fact for fact in facts if re.match(r"[x\d]\S*[<>]", fact)]
    return Parameter(
        names=names,
        long_name=name,
        heading=heading_of(parameter),
        text=help_text,
        # Typer puts a default that is described in words in parentheses.
        default=default.removeprefix("(").removesuffix(")"),
        limits=limits[0] if limits else "",
        variable=variable,
        required=bool(parameter.required),
    )
