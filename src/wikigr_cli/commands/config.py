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
    origin: Annotated[bool, typer.Option("--origin", help="Also show where each value comes from.")] = False,
    json_output: options.Json = False,
) -> None:
    """Print the value that each option has without a flag: from the environment, a settings file or its default."""
    environment = context.ensure_object(Environment)
    rows = effective_settings(Path.cwd(), context.find_root().command)
    if json_output:
        print_json(environment, {"schema_version": SCHEMA_VERSION, "settings": rows})
    else:
        print_settings(environment, rows, origin=origin)


app = group("Show the effective settings.", {"show": show})
