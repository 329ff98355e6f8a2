"""Shared code of the folder formats: list and read files, resolve links between them, make titles unique."""

from __future__ import annotations

import os
import posixpath
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from wikigr.errors import MissingSourceError, SourceError
from wikigr.sources.formats import COMPRESSION_SUFFIXES, strip_compression
from wikigr.sources.streams import decompressed
from wikigr.text import fold

# Larger files are data with the wrong suffix; parsing holds a document in memory several times over.
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


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
    """The documents with one of ``suffixes`` below the folder ``path``, or the file ``path`` itself.

    Documents may be compressed: ``page.html.gz`` has the suffix ``.html``. ``follow_links`` also reads what links
    out of the folder lead to.
    """

    def __init__(self, path: Path, suffixes: tuple[str, ...], kind: str, *, follow_links: bool = False) -> None:
        self._follow_links = follow_links
        self._path = path
        self._suffixes = suffixes
        self._kind = kind

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
            if strip_compression(path.name).lower().endswith(self._suffixes)
        ]
        if not found:
            names = ", ".join(self._suffixes)
            raise SourceError(f"{self._path} has no {self._kind} files ({names}).")
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
                # Opening a pipe would wait for a writer.
                raise SourceError("the file is a pipe or a device, not a regular file")
            with path.open("rb") as raw, decompressed(raw, "the file") as stream:
                return stream.read(size)
        except OSError as error:
            raise SourceError(f"cannot read the file: {error.strerror or error}") from error


# Names of a folder's index page, in order of preference, without suffix and case-folded.
_INDEX_NAMES = ("index", "_index", "readme")


class Pages:
    """The documents of a folder, looked up by link path; ``suffixes`` are those of documents."""

    def __init__(self, source_ids: Iterable[str], suffixes: tuple[str, ...]) -> None:
        self._ids = frozenset(source_ids)
        self._suffixes = suffixes
        ranked: list[tuple[int, str]] = []
        for source_id in self._ids:
            name = stem(source_id).casefold()
            if name in _INDEX_NAMES:
                ranked.append((_INDEX_NAMES.index(name), source_id))
        self._indexes: dict[str, str] = {}
        for _, source_id in sorted(ranked):
            self._indexes.setdefault(posixpath.dirname(source_id), source_id)

    def find(self, path: str, *, is_folder: bool) -> str | None:
        """Return the document at the normalized ``path``, which may lack the suffix, or the index page of that folder.

        ``is_folder`` means that the link ends with a slash, which gives the index page priority.
        """
        index = self._indexes.get("" if path == "." else path)
        names = [path, *(path + suffix for suffix in self._suffixes)]
        names += [name + end for name in names for end in COMPRESSION_SUFFIXES]
        page = next((name for name in names if name in self._ids), None)
        return (index or page) if is_folder else (page or index)


def resolve_link(source_id: str, href: str, suffixes: tuple[str, ...], pages: Pages | None = None) -> str | None:
    """Return the ``source_id`` that an ``href`` without host on page ``source_id`` points to.

    Query and fragment are dropped. A folder stands for its index page, and a name without suffix for a page.
    ``suffixes`` are those of pages, the usual one first. With ``pages``, the result is an existing page where there
    is one, and a path from the root (``/guide/``) is relative to the source folder. Otherwise the result is the
    usual name of such a page. Returns ``None`` for a link that leaves the folder, leads to another kind of file or
    stays within the page, and, without ``pages``, for a path from the root.
    """
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return None
    is_from_root = parts.path.startswith("/")
    if parts.scheme or parts.netloc or not parts.path or (is_from_root and pages is None):
        return None
    path = unquote(parts.path)
    base = "" if is_from_root else posixpath.dirname(source_id)
    target = posixpath.normpath(posixpath.join(base, path.lstrip("/")))
    if target == ".." or target.startswith("../") or "\x00" in target:
        return None
    is_folder = path.endswith(("/", "/.", "/..")) or path in (".", "..")
    page = pages.find(target, is_folder=is_folder) if pages is not None else None
    if page is not None:
        target = page
    elif is_folder:
        target = posixpath.normpath(posixpath.join(target, "index" + suffixes[0]))
    elif not posixpath.splitext(target)[1]:
        target += suffixes[0]
    elif not strip_compression(target).lower().endswith(suffixes):
        return None
    return None if target == source_id else target


def stem(source_id: str) -> str:
    """Return the name of a document without its folder and its suffixes: ``install`` for ``guide/install.html.gz``."""
    return posixpath.splitext(strip_compression(posixpath.basename(source_id)))[0]


def unique_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return the titles by ``source_id``, with the path in parentheses after each title that is not unique."""
    uses = Counter(fold(title) for title in titles.values())
    return {
        source_id: title if uses[fold(title)] == 1 else f"{title} ({source_id})" for source_id, title in titles.items()
    }
