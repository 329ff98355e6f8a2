"""Settings files as defaults for the command tree, and the value and origin of every option."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wikigr.errors import UsageError
from wikigr.settings import merge, settings_files


def read_defaults(folder: Path, root: Any) -> dict[str, Any]:
    """Return the values of the settings files that apply in ``folder``, as a click default map for ``root``.

    The files name options as on the command line (``top-k``). Raises ``UsageError`` for an unknown command or option
    and suggests the nearest known one.
    """
    files = list(settings_files(folder))
    for file in files:
        _check(file.values, root, file.path, ())
    return _by_parameter(merge(files), root)


def effective_settings(folder: Path, root: Any) -> list[dict[str, Any]]:
    """Return every option of every command with its value and origin, as they apply without flags in ``folder``."""
    files = list(settings_files(folder))
    rows = []
    for path, command in _commands(root, ()):
        for parameter in command.params:
            if parameter.param_type_name != "option" or parameter.name in (None, "help", "json_output"):
                continue
            option = _long_name(parameter)
            value, origin = _resolve(path, option, parameter, files)
            rows.append({"command": " ".join(path), "option": option, "value": value, "origin": origin})
    return rows


def _check(values: Any, command: Any, file: Path, path: tuple[str, ...]) -> None:
    """Raise ``UsageError`` unless the ``values`` of a settings file fit the ``command`` at ``path``."""
    known = _children(command)
    section = " ".join(path) or "the top level"
    if not isinstance(values, Mapping):
        raise UsageError(f"{file}: {section} must be a mapping, not {values!r}.")
    for key, value in values.items():
        if _option_name(key) not in known:
            near = get_close_matches(str(key), known, n=1)
            raise UsageError(
                f"{file}: {section} has no command or option {key!r}.",
                hint=f"Did you mean {near[0]!r}?" if near else None,
            )
        child = known[_option_name(key)]
        if child is not None:
            _check(value, child, file, (*path, str(key)))
        elif isinstance(value, Mapping | list) and not (isinstance(value, list) and _is_repeatable(command, key)):
            raise UsageError(f"{file}: {' '.join((*path, str(key)))} must be a single value.")


def _option_name(key: object) -> str:
    return str(key).replace("_", "-")


def _long_name(parameter: Any) -> str:
    return str(max(parameter.opts, key=len)).lstrip("-")


def _children(command: Any) -> Mapping[str, Any]:
    """Return the keys that a settings file may have under ``command``: its subcommands, or its options (``None``)."""
    commands = getattr(command, "commands", None)
    if commands is not None:
        return commands  # type: ignore[no-any-return]
    return {_long_name(p): None for p in command.params if p.param_type_name == "option"}


def _by_parameter(values: Mapping[str, Any], command: Any) -> dict[str, Any]:
    """Rename options to the parameter names of the command tree."""
    commands = getattr(command, "commands", None)
    if commands is not None:
        return {key: _by_parameter(value, commands[key]) for key, value in values.items()}
    names = {_long_name(p): p.name for p in command.params if p.param_type_name == "option"}
    return {
        names[_option_name(key)]: [value] if _is_repeatable(command, key) and not isinstance(value, list) else value
        for key, value in values.items()
    }


def _is_repeatable(command: Any, key: object) -> bool:
    return any(_long_name(p) == _option_name(key) and getattr(p, "multiple", False) for p in command.params)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
        return
    for name in sorted(children):
        yield from _commands(children[name], (*path, name))


def _resolve(path: tuple[str, ...], option: str, parameter: Any, files: Sequence[Any]) -> tuple[Any, str]:
    """Return the value of an option and where it comes from."""
    declared = parameter.envvar
    variables = [declared] if isinstance(declared, str) else list(declared or ())
    if not variables:
        variables = ["_".join(("WIKIGR", *path, parameter.name or "")).upper().replace("-", "_")]
    for variable in variables:
        # Click reads the variables of the process, whatever the Environment holds.
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
