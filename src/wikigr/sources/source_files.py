"""The files of a source: their states while it is read, and those of a folder that its reader leaves out."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NamedTuple

from wikigr.sources.folder import stem, visible_files
from wikigr.sources.formats import FORMATS, SourceFormat, format_named, strip_compression
from wikigr.sources.streams import STDIN

_MAX_EXAMPLES = 3
# What accompanies the documents of a folder and is not meant to be one of them, without suffix and case-folded.
_COMPANIONS = frozenset({"readme", "license", "licence", "copying", "notice"})


class FileState(NamedTuple):
    """The size of a file in bytes, and its times of modification and status change in nanoseconds.

    Copying a file over another one can preserve the time of modification, but not that of the status change.
    """

    size: int
    modified_ns: int
    changed_ns: int


def file_states(location: str | Path, source_format: str, *, follow_links: bool = False) -> dict[str, FileState]:
    """Return the states of the files that a reader of ``source_format`` finds at ``location``, by path, in order.

    Standard input has a state if it is redirected from a file. Missing files are omitted. Raises ``OSError``.
    """
    if str(location) == STDIN:
        return _stdin_state()
    row = next((row for row in FORMATS if row.name == source_format), None)
    states = {}
    for path in _files(Path(location), row, follow_links):
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


def _files(root: Path, row: SourceFormat | None, follow_links: bool) -> Iterator[Path]:
    """Yield the documents below ``root`` (or ``root`` itself) in order; linked folders count, hidden files do not."""
    if not root.is_dir():
        yield root
        return
    for path in visible_files(root, follow_links=follow_links):
        if (row is None or row.has_suffix(path.name)) and path.is_file():
            yield path


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """The files with one suffix; ``format`` is ``""`` if no known one has it, and then there are no ``examples``."""

    suffix: str
    files: int
    format: str = ""
    examples: tuple[str, ...] = ()


def unread_files(location: str | Path, source_format: str) -> tuple[UnreadFiles, ...]:
    """Return what a reader of ``source_format`` leaves out of the folder ``location``; most files of a suffix first.

    Hidden files do not count, nor do files such as ``README.md`` and ``LICENSE``. A file has nothing to leave out.
    """
    root, reader = Path(location), format_named(source_format)
    if not root.is_dir():
        return ()
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for path in visible_files(root):
        if reader.has_suffix(path.name) or stem(path.name).casefold() in _COMPANIONS:
            continue
        suffix = _suffix(path.name)
        counts[suffix] += 1
        if len(examples.setdefault(suffix, [])) < _MAX_EXAMPLES:
            examples[suffix].append(path.relative_to(root).as_posix())
    formats = {suffix: _format_of(suffix) for suffix in counts}
    return tuple(
        UnreadFiles(suffix, count, row.name, tuple(examples[suffix])) if row else UnreadFiles(suffix, count)
        for suffix, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        for row in (formats[suffix],)
    )


def links_outside(location: str | Path) -> tuple[str, ...]:
    """Return the paths of the links in the folder ``location`` that lead out of it, sorted."""
    root = Path(location)
    found: list[str] = []
    if root.is_dir():
        for _ in visible_files(root, skip=lambda link: found.append(link.relative_to(root).as_posix())):
            pass
    return tuple(sorted(found))


def _suffix(name: str) -> str:
    """Return the suffix in lower case, with that of a compression: ``.html.gz``."""
    plain = strip_compression(name)
    return (PurePath(plain).suffix + name[len(plain) :]).lower()


def _format_of(suffix: str) -> SourceFormat | None:
    return next((row for row in FORMATS if not row.combines and row.has_suffix(f"x{suffix}")), None)
