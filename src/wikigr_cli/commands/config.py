"""``wikigr config``: which settings apply, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from wikigr.errors import UsageError
from wikigr.settings import merge, settings_files
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import EXIT_CODES_HELP
from wikigr_cli.render import output as render

app = typer.Typer(
    help="Show the settings in force.", rich_markup_mode=None, no_args_is_help=True, epilog=EXIT_CODES_HELP
)


def defaults(folder: Path, root: Any) -> dict[str, Any]:
    """Return the settings files' values as defaults for the command tree ``root``.

    Options are written as on the command line (``top-k``). Raises ``UsageError`` for a command or an option that
    does not exist, naming the nearest one that does.
    """
    files = list(settings_files(folder))
    for file in files:
        _check(file.values, root, file.path, ())
    return _by_parameter(merge(files), root)


def _check(values: Any, command: Any, path: Path, place: tuple[str, ...]) -> None:
    known = _children(command)
    where = " ".join(place) or "the top"
    if not isinstance(values, Mapping):
        raise UsageError(f"{path}: {where} must hold a mapping, not {values!r}.")
    for key, value in values.items():
        if _option(key) not in known:
            near = get_close_matches(str(key), known, n=1)
            raise UsageError(
                f"{path}: there is no {key!r} in {where}.", hint=f"Did you mean {near[0]!r}?" if near else None
            )
        child = known[_option(key)]
        if child is not None:
            _check(value, child, path, (*place, str(key)))
        elif isinstance(value, Mapping | list):
            raise UsageError(f"{path}: {' '.join((*place, str(key)))} must be a single value.")


def _option(key: object) -> str:
    return str(key).replace("_", "-")


def _children(command: Any) -> Mapping[str, Any]:
    """Return what a settings file may say below ``command``: subcommands, or options (``None``)."""
    commands = getattr(command, "commands", None)
    if commands is not None:
        return commands  # type: ignore[no-any-return]
    return {_long_name(p): None for p in command.params if p.param_type_name == "option"}


def _long_name(parameter: Any) -> str:
    return str(max(parameter.opts, key=len)).lstrip("-")


def _by_parameter(values: Mapping[str, Any], command: Any) -> dict[str, Any]:
    """Rename options to the names that the command tree has for them."""
    commands = getattr(command, "commands", None)
    if commands is not None:
        return {key: _by_parameter(value, commands[key]) for key, value in values.items()}
    names = {_long_name(p): p.name for p in command.params if p.param_type_name == "option"}
    return {names[_option(key)]: value for key, value in values.items()}


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
            option = _long_name(parameter)
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
