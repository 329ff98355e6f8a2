"""The user's settings file as click's default map, and the value and origin of every option.

The file has a section for each command, and options at its top level, which are defaults for every command that has
them: ``{pack: physics, search: {top-k: 5}, pack build: {jobs: 2}}``. Nothing in the working directory sets an option.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wikigr.errors import UsageError
from wikigr.files import describe_read_error
from wikigr.settings import config_folder
from wikigr.suggestions import did_you_mean, nearest
from wikigr_cli.command_class import (
    NAMED_PACK,
    CommandPath,
    GlobalOption,
    is_option,
    leaf_commands,
    long_name,
    options_of,
)
from wikigr_cli.options import PACK_VARIABLE, packs_of_variable

# A confirmation is given on the command line only.
_COMMAND_LINE_ONLY = {"yes"}
# Commands that choose among the profiles of a stored run: the profile of the top level is another thing.
_OF_A_RUN = {("eval", name) for name in ("bless", "compare", "flips", "gate")}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value for an option of the command at ``path``; if that is empty, for every command that has the option."""

    path: CommandPath
    option: str
    value: Any


def user_file() -> Path:
    """Return the user's settings file, which may not exist yet."""
    return config_folder() / "config.yaml"


def read_user_file() -> dict[str, Any]:
    """Return the content of the user's settings file, ``{}`` without one; raises ``UsageError``."""
    path = user_file()
    if not path.is_file():
        return {}
    from wikigr.yaml_files import read_yaml_file

    try:
        values = read_yaml_file(path).values
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read the settings file {path}: {describe_read_error(error)}.") from error
    if not isinstance(values or {}, dict):
        raise UsageError(f"The settings file {path} must contain a mapping of options and commands.")
    return values or {}


def default_map(root: Any, name: str) -> dict[str, Any]:
    """Return the values that the settings give the options of the command or group ``name``, as click expects them.

    Raises ``UsageError`` for an unknown command or option anywhere in the file, and suggests the nearest known one.
    """
    settings = list(_checked(read_user_file(), root, root.commands[name]))
    defaults: dict[str, Any] = {}
    for path, command in leaf_commands(root.commands[name], (name,)):
        below = defaults
        for word in path:
            below = below.setdefault(word, {})
        for option in options_of(command):
            value, origin = _find(settings, path, option)
            if isinstance(value, list) and not option.multiple:
                # Click calls it only if the command needs the value, so another command of the group still works.
                below[str(option.name)] = partial(_refuse_list, f"{origin}: {long_name(option)}", " ".join(path))
            elif option.multiple and value is not None and not isinstance(value, list):
                below[str(option.name)] = packs_of_variable(value) if option.name == "pack" else [value]
            elif value is not None:
                below[str(option.name)] = value
    return defaults


def _refuse_list(option: str, command: str) -> Any:
    raise UsageError(f"{option} must be a single value for `wikigr {command}`.")


def origin_of(context: Any, option: Any) -> str | None:
    """Return the origin and the key of the value of ``option``, or ``None`` if it is not from the settings."""
    source = context.get_parameter_source(option.name)
    if source is None or source.name != "DEFAULT_MAP":
        return None
    settings = _checked(read_user_file(), context.find_root().command, context.command)
    return f"{_find(list(settings), context.command.path, option)[1]}: {long_name(option)}"


def effective_settings(context: Any) -> list[dict[str, Any]]:
    """Return every option of every command with its value and origin, as they apply without flags.

    ``context`` is that of a running command.
    """
    root = context.find_root()
    settings = list(_checked(read_user_file(), root.command, root.command))
    rows = []
    for path, command in sorted(leaf_commands(root.command), key=lambda found: found[0]):
        below = root
        for word in path:
            below = command.context_class(command, info_name=word, parent=below)
        for option in options_of(command):
            if long_name(option) == "json" or isinstance(option, GlobalOption):
                continue
            value, origin = _find(settings, path, option)
            below.default_map = {option.name: value}
            found, source = option.consume_value(below, {})
            if source.name == "ENVIRONMENT":
                variable = f"{below.auto_envvar_prefix}_{str(option.name).upper()}"
                found, origin = os.environ[variable], f"environment ({variable})"
            rows.append({"command": " ".join(path), "option": long_name(option), "value": found, "origin": origin})
    return rows


def _find(settings: list[Setting], path: CommandPath, option: Any) -> tuple[Any, str]:
    """Return the value that WIKIGR_PACK or the settings give ``option`` of the command at ``path``, and its origin."""
    name = long_name(option)
    is_shared = path not in (NAMED_PACK if name == "pack" else _OF_A_RUN if name == "profile" else ())
    by_path = {setting.path: setting.value for setting in settings if setting.option == name}
    if name == "pack" and is_shared and os.environ.get(PACK_VARIABLE):
        return os.environ[PACK_VARIABLE], f"environment ({PACK_VARIABLE})"
    own = path if path in by_path else ()
    if own not in by_path or not (own or is_shared):
        return None, "default"
    value = located_pack(by_path[own]) if name == "pack" else by_path[own]
    return value, str(user_file()) if own else f"{user_file()} (top level)"


def located_pack(pack: Any) -> Any:
    """Return a pack, or a list of packs, of the settings file: a path is relative to the folder of the file."""
    if isinstance(pack, list):
        return [located_pack(item) for item in pack]
    is_path = isinstance(pack, str) and ("/" in pack or pack in (".", ".."))
    return str(user_file().parent / Path(pack).expanduser()) if is_path else pack


def _checked(values: Mapping[Any, Any], root: Any, running: Any) -> Iterator[Setting]:
    """Yield the settings of a file; raise ``UsageError`` for what does not fit the command tree.

    ``running`` is loaded already, so it is asked first whether it has an option.
    """
    for key, value in values.items():
        words = str(key).split() or [str(key)]
        name = _option_name(key)
        is_value = not isinstance(value, Mapping) and name not in _COMMAND_LINE_ONLY
        if is_value and (is_option(running, name) or is_option(root, name)):
            if value is not None:
                yield Setting((), name, value)
        elif words[0] in root.commands:
            yield from _section(value, root, words, ())
        else:
            options = {long_name(option) for _, command in leaf_commands(root) for option in options_of(command)}
            raise _unknown("the top level", key, [*root.commands, *sorted(options - _COMMAND_LINE_ONLY)])


def _section(values: Any, command: Any, words: list[str], path: CommandPath) -> Iterator[Setting]:
    """Yield the settings of the section ``words`` of ``command``, which is at ``path``."""
    for word in words:
        commands = getattr(command, "commands", {})
        if word not in commands:
            raise _unknown(" ".join(path) or "the top level", word, list(commands))
        command, path = commands[word], (*path, word)
    if values is None:
        return
    section = " ".join(path)
    if not isinstance(values, Mapping):
        raise UsageError(f"{user_file()}: {section} must be a mapping, not {values!r}.")
    options = {long_name(option): option for option in options_of(command) if long_name(option) != "yes"}
    for key, value in values.items():
        if hasattr(command, "commands"):
            yield from _section(value, command, [str(key)], path)
            continue
        name = _option_name(key)
        if name not in options:
            raise _unknown(section, key, sorted(options))
        items = value if isinstance(value, list) and options[name].multiple else [value]
        if any(isinstance(item, Mapping | list) for item in items):
            kind = "a value or a list of values" if options[name].multiple else "a single value"
            raise UsageError(f"{user_file()}: {section} {key} must be {kind}.")
        yield Setting(path, name, value)


def _option_name(key: object) -> str:
    return str(key).replace("_", "-")


def _unknown(section: str, key: object, known: list[str]) -> UsageError:
    hint = did_you_mean(nearest(str(key), known))
    return UsageError(f"{user_file()}: {section} has no command or option {key!r}.", hint=hint)
