"""Compare the files of a pack with its manifest before they are used, and remember which are whole."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from wikigr.files import write_atomic
from wikigr.pack.layout import Layout, read_object
from wikigr.pack.manifest import Manifest, check_file, file_path
from wikigr.settings import cache_folder


def damaged_files(layout: Layout, manifest: Manifest) -> dict[str, str]:
    """Return what is wrong with each file that is missing or differs from its record in the manifest, by name.

    A file that has not changed since it was last compared (size, times of modification and status change, inode)
    is not read again; where the cache cannot be written, all files are read every time, at about 1 GB a second.
    """
    place = hashlib.sha256(os.fsencode(os.path.realpath(layout.root))).hexdigest()
    memory = cache_folder() / "checked" / f"{place}.json"
    known = read_object(memory)
    found, damaged = {}, {}
    for name, record in manifest.files.items():
        path = file_path(layout, name)
        state = _state(path, record.sha256)
        problem = None if state is not None and known.get(name) == state else check_file(path, record)
        if problem is None:
            found[name] = state
        else:
            damaged[name] = problem
    if found != known:
        # Without the cache, the files are compared again.
        with suppress(OSError):
            memory.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(memory, json.dumps(found))
    return damaged


def _state(path: Path, sha256: str) -> list[Any] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, sha256]
