"""Find the folder of a pack from what the user typed: a folder, a database file, or the name of an installed pack."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from wikigr.errors import PackError
from wikigr.pack.layout import DATABASE, Layout, installed_packs, readable_path

# The suffix of an archive file.
ARCHIVE = ".wikigr"
# Names of installed packs: plain file names, neither hidden nor similar to an option.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def is_pack_name(text: str) -> bool:
    """Return whether ``text`` is a valid name for an installed pack."""
    return _NAME.fullmatch(text) is not None


def installed_names() -> list[str]:
    """Return the sorted names of the installed packs; raises ``OSError`` when their folder cannot be read."""
    root = installed_packs()
    return sorted(entry.name for entry in root.iterdir() if _is_installed(entry)) if root.is_dir() else []


def find_pack(location: str | Path) -> Layout:
    """Return the layout of the pack at ``location``; raises ``PackError`` when there is none.

    A name refers to a folder in the working directory if that contains a pack or an interrupted build, otherwise to an
    installed pack. For an installed pack the result is the folder of its current version, so that it stays unchanged
    when another version is installed.
    """
    path = Path(location)
    if is_pack_name(str(location)) and not _holds_pack(path) and _is_installed(installed_packs() / path):
        path = installed_packs() / path
    if path.is_file() and path.suffix == ARCHIVE:
        raise PackError(
            f"{path} is an archive, which cannot be searched directly.",
            hint=f"Install it and use it by name: wikigr pack install {path}",
        )
    if path.is_file() and path.name != DATABASE:
        raise PackError(
            f"{path} is not a pack. A pack is a folder, or the file {DATABASE} in it.",
            hint=f"Use its folder: {path.parent}"
            if Layout(path.parent).exists()
            else f"Build one: wikigr pack build {path} -o DIR",
        )
    if path.is_file():
        path = path.parent
    if path.is_symlink() and path.parent.resolve() == installed_packs().resolve():
        path = path.parent / path.readlink()
    layout = Layout(path)
    if layout.exists():
        return layout
    if layout.unfinished():
        raise PackError(
            f"There is no finished pack at {readable_path(path)}, because its build was interrupted.",
            hint=f"Run the same `wikigr pack build … -o {path}` again to resume it.",
        )
    if path.is_dir():
        raise PackError(
            f"{readable_path(path)} does not contain a pack.", hint=f"Build one: wikigr pack build SOURCE -o {path}"
        )
    near = get_close_matches(path.name, _known_names(path.parent), n=1)
    raise PackError(
        f"There is no pack {str(location)!r}: no folder and no installed pack has that name.",
        hint=f"Did you mean {path.with_name(near[0])}?" if near else f"Build one: wikigr pack build SOURCE -o {path}",
    )


def _holds_pack(path: Path) -> bool:
    return path.name == DATABASE or Layout(path).exists() or Layout(path).unfinished()


def _is_installed(entry: Path) -> bool:
    return is_pack_name(entry.name) and entry.is_dir()


def _known_names(folder: Path) -> list[str]:
    places = [folder, installed_packs()]
    found = {entry.name for place in places if place.is_dir() for entry in place.iterdir() if entry.is_dir()}
    return sorted(name for name in found if not name.startswith("."))
