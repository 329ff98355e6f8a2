"""The default pack: the top-level key ``pack`` of a settings file.

A settings file is the user's own, so it is changed in one line only, and everything else in it stays as it is. If that
is not possible, the file is left alone, and the error says what to write.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikigr.atomic import write_atomic
from wikigr.errors import PackError, UsageError
from wikigr.pack.layout import Layout, installed_name, installed_packs
from wikigr.pack.locate import Place, find_pack, holds_pack, is_pack_name, packs_named, project_packs
from wikigr.read_errors import describe_read_error
from wikigr.settings import DEFAULT_PACK_KEY, PROJECT_FILE, config_folder, default_packs_in, settings_files
from wikigr_cli.options import PACK_VARIABLE, packs_of_variable


@dataclass(frozen=True, slots=True)
class DefaultPack:
    """A default pack as it is set: ``pack`` is a name or a path, ``file`` the settings file, else it is a variable."""

    pack: str
    file: Path | None

    @property
    def origin(self) -> str:
        return str(self.file) if self.file is not None else f"environment ({PACK_VARIABLE})"

    def path(self) -> Path | None:
        """Return the path of the pack, or ``None`` if there is no pack."""
        try:
            root = find_pack(self.pack).root
        except PackError:
            return None
        named = packs_named(self.pack)
        return named[0].path if named else root

    def folder(self) -> str | None:
        """Return the real path of the pack's folder wherever the setting applies, or ``None`` if there is no pack.

        A name in the user's file refers to an installed pack, whatever the working directory contains, and one in a
        project's file to an installed pack or a pack of the project. The pack may be damaged.
        """
        if self.file is None or Path(self.pack).name != self.pack:
            path = self._damaged() or self.path()
            return os.path.realpath(path) if path is not None else None
        if is_pack_name(self.pack) and os.path.lexists(installed_packs() / self.pack):
            return os.path.realpath(installed_packs() / self.pack)
        project = project_packs() if self.file != user_file() else None
        if project is not None and holds_pack(project / self.pack):
            return os.path.realpath(project / self.pack)
        return None

    def _damaged(self) -> Path | None:
        """Return the folder that the setting refers to, even if only the rest of a pack is there."""
        named = packs_named(self.pack)
        path = named[0].path if named else Path(self.pack)
        return path if holds_pack(path) else None


def default_packs(variables: Mapping[str, str]) -> list[DefaultPack]:
    """Return the default packs that are set for the working directory, in the order of precedence."""
    found = [DefaultPack(pack, None) for pack in packs_of_variable(variables.get(PACK_VARIABLE, ""))]
    for file in settings_files(Path.cwd()):
        found += [DefaultPack(pack, file.path) for pack in default_packs_in(file)]
    return found


def applying_packs(variables: Mapping[str, str]) -> list[DefaultPack]:
    """Return the default packs of the setting that applies in the working directory; usually there is one."""
    packs = default_packs(variables)
    return [pack for pack in packs if pack.file == packs[0].file]


def user_file() -> Path:
    """Return the user's settings file, which may not exist yet."""
    return config_folder() / "config.yaml"


def project_file() -> Path:
    """Return the project's settings file: the nearest one, else a new one at the root of the repository or here."""
    start = Path.cwd()
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder / PROJECT_FILE
    root = next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)
    return root / PROJECT_FILE


def portable_name(layout: Layout, *, project: bool) -> str:
    """Return how the settings file of the user, or of the ``project``, names a pack.

    That is its name if the name refers to this pack wherever the file applies. Otherwise it is its absolute path, or
    its path relative to the project's file if it is in the project.
    """
    installed = installed_name(layout.root)
    named = packs_named(installed or Path(os.path.realpath(layout.root)).name)
    allowed = (Place.INSTALLED, Place.PROJECT) if project else (Place.INSTALLED,)
    if named and named[0].place in allowed and os.path.realpath(named[0].path) == os.path.realpath(layout.root):
        return named[0].name
    path, folder = Path(os.path.realpath(layout.root)), project_file().parent
    if not project or not path.is_relative_to(folder):
        return str(path)
    relative = path.relative_to(folder).as_posix()
    return relative if "/" in relative or relative == "." else f"./{relative}"


def write_default(path: Path, pack: str) -> None:
    """Set the default pack in the settings file ``path``; raises ``UsageError`` if only the user can do that."""
    text, values, node = _read(path)
    line = f"{DEFAULT_PACK_KEY}: {_scalar(pack)}"
    if isinstance(values.get(DEFAULT_PACK_KEY), Mapping):
        raise UsageError(
            f"{path} contains settings of the commands `wikigr pack …` under {DEFAULT_PACK_KEY!r}, so it cannot name a "
            "default pack too.",
            hint=f"Set {PACK_VARIABLE} instead, or use the other settings file: `wikigr pack use` and "
            "`wikigr pack use --project` write different ones.",
        )
    newline = "\r\n" if "\r\n" in text else "\n"
    if node is not None:
        start, end = node[1].start_mark.index, node[1].end_mark.index
        # A key without a value ends at its colon.
        changed = text[:start] + (" " if start == end else "") + _scalar(pack) + text[end:]
    else:
        changed = text + (newline if text and not text.endswith("\n") else "") + line + newline
    _replace(path, changed, {**values, DEFAULT_PACK_KEY: pack}, f"Write this line into it: {line}")


def unset_default(path: Path) -> bool:
    """Remove the default pack from the settings file ``path``; return whether it was there.

    Raises ``UsageError`` if only the user can remove it.
    """
    text, values, node = _read(path)
    if node is None:
        return False
    start = text.rfind("\n", 0, node[0].start_mark.index) + 1
    end = text.find("\n", node[1].end_mark.index) + 1 or len(text)
    # A comment after the value stays.
    rest = text[node[1].end_mark.index : end].lstrip(" \t")
    changed = text[:start] + (rest if rest.startswith("#") else "") + text[end:]
    expected = {key: value for key, value in values.items() if key != DEFAULT_PACK_KEY}
    _replace(path, changed, expected, f"Delete its line {node[0].start_mark.line + 1}.")
    return True


def _read(path: Path) -> tuple[str, dict[str, Any], tuple[Any, Any] | None]:
    """Return the text of a settings file, its values, and the nodes of the key and the value of the default pack."""
    from wikigr.yaml_files import read_yaml

    if not path.exists():
        return "", {}, None
    try:
        data = path.read_bytes()
        values, root = read_yaml(data)
    except OSError as error:
        raise UsageError(f"Cannot read the settings file {path}: {describe_read_error(error)}.") from error
    except ValueError as error:
        raise UsageError(f"Cannot read the settings file {path}: {error}.") from error
    text = data.decode("utf-8")
    if root is None:
        return text, {}, None
    if not isinstance(values, dict):
        raise UsageError(f"The settings file {path} must contain a mapping of commands to options.")
    pairs = [pair for pair in root.value if pair[0].value == DEFAULT_PACK_KEY]
    if len(pairs) > 1:
        lines = " and ".join(str(pair[0].start_mark.line + 1) for pair in pairs)
        raise UsageError(
            f"{path} has the key {DEFAULT_PACK_KEY!r} more than once, in the lines {lines}.",
            hint="Delete all but one of them.",
        )
    if not pairs or isinstance(values[DEFAULT_PACK_KEY], Mapping):
        return text, values, None
    value = pairs[0][1]
    if isinstance(values[DEFAULT_PACK_KEY], list) and not (
        value.flow_style and value.start_mark.line == value.end_mark.line
    ):
        raise UsageError(
            f"{path} names several default packs on several lines, so it cannot be changed safely.",
            hint=f"Write the packs on one line: {DEFAULT_PACK_KEY}: [A, B]",
        )
    return text, values, pairs[0]


def _scalar(pack: str) -> str:
    """Return ``pack`` as a YAML scalar on one line, quoted only if necessary."""
    from wikigr.yaml_files import read_yaml

    plain = all(character.isalnum() or character in "._-/" for character in pack) and pack.isascii()
    return pack if plain and read_yaml(pack.encode()).values == pack else json.dumps(pack, ensure_ascii=False)


def _replace(path: Path, text: str, expected: Mapping[str, Any], instruction: str) -> None:
    """Write ``text`` to ``path`` if it has exactly the ``expected`` values; otherwise raise ``UsageError``."""
    from wikigr.yaml_files import read_yaml

    try:
        correct = (read_yaml(text.encode()).values or {}) == expected
    except ValueError:
        correct = False
    if not correct:
        raise UsageError(
            f"{path} cannot be changed without the risk of losing something of yours in it.", hint=instruction
        )
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text)
    if mode is not None:
        path.chmod(mode)
