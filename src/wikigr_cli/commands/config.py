"""``wikigr config``: the effective settings and their origins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, print_json
from wikigr_cli.render.settings import print_settings
from wikigr_cli.settings import effective_settings


def show(
    context: typer.Context,
    origin: Annotated[bool, options.Output("--origin", help="Also show where each value comes from.")] = False,
    show_all: Annotated[bool, options.Output("--all", help="Also show the options that have their default.")] = False,
    json_output: options.Json = False,
) -> None:
    """Print the options that the environment or a settings file sets, with their values.

    --all also prints the options that have their default; --json always contains them.

    \b
    Examples:
      wikigr config show
      wikigr config show --origin
    """
    environment = context.ensure_object(Environment)
    rows = effective_settings(Path.cwd(), context.find_root().command)
    if json_output:
        print_json(environment, {"schema_version": SCHEMA_VERSION, "settings": rows})
    else:
        print_settings(environment, rows, origin=origin, show_all=show_all)


app = group(
    """Show the effective settings.

    \b
    Examples:
      wikigr config show --origin
    """,
    {"show": show},
)
