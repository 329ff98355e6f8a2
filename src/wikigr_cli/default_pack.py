"""The default pack: WIKIGR_PACK, or the top-level key ``pack`` of the user's settings file.

`wikigr pack use` replaces that line of the file and keeps the others. If that is not possible, the file is left alone,
and the error says what to write.
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

    is_plain = re.fullmatch(r"[\w./-]+", pack, re.ASCII) and read_yaml(pack.encode()).values == pack
    # JSON is YAML, whatever the name contains.
    line = f"pack: {pack if is_plain else json.dumps(pack, ensure_ascii=False)}"
    _replace_line(f"{line}\n", {"pack": pack}, f"Write this line into it: {line}")


def unset_default() -> bool:
    """Remove the default pack from the user's settings file; return whether it was there.

    Raises ``UsageError`` if only the user can remove it.
    """
    if "pack" not in read_user_file():
        return False
    _replace_line("", {}, "Delete the line of `pack`.")
    return True


def _replace_line(line: str, setting: Mapping[str, str], instruction: str) -> None:
    """Replace the line of the default pack, and nothing else; raises ``UsageError`` if that cannot be done safely."""
    from wikigr.yaml_files import read_yaml

    values, path = read_user_file(), user_file()
    if isinstance(values.get("pack"), Mapping):
        raise UsageError(
            f"{path} contains settings of the commands `wikigr pack …` under 'pack', so it cannot name a default "
            "pack too.",
            hint=f"Write them as `pack build: …`, or set {PACK_VARIABLE} instead.",
        )
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    kept = [text for text in lines if not text.startswith("pack:")]
    new = "".join(f"{text}\n" for text in kept) + line
    wanted = {key: value for key, value in values.items() if key != "pack"} | dict(setting)
    try:
        is_safe = (read_yaml(new.encode()).values or {}) == wanted
    except ValueError:
        is_safe = False
    if not is_safe:
        raise UsageError(
            f"{path} cannot be changed without the risk of losing something of yours in it.", hint=instruction
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, new)
