"""Remove a pack from its folder without touching the user's files in it.

Only what wikigr wrote is removed: the files that the manifest lists, the manifest, its signature and origin, and the
working files of builds. The manifest goes first, by a rename, so that an interrupted removal leaves nothing that looks
like a pack; the same command then removes the rest. Links are neither followed nor removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wikigr.errors import BuildError, PackError, UsageError
from wikigr.files import sync
from wikigr.pack.layout import (
    INDEX_FILES,
    LEXICAL,
    MANIFEST,
    ORIGIN,
    PARTS,
    SIGNATURE,
    Layout,
    entries_below,
    listed_files,
    readable_path,
)
from wikigr.pack.manifest import EXTRAS, check_file, is_pack_file, read_manifest


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """What a removal deletes: ``files`` (relative paths) with ``size`` bytes, then ``folders`` that are empty.

    ``kept`` belongs to the user: it names what stays directly in the pack's folder, folders with a slash.
    """

    layout: Layout
    files: tuple[str, ...]
    size: int
    folders: tuple[Path, ...]
    kept: tuple[str, ...]


def plan_removal(layout: Layout) -> RemovalPlan:
    """Return what the removal of the pack, or of the rest of a half-removed one, would delete.

    Raises ``PackError`` if the folder does not contain a pack, and ``UsageError`` if it is a link.
    """
    root = layout.root
    if root.is_symlink():
        raise UsageError(
            f"{root} is a link to {os.path.realpath(root)}, so it is not removed.",
            hint="Remove the link yourself, or give the path of the folder.",
        )
    if layout.work.is_symlink():
        raise UsageError(f"{layout.work} is a link, so the pack is not removed.", hint="Remove the link yourself.")
    manifest = layout.removed_manifest if layout.half_removed() else layout.part(MANIFEST)
    listed = listed_files(manifest)
    if not listed:
        raise PackError(
            f"{readable_path(root)} is not removed: its {MANIFEST} is not the manifest of a pack.",
            hint="If you know what the folder contains, delete it yourself.",
        )
    names = {*_pack_files(layout, manifest)}
    files = sorted(name for name in names if (root / name).is_file() and not _has_link(root, root / name))
    size = sum((root / name).stat().st_size for name in files)
    # An interrupted removal may have left a folder without files.
    folders = {folder for name in names for folder in (root / name).parents if root in folder.parents}
    own = sorted((folder for folder in folders if not _has_link(root, folder)), key=lambda folder: -len(folder.parts))
    return RemovalPlan(layout, tuple(files), size, tuple(own), tuple(_kept(layout, set(files), set(own))))


def remove_pack(layout: Layout) -> RemovalPlan:
    """Remove the pack and return what was removed; its folder goes too if it is empty then.

    Raises like ``plan_removal``, ``BuildError`` while a build is running there or a folder cannot be written or
    the pack was only partly removed, and ``OSError``. After an interruption, call it again.
    """
    plan_removal(layout)
    with layout.building(replaced=()):
        plan = plan_removal(layout)
        _require_writable(plan)
        if not layout.half_removed():
            (layout.root / MANIFEST).rename(layout.removed_manifest)
            sync(layout.work)
            sync(layout.root)
        try:
            for name in plan.files:
                (layout.root / name).unlink(missing_ok=True)
            for folder in plan.folders:
                _remove_if_empty(folder)
            layout.drop_work()
            _remove_if_empty(layout.work)
        except OSError as error:
            raise BuildError(
                f"The pack is only partly removed; run the same command again. {error.strerror}: {error.filename}."
            ) from error
    # An empty folder may stay where its parent is not writable.
    with suppress(PermissionError):
        _remove_if_empty(layout.root)
    return plan


def _require_writable(plan: RemovalPlan) -> None:
    """Raise ``BuildError`` unless every folder that the removal changes is writable."""
    root = plan.layout.root
    folders = {root, plan.layout.work, *((root / name).parent for name in plan.files), *plan.folders}
    for folder in sorted(folders):
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            raise BuildError(
                f"Nothing was removed, because the folder {readable_path(folder)} is not writable.",
                hint="Make it writable, then run the same command again.",
            )


def _pack_files(layout: Layout, manifest: Path) -> Iterator[str]:
    """Yield the relative paths of the files of the pack with this ``manifest``; they may not exist."""
    listed = listed_files(manifest)
    yield MANIFEST
    yield from (name for name in (SIGNATURE, ORIGIN) if layout.is_own(name))
    yield from (name for name in listed if is_pack_file(name) and name not in EXTRAS)
    # Examples and questions, which the user may have written, unless they have been edited.
    with suppress(PackError):
        records = read_manifest(manifest).files
        yield from (name for name in EXTRAS if name in records and not check_file(layout.root / name, records[name]))
    if any(PurePosixPath(name).parts[0] == LEXICAL for name in listed):
        yield from INDEX_FILES
    for name in listed.intersection(PARTS):
        # A damaged manifest does not list files, only the parts of a build.
        yield from (_relative(layout.root, path) for path in entries_below(layout.root / name))


def _has_link(root: Path, path: Path) -> bool:
    """Return whether ``path`` is a link or in a linked folder below ``root``."""
    return any(step.is_symlink() for step in (path, *path.parents) if root in step.parents)


def _kept(layout: Layout, removed: set[str], folders: set[Path]) -> Iterator[str]:
    """Yield the entries of the pack's folder other than the pack's ``folders`` and ``removed`` files."""
    root = layout.root
    for entry in sorted(root.iterdir()):
        if entry == layout.work:
            yield from (f"{entry.name}/{name}" for name in layout.others_in_work())
        elif not entry.is_dir() or entry.is_symlink():
            yield from [entry.name] if entry.name not in removed else []
        elif entry not in folders or any(_relative(root, path) not in removed for path in entries_below(entry)):
            yield f"{entry.name}/"


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def user_files(layout: Layout) -> list[str]:
    """Return the relative paths of the files in an installed pack that the installation did not put there.

    None if the manifest is damaged, because then it does not tell which files are the pack's.
    """
    try:
        own = {*plan_removal(layout).files, *EXTRAS, SIGNATURE, ORIGIN}
    except PackError:
        return []
    found = (path for path in entries_below(layout.root) if layout.work not in path.parents)
    return sorted({_relative(layout.root, path) for path in found} - own)
