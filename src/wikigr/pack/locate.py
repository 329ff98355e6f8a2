"""Find a pack from what the user typed (a folder, a database file, or a name), and list all that can be named.

This is the only place that decides which pack a name refers to. In this order, a name refers to

1. the folder of that name in the working directory, if it contains a pack;
2. the installed pack of that name;
3. the folder of that name in the project's ``packs`` folder, if it contains a pack.

The project's ``packs`` folder is the nearest one in the working directory or its parents, up to the project's root (a
folder with ``.git``) or the home folder. Outside of both, only the working directory is searched.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from wikigr.errors import PackError
from wikigr.graph.engine import check_storage_version
from wikigr.pack.layout import DATABASE, MANIFEST, Layout, installed_packs, readable_path
from wikigr.pack.manifest import Manifest, file_path, read_manifest
from wikigr.suggestions import did_you_mean, nearest

# The suffix of an archive file.
ARCHIVE = ".wikigr"
# The folder of a project that contains its packs.
PACKS = "packs"
# The file in the folder of a pack that says how to make it.
RECIPE = "recipe.yaml"


class Place(StrEnum):
    """Where a named pack is, in the order of precedence."""

    FOLDER = "folder"
    INSTALLED = "installed"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class NamedPack:
    """A pack that ``name`` refers to, unless a pack at a preceding place has the same name."""

    name: str
    path: Path
    place: Place


def is_pack_name(text: str) -> bool:
    """Return whether an installed pack may have the name ``text``, neither hidden nor similar to an option."""
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", text) is not None


def installed_names() -> list[str]:
    """Return the sorted names of the installed packs; raises ``OSError`` when their folder cannot be read."""
    root = installed_packs()
    return sorted(entry.name for entry in root.iterdir() if _is_installed(entry)) if root.is_dir() else []


def project_packs() -> Path | None:
    """Return the project's ``packs`` folder relative to the working directory, or ``None`` if there is none."""
    start, home = Path.cwd(), Path("~").expanduser().resolve()
    chain = [start, *start.parents]
    ends = (number for number, folder in enumerate(chain, 1) if folder == home or (folder / ".git").exists())
    found = (folder / PACKS for folder in chain[: next(ends, 1)] if (folder / PACKS).is_dir())
    return next((Path(os.path.relpath(folder, start)) for folder in found), None)


def named_packs() -> list[NamedPack]:
    """Return every pack that has a name, by place and name, each folder once; raises ``OSError``.

    An unfinished build or removal counts as a pack, so that it can be reported.
    """
    found = []
    for place, folder in _places():
        if folder.is_dir():
            entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
            found += [NamedPack(entry.name, entry, place) for entry in entries if _is_pack(entry, place)]
    return _without_repeats(found)


def packs_named(name: str) -> list[NamedPack]:
    """Return the packs that ``name`` may refer to; it refers to the first one."""
    if name in ("", ".", "..", DATABASE) or Path(name).name != name:
        return []
    found = [NamedPack(name, folder / name, place) for place, folder in _places() if _is_pack(folder / name, place)]
    return _without_repeats(found)


def find_pack(location: str | Path) -> Layout:
    """Return the layout of the pack at ``location``; raises ``PackError`` when there is none.

    The module describes what a name refers to. For an installed pack the result is the folder of its current version,
    so that it stays unchanged when another version is installed.
    """
    path = Path(location)
    named = packs_named(str(location))
    if named:
        path = named[0].path
    elif not os.path.lexists(path) and path.name == str(location):
        # The project's folder of that name, which contains no pack yet.
        unbuilt = (project_packs() or Path()) / path
        path = unbuilt if unbuilt.is_dir() else path
    if path.is_file():
        if path.suffix == ARCHIVE:
            raise PackError(
                f"{path} is an archive, which cannot be searched directly.",
                hint=f"Install it and use it by name: wikigr pack install {path}",
            )
        if path.name != DATABASE:
            raise PackError(
                f"{path} is not a pack. A pack is a folder, or the file {DATABASE} in it.",
                hint=f"Use its folder: {path.parent}"
                if Layout(path.parent).exists()
                else f"Build one: {_build_command(path)}",
            )
        path = path.parent
    if path.is_symlink() and path.parent.resolve() == installed_packs().resolve():
        path = path.parent / path.readlink()
    layout = Layout(path)
    if layout.exists():
        return layout
    if layout.half_removed():
        raise PackError(
            f"The pack at {readable_path(path)} is gone: its removal was interrupted.",
            hint=f"Remove the rest of it: wikigr pack remove {path}",
        )
    if layout.is_building():
        raise PackError(f"The pack at {readable_path(path)} is being built.", hint="Wait until the build has finished.")
    if layout.unfinished():
        raise PackError(
            f"There is no finished pack at {readable_path(path)}, because its build was interrupted.",
            hint=f"Run the same `wikigr pack build … -o {path}` again; finished vectors are kept.",
        )
    if path.is_dir():
        recipe = path / RECIPE
        build = f"wikigr pack make {recipe} -o {path}" if recipe.is_file() else _build_command(path)
        raise PackError(f"{readable_path(path)} does not contain a pack.", hint=f"Build one: {build}")
    known = "no folder, installed pack or pack of this project has that name"
    raise PackError(
        f"There is no pack {str(location)!r}: {known if path.name == str(location) else 'that path does not exist'}.",
        hint=did_you_mean(
            _nearest(str(location)),
            f"`wikigr pack list` lists the packs. Build one: wikigr pack build SOURCE -o {path}",
            shown=str,
        ),
    )


def _build_command(path: Path) -> str:
    """Return the command for the pack that somebody expected at ``path``: most likely they named its documents."""
    own, project = path.resolve(), project_packs()
    if Path.cwd().is_relative_to(own) or (project is not None and own.is_relative_to(project.resolve())):
        return f"wikigr pack build SOURCE -o {path}"
    return f"wikigr pack build {shlex.quote(str(path))} -o {shlex.quote(f'{PACKS}/{own.stem}')}"


def _places() -> Iterator[tuple[Place, Path]]:
    yield Place.FOLDER, Path()
    yield Place.INSTALLED, installed_packs()
    project = project_packs()
    if project is not None:
        yield Place.PROJECT, project


def _is_pack(path: Path, place: Place) -> bool:
    return _is_installed(path) if place is Place.INSTALLED else holds_pack(path)


def _is_installed(entry: Path) -> bool:
    return is_pack_name(entry.name) and entry.is_dir()


def holds_pack(folder: Path) -> bool:
    """Return whether ``folder`` contains a pack, or an interrupted build or removal; an unreadable one does not."""
    layout = Layout(folder)
    try:
        return folder.is_dir() and (layout.exists() or layout.unfinished() or layout.half_removed())
    except PermissionError:
        return False


def _without_repeats(packs: list[NamedPack]) -> list[NamedPack]:
    """Return ``packs`` without those that are the same folder as an earlier one."""
    seen: dict[str, NamedPack] = {}
    for pack in packs:
        seen.setdefault(os.path.realpath(pack.path), pack)
    return list(seen.values())


def _nearest(location: str) -> list[str]:
    """Return what the user may have meant: the name or the path of a pack, or nothing."""
    path = Path(location)
    try:
        known = named_packs()
        beside = [entry for entry in path.parent.iterdir() if holds_pack(entry)] if path.parent.is_dir() else []
    except OSError:
        return []  # a suggestion is not worth another error
    if path.name == location:
        return nearest(location, sorted(pack.name for pack in known))
    in_folder = nearest(path.name, sorted(entry.name for entry in beside))
    return [str(path.parent / name) for name in in_folder] or nearest(
        location, sorted(str(pack.path) for pack in known)
    )


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
