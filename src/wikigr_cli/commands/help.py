"""``wikigr help`` and ``wikigr version``: what ``--help`` and ``--version`` print."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wikigr.errors import UsageError
from wikigr.suggestions import did_you_mean, nearest
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, print_json


def help_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]...", help="The command, such as `ask` or `pack build`.", show_default=False),
    ] = None,
) -> None:
    """Print the help of a command, or the list of commands.

    \b
    Examples:
      wikigr help
      wikigr help pack build
    """
    environment = context.ensure_object(Environment)
    chosen: Any = context.find_root()
    for word in words or ():
        commands = getattr(chosen.command, "commands", {})
        if word not in commands:
            hint = did_you_mean(nearest(word, commands), f"Try '{chosen.command_path} --help'.")
            raise UsageError(f"{chosen.command_path} has no command {word!r}.", hint=hint)
        child = commands[word]
        chosen = child.context_class(child, info_name=word, parent=chosen, **child.context_settings)
    environment.write(f"{chosen.get_help()}\n")


def version_command(context: typer.Context, json_output: options.Json = False) -> None:
    """Print the version and the commit.

    \b
    Examples:
      wikigr version
      wikigr version --json
    """
    environment = context.ensure_object(Environment)

    from wikigr import __version__
    from wikigr.version import commit, version_line

    if json_output:
        print_json(environment, {"schema_version": SCHEMA_VERSION, "version": __version__, "commit": commit()})
    else:
        environment.print(version_line())
