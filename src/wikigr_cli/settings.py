"""Settings files as defaults for the command tree, and the value and origin of every option.

A file has a section for each command, and options at its top level, which are defaults for every command that has them:
``{pack: physics, search: {top-k: 5}, pack build: {jobs: 2}}``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from wikigr.errors import UsageError
from wikigr.pipeline.profile import SUFFIXES
from wikigr.settings import SettingsFile, config_folder, packs_of, settings_files
from wikigr.suggestions import did_you_mean, nearest
from wikigr_cli.command_class import GlobalOption, is_option, leaf_commands, long_name, options_of

# Options of the command line alone, which a settings file cannot set: nobody else's file answers a confirmation.
_COMMAND_LINE_ONLY = {"yes"}
# What a project's file may set, since a stranger may have written it: what is asked, shown and measured. Nothing that
# writes a file, reaches a network, opens a port, costs money, or weakens a check.
_HARMLESS = frozenset(
    """
    alpha attribution beta damping description direction exact explain fail-on fields format fusion fuzzy iterations
    jobs json license limit margin max-entities max-errors max-hops max-iter max-iterations max-relations max-sentences
    method min mode offline pack primary profile quiet refuse-leaks seed semantic source-format split strict tol top-k
    verbose
    """.split()
)
# Commands that a default for all commands does not reach: they need a name, or choose among the profiles of a run.
_UNSHARED = {"pack": ("pack remove", "pack use"), "profile": ("eval bless", "eval compare", "eval flips", "eval gate")}

CommandPath = tuple[str, ...]


@dataclass(slots=True)
class _File:
    """A checked settings file: the options at its top level (``shared``), and those of each command, by name."""

    path: Path
    is_project: bool = False
    shared: dict[str, Any] = field(default_factory=dict)
    commands: dict[CommandPath, dict[str, Any]] = field(default_factory=dict)

    def find(self, path: CommandPath, option: str) -> tuple[Any, str] | None:
        """Return the value of an option of the command at ``path`` and its origin, or ``None`` if there is none."""
        own = self.commands.get(path, {})
        if option in own:
            value, origin = own[option], str(self.path)
        elif option in self.shared and " ".join(path) not in _UNSHARED.get(option, ()):
            value, origin = self.shared[option], f"{self.path} (top level)"
        else:
            return None
        return packs_of(value, self.path) if option == "pack" else value, origin


def read_defaults(folder: Path, root: Any, command: str | None, note: Callable[[str], None]) -> dict[str, Any]:
    """Return the values of the settings files that apply in ``folder``, as a click default map for ``root``.

    ``note`` receives what the user should know about files that were ignored.

    The map holds ``command`` only, so that no other command is loaded unless a file sets an option that this one lacks.
    The files name options as on the command line (``top-k``). Raises ``UsageError`` for an unknown command or option
    and suggests the nearest known one.
    """
    files = [_checked(file, root, command) for file in settings_files(folder, note)]
    if not files or command is None or command not in root.commands:
        return {}
    defaults: dict[str, Any] = {}
    for path, leaf in leaf_commands(root.commands[command], (command,)):
        below = defaults
        for step in path:
            below = below.setdefault(step, {})
        for option in options_of(leaf):
            found = _first(files, path, long_name(option))
            if found is not None:
                below[str(option.name)] = _as_given(option, path, *found)
    return defaults


def place_of(folder: Path, root: Any, path: CommandPath, option: Any) -> str:
    """Return the file and the key that set ``option`` of the command at ``path``; the file must have it."""
    name = long_name(option)
    for file in (_checked(found, root, path[0]) for found in settings_files(folder)):
        if file.find(path, name) is not None:
            is_own = name in file.commands.get(path, {})
            return f"{file.path}: {' '.join((*path, name)) if is_own else name}"
    return name


def effective_settings(folder: Path, root: Any) -> list[dict[str, Any]]:
    """Return every option of every command with its value and origin, as they apply without flags in ``folder``."""
    files = [_checked(file, root) for file in settings_files(folder)]
    rows = []
    for path, command in sorted(leaf_commands(root), key=lambda found: found[0]):
        for option in options_of(command):
            name = long_name(option)
            if name == "json" or isinstance(option, GlobalOption):
                continue
            value, origin = _resolve(path, name, option, files)
            rows.append({"command": " ".join(path), "option": name, "value": value, "origin": origin})
    return rows


def _checked(file: SettingsFile, root: Any, running: str | None = None) -> _File:
    """Return a settings file by command; raise ``UsageError`` unless it fits the command tree.

    ``running`` is the command that is loaded already and asked first whether it has an option.
    """
    checked = _File(file.path, file.is_project)
    for key, value in file.values.items():
        name = _option_name(key)
        if isinstance(value, Mapping):
            _read_section(checked, value, root, _path_of(checked, key, root))
        elif value is not None and _is_shared(root, name, running):
            _check_project(checked, name, value)
            checked.shared[name] = value
        elif str(key).split()[:1] and str(key).split()[0] in root.commands:
            if value is not None:
                raise UsageError(f"{file.path}: {key} must be a mapping, not {value!r}.")
        elif not _is_shared(root, name, running):
            known = {long_name(option) for _, command in leaf_commands(root) for option in options_of(command)}
            raise _unknown(checked, "the top level", key, [*root.commands, *sorted(known - _COMMAND_LINE_ONLY)])
    return checked


def _is_shared(root: Any, name: str, running: str | None) -> bool:
    first = root.commands.get(running, root)
    return name not in _COMMAND_LINE_ONLY and (is_option(first, name) or is_option(root, name))


def _path_of(file: _File, key: object, root: Any) -> CommandPath:
    """Return the path of a section of the top level: ``pack`` or, in short, ``pack build``."""
    command = root
    path: CommandPath = ()
    for word in str(key).split() or [str(key)]:
        commands = getattr(command, "commands", {})
        if word not in commands:
            raise _unknown(file, " ".join(path) or "the top level", word if path else key, list(commands))
        command, path = commands[word], (*path, word)
    return path


def _read_section(file: _File, values: Any, root: Any, path: CommandPath) -> None:
    command = root
    for word in path:
        command = command.commands[word]
    section = " ".join(path)
    if values is None:
        return
    if not isinstance(values, Mapping):
        raise UsageError(f"{file.path}: {section} must be a mapping, not {values!r}.")
    commands = getattr(command, "commands", None)
    if commands is not None:
        for key, value in values.items():
            if key not in commands:
                raise _unknown(file, section, key, list(commands))
            _read_section(file, value, root, (*path, str(key)))
        return
    options = {long_name(option): option for option in options_of(command)}
    own = file.commands.setdefault(path, {})
    for key, value in values.items():
        name = _option_name(key)
        if name not in options or name in _COMMAND_LINE_ONLY:
            raise _unknown(file, section, key, sorted(options.keys() - _COMMAND_LINE_ONLY))
        is_list = isinstance(value, list) and options[name].multiple
        values_of = value if is_list else [value]
        if any(isinstance(item, Mapping | list) for item in values_of):
            kind = "a value or a list of values" if options[name].multiple else "a single value"
            raise UsageError(f"{file.path}: {section} {key} must be {kind}.")
        _check_project(file, name, value)
        own[name] = value


def _check_project(file: _File, name: str, value: Any) -> None:
    """Raise ``UsageError`` if ``file`` is a project's and only the user may give an option this ``value``."""
    if not file.is_project:
        return
    profiles = value if isinstance(value, list) else [value]
    is_path = name == "profile" and any("/" in str(profile) or str(profile).endswith(SUFFIXES) for profile in profiles)
    if name not in _HARMLESS or is_path:
        what = "the path of a profile" if is_path else f"{name!r}"
        raise UsageError(
            f"{file.path}: the settings file of a project cannot set {what}.",
            hint=f"Give --{name} on the command line, or set it in {config_folder() / 'config.yaml'}.",
        )


def _unknown(file: _File, section: str, key: object, known: Sequence[str]) -> UsageError:
    hint = did_you_mean(nearest(str(key), known))
    return UsageError(f"{file.path}: {section} has no command or option {key!r}.", hint=hint)


def _option_name(key: object) -> str:
    return str(key).replace("_", "-")


def _as_given(option: Any, path: CommandPath, value: Any, origin: str) -> Any:
    """Return a value of a settings file as click expects it: a list for an option that can be repeated."""
    if option.multiple:
        return value if isinstance(value, list) else [value]
    if isinstance(value, list):
        # Click calls it only if the command needs the value, so another command of the group still works.
        return partial(_refuse_list, f"{origin}: {long_name(option)} must be a single value for", " ".join(path))
    return value


def _refuse_list(problem: str, command: str) -> Any:
    raise UsageError(f"{problem} `wikigr {command}`.")


def _first(files: Sequence[_File], path: CommandPath, option: str) -> tuple[Any, str] | None:
    """Return the value of an option that applies, and its origin: the first, but ``offline: true`` always wins."""
    found = [value for file in files if (value := file.find(path, option)) is not None]
    if option == "offline":
        found.sort(key=lambda value: value[0] is not True)
    return found[0] if found else None


def _resolve(path: CommandPath, name: str, option: Any, files: Sequence[_File]) -> tuple[Any, str]:
    """Return the value of an option and where it comes from."""
    for variable in option.envvar or ():
        # Click reads the variables of the process, whatever the Environment holds.
        if os.environ.get(variable):
            return os.environ[variable], f"environment ({variable})"
    found = _first(files, path, name)
    if found is not None:
        return found
    return (None if callable(option.default) else option.default), "default"
