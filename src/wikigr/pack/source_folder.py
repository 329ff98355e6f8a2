"""The folder that a pack was built from, recorded beside the pack on the machine that built it.

The record is a path relative to the pack's folder, so pack and source can be moved together. It lies in the pack's work
folder, which is never exported: a published pack contains no path of the machine that built it.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from wikigr.atomic import write_atomic
from wikigr.pack.layout import Layout
from wikigr.regular_files import read_regular

_MAX_PATH_BYTES = 4_096


def record_source_folder(layout: Layout, folder: Path | None) -> None:
    """Record the ``folder`` of the source's files; ``None`` removes the record of an earlier build."""
    path = layout.source_record
    if folder is None:
        path.unlink(missing_ok=True)
        return
    relative = os.path.relpath(folder.resolve(), layout.root.resolve())
    write_atomic(path, os.fsencode(relative))


def find_source_file(layout: Layout, source_id: str, suffixes: tuple[str, ...]) -> Path | None:
    """Return the source file ``source_id`` (a relative POSIX path) if it is still where the build read it.

    A file outside the recorded folder, or with none of ``suffixes``, is never returned.
    """
    relative = PurePosixPath(source_id)
    if relative.is_absolute() or ".." in relative.parts or not source_id.lower().endswith(suffixes):
        return None
    try:
        recorded = read_regular(layout.source_record, _MAX_PATH_BYTES)
        path = (layout.root.resolve() / os.fsdecode(recorded)).resolve() / relative
        return path if path.is_file() else None
    except (OSError, ValueError):
        # No record, or a name that this file system does not allow.
        return None
