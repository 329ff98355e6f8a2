"""``docs/reference/commands.md``: every command with its arguments, options, defaults and variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from command_tree import Command, Parameter

_WIDTH = 100
_HEAD = """\
# Commands

<!-- Written by `make docs` from the commands themselves: change the help texts in src/wikigr_cli, not this page. -->

`wikigr COMMAND --help` prints the same. Global options stand before the command: `wikigr -q ask "…"`.

An option can also be set by the environment variable that is named with it, by a `wikigr.yaml` in
the project's folder or a parent of it, or by the user's own file. The order is: flag, variable,
project file, user file, profile, default. `wikigr config show --origin` prints what is in force.
`WIKIGR_PACK` names the pack for every command that reads one.

Exit codes: [exit-codes.md](exit-codes.md). JSON: [json.md](json.md).
"""


def commands_page(commands: Sequence[Command]) -> str:
    """Return the page as Markdown."""
    sections = [line for command in commands for line in _command(command)]
    return "\n".join([_HEAD, *_contents(commands), "", *sections]).rstrip() + "\n"


def _contents(commands: Sequence[Command]) -> Iterator[str]:
    yield "| command | what it does |"
    yield "| --- | --- |"
    for command in commands:
        if not command.is_group:
            yield f"| [{command.path}](#{command.path.replace(' ', '-')}) | {_cell(command.paragraphs[0])} |"


def _command(command: Command) -> Iterator[str]:
    if command.is_group and not command.options:
        return
    yield f"## {command.path}"
    yield ""
    yield "```text"
    yield command.usage
    yield "```"
    yield ""
    for paragraph in (*command.paragraphs, *command.closing):
        yield from wrap(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
        yield ""
    for parameter in (*command.arguments, *command.options):
        yield from wrap(
            f"- `{parameter.names}` — {_sentence(parameter)}",
            _WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    if command.arguments or command.options:
        yield ""


def _sentence(parameter: Parameter) -> str:
    parts = [parameter.text]
    if parameter.required:
        parts.append("Required.")
    if parameter.default:
        machine = " " in parameter.default
        parts.append(f"Default: {parameter.default if machine else f'`{parameter.default}`'}.")
    if parameter.limits:
        parts.append(f"Range: `{parameter.limits}`.")
    if parameter.variable:
        parts.append(f"Variable: `{parameter.variable}`.")
    return " ".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
