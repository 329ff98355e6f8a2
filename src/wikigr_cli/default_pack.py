"""The default pack: WIKIGR_PACK, or the top-level key ``pack`` of the user's settings file.

`wikigr pack use` changes one line of that file, and everything else in it stays as it is. If that is not possible, the
file is left alone, and the error says what to write.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wikigr.errors import PackError, UsageError
from wikigr.files import write_atomic
from wikigr.pack.layout import Layout, installed_name, installed_packs
from wikigr.pack.locate import Place, find_pack, holds_pack, is_pack_name, packs_named
from wikigr_cli.options import PACK_VARIABLE, packs_of_variable
from wikigr_cli.settings import located_pack, read_user_file, user_file

# The line that names the default pack: the key, the value and a comment, any of which but the key may be missing.
_LINE = re.compile(r"^pack:[^\r\n#]*?(?P<comment>[ \t]*#[^\r\n]*)?(?P<end>[ \t]*(?:\r?\n|\Z))", re.MULTILINE)


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
        """Return the real path of the pack's folder, or ``None`` if there is no pack; the pack may be damaged.

        A name in the settings file refers to an installed pack, whatever the working directory contains.
        """
        if self.file is not None and is_pack_name(self.pack):
            path = installed_packs() / self.pack
            return os.path.realpath(path) if os.path.lexists(path) else None
        named = packs_named(self.pack)
        path = named[0].path if named else Path(self.pack)
        found = path if holds_pack(path) else self.path()
        return os.path.realpath(found) if found is not None else None


def default_packs(variables: Mapping[str, str]) -> list[DefaultPack]:
    """Return the default packs that are set, in the order of precedence."""
    value = read_user_file().get("pack")
    own = value if isinstance(value, list) else [] if value is None or isinstance(value, Mapping) else [value]
    found = [DefaultPack(pack, None) for pack in packs_of_variable(variables.get(PACK_VARIABLE)) or ()]
    return found + [DefaultPack(str(located_pack(pack)), user_file()) for pack in own]


def applying_packs(variables: Mapping[str, str]) -> list[DefaultPack]:
    """Return the default packs of the setting that applies; usually there is one."""
    packs = default_packs(variables)
    return [pack for pack in packs if pack.file == packs[0].file]


def portable_name(layout: Layout) -> str:
    """Return how the settings file names a pack: the name if it refers to this pack everywhere, else the path."""
    named = packs_named(installed_name(layout.root) or Path(os.path.realpath(layout.root)).name)
    is_named = named and named[0].place is Place.INSTALLED
    if is_named and os.path.realpath(named[0].path) == os.path.realpath(layout.root):
        return named[0].name
    return os.path.realpath(layout.root)


def write_default(pack: str) -> None:
    """Set the default pack in the user's settings file; raises ``UsageError`` if only the user can do that."""
    from wikigr.yaml_files import read_yaml

    text, has_default = _read()
    is_plain = re.fullmatch(r"[\w./-]+", pack, re.ASCII) and read_yaml(pack.encode()).values == pack
    # JSON is YAML, whatever the name contains.
    value = pack if is_plain else json.dumps(pack, ensure_ascii=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    if has_default:
        changed = _LINE.sub(lambda line: f"pack: {value}{line['comment'] or ''}{line['end']}", text, count=1)
    else:
        changed = f"{text}{newline if text and not text.endswith(newline) else ''}pack: {value}{newline}"
    _replace(text, changed, pack, f"Write this line into it: pack: {value}")


def unset_default() -> bool:
    """Remove the default pack from the user's settings file; return whether it was there.

    Raises ``UsageError`` if only the user can remove it.
    """
    text, has_default = _read()
    if has_default:
        # A comment after the value stays.
        changed = _LINE.sub(
            lambda line: line["comment"].lstrip() + line["end"] if line["comment"] else "", text, count=1
        )
        _replace(text, changed, None, "Delete the line of `pack`.")
    return has_default


def _read() -> tuple[str, bool]:
    """Return the text of the user's settings file, and whether it names a default pack."""
    values, path = read_user_file(), user_file()
    if isinstance(values.get("pack"), Mapping):
        raise UsageError(
            f"{path} contains settings of the commands `wikigr pack …` under 'pack', so it cannot name a default "
            "pack too.",
            hint=f"Write them as `pack build: …`, or set {PACK_VARIABLE} instead.",
        )
    return path.read_bytes().decode() if path.exists() else "", "pack" in values


def _replace(old: str, new: str, pack: str | None, instruction: str) -> None:
    """Replace the text of the settings file; raises ``UsageError`` if more than the default pack would change."""
    from wikigr.yaml_files import read_yaml

    path = user_file()
    kept = {key: value for key, value in (read_yaml(old.encode()).values or {}).items() if key != "pack"}
    try:
        is_safe = (read_yaml(new.encode()).values or {}) == kept | ({"pack": pack} if pack is not None else {})
    except ValueError:
        is_safe = False
    if not is_safe or len(_LINE.findall(old)) > 1:
        raise UsageError(
            f"{path} cannot be changed without the risk of losing something of yours in it.", hint=instruction
        )
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, new)
    if mode is not None:
        path.chmod(mode)
