"""``wikigr config``: which settings apply, and where each comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from wikigr.settings import merge, settings_files
from wikigr_cli import options, render
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import EXIT_CODES_HELP

app = typer.Typer(
    help="Show the settings in force.", rich_markup_mode=None, no_args_is_help=True, epilog=EXIT_CODES_HELP
)


def defaults(folder: Path) -> dict[str, Any]:
    """Return the settings files' values as defaults for the command tree.

    Options are written as on the command line (``top-k``); the command tree wants them as ``top_k``.
    """
    return _underscored(merge(list(settings_files(folder))))


def _underscored(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key.replace("-", "_") if not isinstance(value, dict) else key: _underscored(value)
        if isinstance(value, dict)
        else value
        for key, value in values.items()
    }


@app.command("show", epilog=EXIT_CODES_HELP)
def show(
    context: typer.Context,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
    json_output: options.Json = False,
) -> None:
    """Print every option's value as it would be without flags: environment, project file, user file, default."""
    environment = context.ensure_object(Environment)
    files = list(settings_files(Path.cwd()))
    root = context.find_root()
    rows: list[dict[str, Any]] = []
    for path, command in _commands(root.command, ()):
        for parameter in command.params:
            if parameter.param_type_name != "option" or parameter.name in (None, "help", "json_output"):
                continue
            option = max(parameter.opts, key=len).lstrip("-")
            value, where = _resolve(path, option, parameter, files)
            rows.append({"command": " ".join(path), "option": option, "value": value, "origin": where})
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "settings": rows})
    else:
        render.settings_table(environment, rows, origin=origin)


def _commands(command: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        return [(path, command)]
    return [found for name in sorted(children) for found in _commands(children[name], (*path, name))]


def _resolve(path: tuple[str, ...], option: str, parameter: Any, files: list[Any]) -> tuple[Any, str]:
    declared = parameter.envvar
    variables = [declared] if isinstance(declared, str) else list(declared or ())
    if not variables:
        variables = ["_".join(("WIKIGR", *path, parameter.name or "")).upper().replace("-", "_")]
    for variable in variables:
        if os.environ.get(variable):
            return os.environ[variable], f"environment ({variable})"
    for file in files:
        values: Any = file.values
        for step in path:
            values = values.get(step, {}) if isinstance(values, dict) else {}
        for spelling in (option, option.replace("-", "_")):
            if isinstance(values, dict) and spelling in values:
                return values[spelling], str(file.path)
    default = parameter.default
    return (None if callable(default) else default), "default"
