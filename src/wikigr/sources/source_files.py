"""The files of a source: list and read them, tell when they change, and which ones a reader leaves out."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from wikigr.errors import MissingSourceError, SourceError
from wikigr.files import open_regular
from wikigr.sources.formats import FOLDER, FORMATS, SourceFormat, format_named, has_suffix, suffixes_read
from wikigr.sources.streams import STDIN, decompressed, stem, strip_compression

# Larger files are data with the wrong suffix; parsing holds a document in memory several times over.
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
# What accompanies the documents of a folder and is not meant to be one of them, without suffix and case-folded.
_COMPANIONS = frozenset({"readme", "license", "licence", "copying", "notice"})


def visible_files(
    root: Path,
    fail: Callable[[OSError], None] | None = None,
    *,
    follow_links: bool = False,
    skip: Callable[[Path], None] = lambda link: None,
) -> Iterator[Path]:
    """Yield the files below ``root`` in order, without hidden ones; each linked folder is entered once.

    Without ``follow_links``, ``skip`` receives the links that lead out of ``root``, which a stranger may have made.
    ``fail`` receives the errors of folders that cannot be listed, which are otherwise skipped.
    """
    top = os.path.realpath(root)

    def stays(path: Path) -> bool:
        if follow_links or not path.is_symlink() or Path(os.path.realpath(path)).is_relative_to(top):
            return True
        skip(path)
        return False

    entered: set[str] = set()
    for parent, folders, files in os.walk(root, followlinks=True, onerror=fail):
        real = os.path.realpath(parent)
        if real in entered:
            folders.clear()
            continue
        entered.add(real)
        # Sorting makes it deterministic which of several links to one folder is followed.
        folders[:] = sorted(name for name in folders if not name.startswith(".") and stays(Path(parent, name)))
        yield from filter(stays, (Path(parent, name) for name in sorted(files) if not name.startswith(".")))


class Folder:
    """The documents of the format ``row`` below the folder ``path``, or the file ``path`` itself.

    Documents may be compressed: ``page.html.gz`` has the suffix ``.html``. ``follow_links`` also reads what links
    out of the folder lead to.
    """

    def __init__(self, path: Path, row: SourceFormat, *, follow_links: bool = False) -> None:
        self._path = path
        self._suffixes = suffixes_read(row)
        self._follow_links = follow_links

    def source_ids(self) -> list[str]:
        """Return the relative POSIX paths of all documents, sorted.

        Symbolic links within the folder are followed, but each folder is entered once. Hidden files and folders are
        skipped, and so are compressed copies of other documents. Raises ``SourceError`` when the folder is missing, is
        unreadable or contains no such document.
        """
        if not self._path.exists():
            raise MissingSourceError(f"{self._path} does not exist.", hint="Check the path.")
        if self._path.is_file():
            return [self._path.name]

        def fail(error: OSError) -> None:
            raise SourceError(f"Cannot read {error.filename}: {error.strerror}.") from error

        found = [
            path.relative_to(self._path).as_posix()
            for path in visible_files(self._path, fail, follow_links=self._follow_links)
            if has_suffix(path.name, self._suffixes)
        ]
        if not found:
            raise SourceError(f"{self._path} has no files with the suffix {' or '.join(self._suffixes)}.")
        # Web servers keep "page.html.gz" beside "page.html".
        plain = {source_id for source_id in found if strip_compression(source_id) == source_id}
        return sorted(name for name in found if name in plain or strip_compression(name) not in plain)

    def read(self, source_id: str) -> bytes:
        """Return the bytes of one document, decompressed.

        Raises ``SourceError`` when it is unreadable, damaged or larger than ``MAX_DOCUMENT_BYTES``.
        """
        data = self.head(source_id, MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES:
            limit = MAX_DOCUMENT_BYTES // (1024 * 1024)
            raise SourceError(f"the file is larger than {limit} MiB, the limit for one document")
        return data

    def head(self, source_id: str, size: int) -> bytes:
        """Return the first ``size`` bytes of one document, decompressed; raises ``SourceError`` if it is unreadable."""
        path = self._path if self._path.is_file() else self._path / source_id
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise SourceError("the file is a pipe or a device, not a regular file")
            with open_regular(path) as raw, decompressed(raw, "the file") as stream:
                return stream.read(size)
        except OSError as error:
            raise SourceError(f"cannot read the file: {error.strerror or error}") from error


FileState = tuple[int, int, int]
"""The size of a file in bytes, and its times of modification and status change in nanoseconds.

Copying a file over another one can preserve the time of modification, but not that of the status change.
"""


def file_states(location: str | Path, source_format: str, *, follow_links: bool = False) -> dict[str, FileState]:
    """Return the states of the files that a reader of ``source_format`` finds at ``location``, by path, in order.

    Standard input has a state if it is redirected from a file. Missing files are omitted. Raises ``OSError``.
    """
    if str(location) == STDIN:
        try:
            stdin = os.fstat(sys.stdin.fileno())
        except (OSError, ValueError):  # replaced by an object in memory
            return {}
        return {"standard input": _state(stdin)} if stat.S_ISREG(stdin.st_mode) else {}
    root = Path(location)
    row = next((row for row in FORMATS if row.name == source_format), None)
    paths = visible_files(root, follow_links=follow_links) if root.is_dir() else iter((root,))
    states = {}
    for path in paths:
        if path == root or ((row is None or row.has_suffix(path.name)) and path.is_file()):
            try:
                states[os.fspath(path)] = _state(path.stat())
            except FileNotFoundError:
                continue
    return states


def _state(found: os.stat_result) -> FileState:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


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
    root, suffixes = Path(location), suffixes_read(format_named(source_format))
    if not root.is_dir():
        return ()
    found: dict[str, list[Path]] = {}
    for path in visible_files(root):
        if not has_suffix(path.name, suffixes) and stem(path.name).casefold() not in _COMPANIONS:
            plain = strip_compression(path.name)
            suffix = (PurePath(plain).suffix + path.name[len(plain) :]).lower()
            found.setdefault(suffix, []).append(path.relative_to(root))

    def described(suffix: str, paths: list[Path]) -> UnreadFiles:
        row = next((row for row in FORMATS if row.name != FOLDER and row.has_suffix(f"x{suffix}")), None)
        if row is None:
            return UnreadFiles(suffix, len(paths))
        return UnreadFiles(suffix, len(paths), row.name, tuple(path.as_posix() for path in paths[:3]))

    return tuple(described(*item) for item in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def links_outside(location: str | Path) -> tuple[str, ...]:
    """Return the paths of the links in the folder ``location`` that lead out of it, sorted."""
    root = Path(location)
    found: list[str] = []
    if root.is_dir():
        for _ in visible_files(root, skip=lambda link: found.append(link.relative_to(root).as_posix())):
            pass
    return tuple(sorted(found))
