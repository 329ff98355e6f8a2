"""The packs that a user can give by name or find in a folder, each with its manifest or with why it cannot be used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wikigr.errors import PackError
from wikigr.graph.engine import check_storage_version
from wikigr.pack.layout import DATABASE, MANIFEST, Layout, installed_packs
from wikigr.pack.locate import find_pack, holds_pack, named_packs, packs_named
from wikigr.pack.manifest import Manifest, file_path, read_manifest


@dataclass(frozen=True, slots=True)
class ListedPack:
    """A pack in a list.

    ``given_as`` is what every command accepts for it: its name, or its path if the name refers to another pack.
    ``installed_as`` is the name of an installed pack, else ``None``. ``size`` is in bytes. If the pack cannot be used,
    ``problem`` says why; otherwise it is empty. ``manifest`` is ``None`` if it cannot be read.
    """

    given_as: str
    path: Path
    installed_as: str | None
    manifest: Manifest | None
    size: int
    problem: str


def list_packs(folder: Path | None = None) -> list[ListedPack]:
    """Return the packs directly in ``folder``; by default all packs that have a name, and the working directory's.

    They are in the order of precedence of their names. Raises ``OSError`` when a folder cannot be read.
    """
    if folder is not None:
        paths = [entry for entry in sorted(folder.iterdir(), key=lambda entry: entry.name) if holds_pack(entry)]
        if folder.resolve() == installed_packs().resolve():
            paths += _broken_links()
    else:
        paths = [Path()] if holds_pack(Path()) else []
        paths += [pack.path for pack in named_packs() if not paths or not pack.path.samefile(paths[0])]
        paths += _broken_links()
    return [list_pack(path) for path in paths]


def _broken_links() -> Iterator[Path]:
    """Yield the names of installed packs whose version is missing."""
    root = installed_packs()
    for entry in sorted(root.iterdir()) if root.is_dir() else []:
        if entry.is_symlink() and not entry.exists() and not entry.name.startswith("."):
            yield entry


def list_pack(path: Path, *, given_as: str | None = None) -> ListedPack:
    """Return the pack at ``path`` as it is listed; ``given_as`` replaces the name or the path."""
    named = packs_named(path.name)
    is_named = bool(named) and os.path.realpath(named[0].path) == os.path.realpath(path)
    given_as = given_as or (path.name if is_named else str(path))
    installed_as = path.name if path.parent.resolve() == installed_packs().resolve() else None
    try:
        layout = find_pack(path)
        manifest = read_manifest(layout.part(MANIFEST))
    except PackError as error:
        missing = path.is_symlink() and not path.exists()
        problem = "The installed version that this name links to is missing." if missing else error.message
        return ListedPack(given_as, path, installed_as, None, 0, problem)
    size, problem = _measure(layout, manifest)
    try:
        check_storage_version(layout.part(DATABASE))
    except PackError as error:
        problem = problem or error.message
    return ListedPack(given_as, path, installed_as, manifest, size, problem)


def _measure(layout: Layout, manifest: Manifest) -> tuple[int, str]:
    """Return the bytes that the pack occupies, and which of its files is missing or incomplete."""
    size, problem = layout.part(MANIFEST).stat().st_size, ""
    for name, record in manifest.files.items():
        path = file_path(layout, name)
        found = path.stat().st_size if path.is_file() else None
        size += found or 0
        if found != record.size and not problem:
            state = "is missing" if found is None else f"has {found:,} bytes instead of {record.size:,}"
            problem = f"The pack is damaged: {name} {state}."
    return size, problem
