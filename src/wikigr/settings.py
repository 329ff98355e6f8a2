"""Settings files (the user's and the nearest project's) and the folders for configuration, data, caches and state."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from wikigr.errors import UsageError
from wikigr.read_errors import describe_read_error

PROJECT_FILE = "wikigr.yaml"
# The key of a settings file whose value, if it is text, names the default pack of every command.
DEFAULT_PACK_KEY = "pack"


def cache_folder() -> Path:
    """Return the user's cache folder for wikigr, which may not exist yet (``XDG_CACHE_HOME``)."""
    return platformdirs.user_cache_path("wikigr")


def data_folder() -> Path:
    """Return the user's data folder for wikigr, which may not exist yet (``XDG_DATA_HOME``)."""
    return platformdirs.user_data_path("wikigr")


def config_folder() -> Path:
    """Return the user's configuration folder for wikigr, which may not exist yet (``XDG_CONFIG_HOME``)."""
    return platformdirs.user_config_path("wikigr")


def state_folder() -> Path:
    """Return the user's state folder for wikigr, which may not exist yet (``XDG_STATE_HOME``)."""
    return platformdirs.user_state_path("wikigr")


def is_first_time(name: str) -> bool:
    """Return whether ``name`` was never asked about before, and remember it in the state folder.

    If the folder cannot be written, every time is the first.
    """
    marker = state_folder() / "shown" / name
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A YAML settings file: options, and ``{command: {option: value}}`` with nested mappings for command groups.

    ``is_project`` marks the file of a project, which may be a stranger's.
    """

    path: Path
    values: Mapping[str, Any]
    is_project: bool = False


def default_packs_in(file: SettingsFile) -> list[str]:
    """Return the default packs that a settings file names; a mapping under the same key has the options of a group."""
    value = file.values.get(DEFAULT_PACK_KEY)
    if value is None or isinstance(value, Mapping):
        return []
    return [str(pack) for pack in packs_of(value if isinstance(value, list) else [value], file.path)]


def packs_of(value: Any, file: Path) -> Any:
    """Return a pack, or a list of packs, of the settings file ``file`` as the working directory refers to it.

    A path is relative to the file's folder, and ``~`` is the home folder. Text without a slash is a name.
    """
    if isinstance(value, list):
        return [packs_of(pack, file) for pack in value]
    if not isinstance(value, str) or ("/" not in value and value not in (".", "..")):
        return value
    if value.startswith("~/"):
        return str(Path(value).expanduser())
    return value if file.parent == Path.cwd() else str(file.parent / value)


def settings_files(start: Path, note: Callable[[str], None] = lambda text: None) -> Iterator[SettingsFile]:
    """Yield the settings files that apply in the folder ``start``: the nearest project's, then the user's.

    The first file has precedence. The file of a project that belongs to another user is ignored, with a ``note``.
    Raises ``UsageError``, which names the file and the line of a mistake.
    """
    project = next(
        (folder / PROJECT_FILE for folder in (start, *start.parents) if (folder / PROJECT_FILE).is_file()), None
    )
    if project is not None and not _is_ours(project):
        note(f"wikigr: {project} belongs to another user, so it is ignored.")
    elif project is not None:
        yield _read(project, is_project=True)
    user = config_folder() / "config.yaml"
    if user.is_file():
        yield _read(user)


def _is_ours(path: Path) -> bool:
    """Return whether a file belongs to this user or to the system; where files have no owners, all do."""
    return not hasattr(os, "getuid") or path.stat().st_uid in (os.getuid(), 0)


def _read(path: Path, *, is_project: bool = False) -> SettingsFile:
    from wikigr.yaml_files import read_yaml

    try:
        values = read_yaml(path.read_bytes()).values
    except OSError as error:
        raise UsageError(f"Cannot read the settings file {path}: {describe_read_error(error)}.") from error
    except ValueError as error:
        raise UsageError(f"Cannot read the settings file {path}: {error}.") from error
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise UsageError(f"The settings file {path} must contain a mapping of options and commands.")
    return SettingsFile(path, values, is_project)


def overlay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    """Update ``below`` in place with the values of ``above``, merging nested mappings key by key."""
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(key), dict):
            overlay(below[key], value)
        else:
            below[key] = dict(value) if isinstance(value, Mapping) else value
