"""Keep a new pack out of folders with files of the user."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from wikigr.errors import UsageError
from wikigr.pack.layout import PARTS, Layout, readable_path
from wikigr.pack.locate import RECIPE
from wikigr.pack.manifest import EXAMPLES, QUESTIONS
from wikigr.sources.streams import STDIN, stem
from wikigr.text import some_of

# Files and folders, in lower case, that may accompany a pack in its folder.
_COMPANIONS = frozenset((EXAMPLES, QUESTIONS.partition("/")[0], "readme.md", "readme", "license", "license.md", RECIPE))


def check_destination(location: str, destination: Path) -> None:
    """Raise ``UsageError`` if a pack in ``destination`` would be mixed with the user's files.

    The destination may be new, empty or a pack. It may contain its own source, as ``packs/physics`` contains
    ``articles``, with nothing else but what accompanies a pack. Otherwise it must not be the folder of the source or
    lie in it, because the next build would read the pack's folder too.
    """
    layout = Layout(destination)
    if layout.exists():
        return
    source = None if location == STDIN else Path(location)
    if source is not None and source.is_dir():
        folder, inner = source.resolve(), destination.resolve()
        if inner == folder or inner.is_relative_to(folder):
            where = "is the folder of the source" if inner == folder else f"lies in the source folder {source}"
            raise UsageError(
                f"The output folder {destination} {where}, so the pack would be mixed with your files.",
                hint=_command(location, _unused(readable_path(source).parent / f"{folder.name}-pack")),
            )
    found = _foreign_names(layout, source)
    if found:
        name = "pack" if source is None else f"{stem(source.resolve().name)}-pack"
        raise UsageError(
            f"The output folder {destination} is not empty and not a pack (it contains {some_of(found, 3)}), "
            "so the pack would be mixed with your files.",
            hint=_command(location, _unused(destination / name)),
        )


def _foreign_names(layout: Layout, source: Path | None) -> list[str]:
    """Return what the folder contains besides hidden files, the parts of a pack, its companions and the source."""
    if not layout.root.is_dir():
        return []
    own = source.resolve() if source is not None else None
    root = layout.root.resolve()
    return sorted(
        entry.name
        for entry in layout.root.iterdir()
        if not entry.name.startswith(".")
        and entry.name not in PARTS
        and entry.name.lower() not in _COMPANIONS
        and not (own is not None and own == root / entry.name)
    )


def _unused(path: Path) -> Path:
    """Return ``path``, with a number if it exists."""
    number = 2
    unused = path
    while os.path.lexists(unused):
        unused = path.with_name(f"{path.name}-{number}")
        number += 1
    return unused


def _command(location: str, output: Path) -> str:
    return f"wikigr pack build {shlex.quote(location)} -o {shlex.quote(str(output))}"
