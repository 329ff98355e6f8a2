"""The state of a source's files, which shows whether they changed while they were read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wikigr.sources.folder import visible_files
from wikigr.sources.formats import FORMATS, SourceFormat
from wikigr.sources.streams import STDIN


class FileState(NamedTuple):
    """The size of a file in bytes, and its times of modification and status change in nanoseconds.

    Copying a file over another one can preserve the time of modification, but not that of the status change.
    """

    size: int
    modified_ns: int
    changed_ns: int


def file_states(location: str | Path, source_format: str) -> dict[str, FileState]:
    """Return the states of the files that a reader of ``source_format`` finds at ``location``, by path, in order.

    Standard input has a state if it is redirected from a file. Missing files are omitted. Raises ``OSError``.
    """
    if str(location) == STDIN:
        return _stdin_state()
    row = next((row for row in FORMATS if row.name == source_format), None)
    states = {}
    for path in _files(Path(location), row):
        try:
            states[os.fspath(path)] = _state(path.stat())
        except FileNotFoundError:
            continue
    return states


def _stdin_state() -> dict[str, FileState]:
    try:
        found = os.fstat(sys.stdin.fileno())
    except (OSError, ValueError):  # replaced by an object in memory
        return {}
    return {"standard input": _state(found)} if stat.S_ISREG(found.st_mode) else {}


def _state(found: os.stat_result) -> FileState:
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _files(root: Path, row: SourceFormat | None) -> Iterator[Path]:
    """Yield the documents below ``root`` (or ``root`` itself) in order; linked folders count, hidden files do not."""
    if not root.is_dir():
        yield root
        return
    for path in visible_files(root):
        if (row is None or row.has_suffix(path.name)) and path.is_file():
            yield path
