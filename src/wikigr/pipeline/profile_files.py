"""Read profiles from YAML files: find them, resolve `extends`, and report mistakes with file, line and key.

The default profile needs neither YAML nor the schema, so these are imported when a file is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from wikigr.errors import UsageError
from wikigr.files import describe_read_error
from wikigr.pipeline.profile import SUFFIXES, Profile, is_users_own, profile_folders, profile_names
from wikigr.reader.passage import BASE, SMALL, ReaderOptions
from wikigr.suggestions import did_you_mean, nearest

DEFAULT_PROFILE = "enhanced"
_EXTENDS = "extends"
# What the short forms of the section ``reader`` stand for. The reader ``base`` chooses among more sections.
_READERS: Mapping[str, Mapping[str, Any]] = {
    "auto": {"enabled": True},
    "small": {"enabled": True, "use": SMALL},
    "base": {"enabled": True, "use": BASE, "sections": 8},
    "off": {"enabled": False},
}


def load_profile(name: str = DEFAULT_PROFILE) -> Profile:
    """Return the profile ``name``: a YAML file, a profile in the user's folder, or one that ships with wikigr.

    Raises ``UsageError``, which names the file, line and key, or suggests the nearest name.
    """
    if name == DEFAULT_PROFILE and not is_users_own(name):
        # The shipped file holds the defaults of the schema (a test compares them), so a question does not load YAML.
        return Profile()
    values: dict[str, Any] = {}
    files = list(_chain(_find(name, None)))
    for file in reversed(files):
        _overlay(values, {key: value for key, value in file.values.items() if key != _EXTENDS})
    values["name"] = files[0].path.stem
    profile = _convert(values, files[0])
    _check_sections(profile, files)
    return profile


def _overlay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    """Update ``below`` in place with the values of ``above``, merging nested mappings key by key."""
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(key), dict):
            _overlay(below[key], value)
        else:
            below[key] = dict(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True)
class _File:
    """A parsed profile; ``lines`` maps the path of every key to its line (from 1)."""

    path: Path
    values: Mapping[str, Any]
    lines: Mapping[tuple[str, ...], int]

    def place(self, key: tuple[str, ...]) -> str:
        while key and key not in self.lines:
            key = key[:-1]
        return f"{self.path}:{self.lines.get(key, 1)}"


def _find(name: str, child: _File | None) -> Path:
    """Return the file of the profile ``name``; a path is relative to the folder of ``child``, which extends it."""
    there_is = f"{child.place((_EXTENDS,))}: {_EXTENDS}: there is" if child else "There is"
    if name.endswith(SUFFIXES) or "/" in name:
        path = (child.path.parent if child else Path()) / name
        if path.is_file():
            return path
        raise UsageError(f"{there_is} no profile file {path}.")
    for folder in profile_folders():
        for ending in SUFFIXES:
            path = folder / f"{name}{ending}"
            # If a user's `enhanced` extends `enhanced`, it means the one that ships with wikigr.
            if path.is_file() and (child is None or path != child.path):
                return path
    hint = did_you_mean(nearest(name, profile_names()), "`wikigr profile list` shows those that exist.")
    raise UsageError(f"{there_is} no profile {name!r}.", hint=hint)


def _chain(path: Path) -> Iterator[_File]:
    """Yield the profile at ``path``, then those that it extends."""
    seen: list[Path] = []
    while True:
        seen.append(path.resolve())
        file = _read(path)
        yield file
        parent = file.values.get(_EXTENDS)
        if parent is None:
            return
        following = _find(parent, file)
        if following.resolve() in seen:
            raise UsageError(
                f"{file.place((_EXTENDS,))}: the profiles extend each other in a circle: "
                f"{' → '.join(p.stem for p in (*seen, following))}."
            )
        path = following


def _read(path: Path) -> _File:
    from wikigr.yaml_files import read_yaml_file

    try:
        values, root = read_yaml_file(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"The profile {path} cannot be read: {describe_read_error(error)}.") from error
    values = {} if root is None else values
    if not isinstance(values, dict):
        raise UsageError(f"{path}:1: a profile is a mapping of keys to values, not {type(values).__name__}.")
    file = _File(path, values, dict(_lines(root, (), path)))
    if ReaderOptions.section in values:
        values[ReaderOptions.section] = _reader_section(values[ReaderOptions.section], file)
    parent = values.get(_EXTENDS)
    if parent is not None and not isinstance(parent, str):
        raise UsageError(f"{file.place((_EXTENDS,))}: {_EXTENDS} must name one profile, not {parent!r}.")
    from wikigr.pipeline.profile_schema import ProfileValues

    _check_keys(values, ProfileValues, file, ())
    _convert({key: value for key, value in values.items() if key != _EXTENDS}, file)
    return file


def _reader_section(value: Any, file: _File) -> Any:
    """Return the section that the short form ``reader: off`` stands for, or any other value unchanged."""
    # YAML reads ``off`` as false, and ``on`` as true.
    if isinstance(value, bool):
        return {"enabled": value}
    if not isinstance(value, str):
        return value
    section = ReaderOptions.section
    if value not in _READERS:
        raise UsageError(
            f"{file.place((section,))}: {section} is {value!r}: input should be 'auto', 'small', 'base' or 'off'."
        )
    return dict(_READERS[value])


def _lines(node: Any, at: tuple[str, ...], path: Path) -> Iterator[tuple[tuple[str, ...], int]]:
    if getattr(node, "id", "") != "mapping":
        return
    seen: set[str] = set()
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in seen:
            raise UsageError(f"{path}:{line}: {'.'.join((*at, name))} is given twice.")
        seen.add(name)
        yield (*at, name), line
        yield from _lines(value, (*at, name), path)


def _check_keys(values: Mapping[Any, Any], kind: Any, file: _File, at: tuple[str, ...]) -> None:
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind)]
    if not at:
        # The name of a profile is that of its file.
        known = [_EXTENDS, *known[1:]]
    for key, value in values.items():
        where = (*at, str(key))
        if key not in known:
            near = [".".join((*at, name)) for name in nearest(str(key), known)]
            raise UsageError(
                f"{file.place(where)}: there is no key {'.'.join(where)!r}.",
                hint=did_you_mean(near, f"Valid keys: {', '.join(known)}."),
            )
        inner = hints.get(key)
        if is_dataclass(inner):
            if not isinstance(value, Mapping):
                raise UsageError(f"{file.place(where)}: {key} must be a mapping, not {value!r}.")
            _check_keys(value, inner, file, where)


def _convert(values: Mapping[str, Any], file: _File) -> Profile:
    import pydantic

    from wikigr.pipeline.profile_schema import validate_profile

    try:
        return validate_profile(values)
    except pydantic.ValidationError as error:
        raise _as_profile_error(error, values, file) from error


def _as_profile_error(error: Any, values: Mapping[str, Any], file: _File) -> UsageError:
    """Return the first mistake with its line; a key that allows two types fails once for each of them."""
    problems = error.errors(include_url=False)
    key = _path_of(problems[0]["loc"], values)
    reasons = dict.fromkeys(p["msg"].lower() for p in problems if _path_of(p["loc"], values) == key)
    wrong = problems[0]["input"]
    return UsageError(f"{file.place(key)}: {'.'.join(key)} is {wrong!r}: {', or '.join(reasons)}.")


def _path_of(location: tuple[Any, ...], values: Mapping[str, Any]) -> tuple[str, ...]:
    path: list[str] = []
    here: Any = values
    for part in location:
        if not isinstance(here, Mapping) or part not in here:
            break
        path.append(str(part))
        here = here[part]
    return tuple(path)


def _check_sections(profile: Profile, files: list[_File]) -> None:
    for options in profile.sections.values():
        problem = options.problem()
        if problem is None:
            continue
        names, reason = problem
        keys = [(options.section, name) for name in names]
        place = next((file.place(key) for file in files for key in keys if key in file.lines), files[0].place(()))
        raise UsageError(f"{place}: {options.section}.{' and '.join(names)} {reason}.")
