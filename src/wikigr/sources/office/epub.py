"""Read an EPUB: the pages of its spine, in order, as far as they are there."""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Iterable, Iterator
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart
from wikigr.sources.office.document import Document, archive, own_title

if TYPE_CHECKING:
    from lxml.etree import _Element

_PAGES = (".xhtml", ".html", ".htm")
# Entities of HTML, which are no entities of XML unless a document declares them.
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w{1,31};")
_UNREADABLE = (BadZipFile, zlib.error, NotImplementedError, EOFError, RecordError)


def title(data: bytes, where: str) -> str:
    """Return the title of the book, or ``""``; raises as ``archive`` does."""
    with archive(data, where) as opened:
        members = _Members(opened)
        path = _package_path(members)
        package, _ = _parse(members.read(path)) if path else (None, False)
        return own_title(package) if package is not None else ""


def read(data: bytes, document: Document, where: str) -> None:
    """Add the pages of the book, but for its table of contents; each page once, however often the spine has it.

    What the book names but lacks, or cannot be read, is a bad part. Raises ``RecordError`` if no page can be read.
    """
    with archive(data, where) as opened:
        members = _Members(opened)
        package_path = _package_path(members)
        package, is_whole = _parse(members.read(package_path)) if package_path else (None, False)
        bad: list[BadPart] = []
        done: set[str] = set()
        unread = 0
        if not is_whole:
            reason = "the list of the book's pages is damaged or missing"
            bad.append(BadPart(f"{where}, {package_path or 'package'}", reason, is_lost=True))
        for number, href in _pages(package, members, is_whole=is_whole):
            name = members.find(posixpath.join(posixpath.dirname(package_path), href)) if href else None
            if name in done:
                continue
            part = f"{where}, {href or f'page {number}'}"
            if name is None:
                bad.append(BadPart(part, "the book names this page but does not contain it", is_lost=True))
                unread += 1
                continue
            done.add(name)
            # EPUB Canonical Fragment Identifiers 1.1: the package's third element is its spine, and elements have even
            # numbers.
            document.writer.place(f"Document {number}", f"epubcfi(/6/{2 * number}!)")
            try:
                document.html(members.read(name), is_page=True)
            except _UNREADABLE as error:
                reason = error.reason if isinstance(error, RecordError) else "the page is damaged"
                bad.append(BadPart(part, reason, is_lost=True))
                unread += 1
        if not done:
            raise RecordError(where, f"it has none of its {unread} pages" if unread else "the book has no pages")
        if unread >= len(done) and not document.writer.sections():
            raise RecordError(where, f"none of its {unread} pages can be read: {bad[-1].reason}")
        document.bad_parts += bad


class _Members:
    """The members of an archive by their paths, which books also write in other case, escaped or with backslashes."""

    def __init__(self, opened: ZipFile) -> None:
        self.read = opened.read
        self.names = opened.namelist()
        self._by_key = {_key(name): name for name in reversed(self.names)}
        self._exact = frozenset(self.names)

    def find(self, path: str) -> str | None:
        """Return the member at ``path``, which may be escaped; ``None`` if there is none."""
        exact = posixpath.normpath(unquote(path))
        return exact if exact in self._exact else self._by_key.get(_key(path)) or self._by_key.get(_key(exact))


def _key(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/")).lstrip("/").casefold()


def _package_path(members: _Members) -> str:
    """Return the package document that the container names, or else the first one in the archive; ``""`` if none."""
    container = members.find("META-INF/container.xml")
    root = _parse(members.read(container))[0] if container else None
    stated = [file.get("full-path", "") for file in root.iter("{*}rootfile")] if root is not None else []
    found = (name for path in stated if (name := members.find(path)) is not None)
    return next(found, None) or next((name for name in members.names if name.lower().endswith(".opf")), "")


def _pages(package: _Element | None, members: _Members, *, is_whole: bool) -> Iterator[tuple[int, str]]:
    """Yield the number of each page in the spine with its address, ``""`` if nothing says it.

    Without a spine, these are all pages of the manifest. If the package is not whole, those in the archive follow.
    """
    items = list(package.iter("{*}item")) if package is not None else []
    by_id = {item.get("id"): item for item in items}
    spine: Iterable[Any] = package.iter("{*}itemref") if package is not None else ()
    ordered = [by_id.get(reference.get("idref")) for reference in spine] or items
    for number, item in enumerate(ordered, start=1):
        if item is None:
            yield number, ""
        elif len(ordered) == 1 or "nav" not in item.get("properties", "").split():
            stated, href = item.get("media-type", ""), item.get("href", "")
            if "html" in stated or "oeb1-document" in stated or href.partition("#")[0].lower().endswith(_PAGES):
                yield number, href
    if not is_whole:
        names = (f"/{name}" for name in sorted(members.names) if name.lower().endswith(_PAGES))
        yield from enumerate(names, start=len(ordered) + 1)


def _parse(data: bytes) -> tuple[_Element | None, bool]:
    """Return the root of a document, as far as it can be read, and whether that is all of it.

    Entities that the document declares are not resolved.
    """
    from lxml import etree

    if b"<!ENTITY" not in data:
        text = data.decode("latin-1")
        data = _ENTITY.sub(lambda match: f"&#{ord(unescape(match[0])[0])};", text).encode("latin-1")
    parser: Any = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=True)
    try:
        root: _Element | None = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None, False
    return root, root is not None and not any(entry.level_name == "FATAL" for entry in parser.error_log)
