"""What the folder formats share: the files of a folder in order, links between them, titles that differ."""

from __future__ import annotations

import os
import posixpath
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from wikigr.errors import SourceError
from wikigr.text import fold

# A document past this is data under a wrong name; reading it would hold it in memory several times over.
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


class Folder:
    """The documents with one of ``suffixes`` below ``path``, or the single file that ``path`` is."""

    def __init__(self, path: Path, suffixes: tuple[str, ...], kind: str) -> None:
        self._path = path
        self._suffixes = suffixes
        self._kind = kind

    def source_ids(self) -> list[str]:
        """The relative POSIX paths of all documents, sorted.

        Symbolic links are followed, each folder is entered once; hidden files and folders are left out.
        Raises ``SourceError`` when the folder is missing, unreadable or has no such document.
        """
        if not self._path.exists():
            raise SourceError(f"{self._path} does not exist.", hint="Check the path of the source.")
        if self._path.is_file():
            return [self._path.name]
        found: list[str] = []
        entered: set[str] = set()

        def fail(error: OSError) -> None:
            raise SourceError(f"{error.filename} cannot be read: {error.strerror}.") from error

        for parent, folders, files in os.walk(self._path, followlinks=True, onerror=fail):
            real = os.path.realpath(parent)
            if real in entered:
                folders.clear()
                continue
            entered.add(real)
            # The walk decides which of several links to one folder counts: sorted, that is always the same.
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found.extend(
                Path(parent, name).relative_to(self._path).as_posix()
                for name in files
                if name.lower().endswith(self._suffixes) and not name.startswith(".")
            )
        if not found:
            names = ", ".join(self._suffixes)
            raise SourceError(f"{self._path} has no {self._kind} files ({names}).")
        return sorted(found)

    def read(self, source_id: str) -> bytes:
        """The bytes of one document; raises ``SourceError`` when it is unreadable or far too large."""
        path = self._path if self._path.is_file() else self._path / source_id
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                # Opening a pipe would wait for a writer that may never come.
                raise SourceError("the file is a pipe or a device, not a regular file")
            with path.open("rb") as stream:
                data = stream.read(MAX_DOCUMENT_BYTES + 1)
        except OSError as error:
            raise SourceError(f"the file cannot be read: {error.strerror or error}") from error
        if len(data) > MAX_DOCUMENT_BYTES:
            limit = MAX_DOCUMENT_BYTES // (1024 * 1024)
            raise SourceError(f"the file is larger than {limit} MiB, the limit for one document")
        return data


# Which page stands for its folder, the first that there is; the suffix and the case of the name do not matter.
_INDEX_NAMES = ("index", "_index", "readme")


class Pages:
    """The documents of a folder, to be looked up by what a link says; ``suffixes`` are those of documents."""

    def __init__(self, source_ids: Iterable[str], suffixes: tuple[str, ...]) -> None:
        self._ids = frozenset(source_ids)
        self._suffixes = suffixes
        ranked: list[tuple[int, str]] = []
        for source_id in self._ids:
            name = posixpath.splitext(posixpath.basename(source_id))[0].casefold()
            if name in _INDEX_NAMES:
                ranked.append((_INDEX_NAMES.index(name), source_id))
        self._indexes: dict[str, str] = {}
        for _, source_id in sorted(ranked):
            self._indexes.setdefault(posixpath.dirname(source_id), source_id)

    def find(self, path: str, *, is_folder: bool) -> str | None:
        """The document at the normalized ``path``, which may lack the suffix, or the index page of that folder.

        ``is_folder`` says that the link ends with a slash: then the index page comes first.
        """
        index = self._indexes.get("" if path == "." else path)
        names = (path, *(path + suffix for suffix in self._suffixes))
        page = next((name for name in names if name in self._ids), None)
        return (index or page) if is_folder else (page or index)


def resolve_link(source_id: str, href: str, suffixes: tuple[str, ...], pages: Pages | None = None) -> str | None:
    """The ``source_id`` that an ``href`` without host on page ``source_id`` points to.

    Query and fragment are dropped; a folder stands for its index page and a name without a suffix for a page.
    ``suffixes`` are those of pages, the first being the usual one. With ``pages`` the link leads to whatever page
    is there, and a path from the root (``/guide/``) counts from the folder that was read; where there is none, or
    without ``pages``, the usual name of such a page is returned. Returns ``None`` for a link out of the folder, to
    another kind of file, or within the page itself, and without ``pages`` for a path from the root.
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
    elif not target.lower().endswith(suffixes):
        return None
    return None if target == source_id else target


def unique_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Titles by ``source_id``, where one that several documents share gets its path in parentheses."""
    uses = Counter(fold(title) for title in titles.values())
    return {
        source_id: title if uses[fold(title)] == 1 else f"{title} ({source_id})" for source_id, title in titles.items()
    }
