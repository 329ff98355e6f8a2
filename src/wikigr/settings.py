"""Where settings come from: the user's file, the nearest project file, and the folders for data and caches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from wikigr.errors import UsageError

PROJECT_FILE = "wikigr.yaml"


def cache_folder() -> Path:
    return platformdirs.user_cache_path("wikigr")


def data_folder() -> Path:
    return platformdirs.user_data_path("wikigr")


def config_folder() -> Path:
    return platformdirs.user_config_path("wikigr")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One YAML file of settings: ``{command: {option: value}}``; nested groups nest."""

    path: Path
    values: Mapping[str, Any]


def settings_files(start: Path) -> Iterator[SettingsFile]:
    """Yield the files that apply in ``start``, the strongest first: nearest project file, then the user's.

    Raises ``UsageError`` naming the file and line of a mistake.
    """
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            yield _read(folder / PROJECT_FILE)
            break
    user = config_folder() / "config.yaml"
    if user.is_file():
        yield _read(user)


def _read(path: Path) -> SettingsFile:
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"The settings file {path} cannot be read: {' '.join(str(error).split())}.") from error
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise UsageError(f"The settings file {path} must hold a mapping of commands to options.")
    return SettingsFile(path, values)


def merge(files: list[SettingsFile]) -> dict[str, Any]:
    """Merge settings, the first file winning."""
    merged: dict[str, Any] = {}
    for file in reversed(files):
        overlay(merged, file.values)
    return merged


def overlay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    """Put the values of ``above`` over those of ``below``, nested mappings key by key."""
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(key), dict):
            overlay(below[key], value)
        else:
            below[key] = dict(value) if isinstance(value, Mapping) else value
