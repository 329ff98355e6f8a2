"""Read an EPUB: the pages of its spine, in order."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from wikigr.sources.office.document import Document, archive, own_title, parse_xml

_PAGES = ("application/xhtml+xml", "text/html")


def read(data: bytes, document: Document, where: str) -> None:
    """Add the pages of the book, but for its table of contents."""
    with archive(data, where) as opened:
        rootfile = next(parse_xml(opened, "META-INF/container.xml").iter("{*}rootfile"), None)
        package_path = rootfile.get("full-path", "") if rootfile is not None else ""
        package = parse_xml(opened, package_path)
        document.title = own_title(package)
        items = {item.get("id"): item for item in package.iter("{*}item")}
        for number, reference in enumerate(package.iter("{*}itemref"), start=1):
            item = items.get(reference.get("idref"))
            if item is None or item.get("media-type") not in _PAGES or "nav" in item.get("properties", "").split():
                continue
            name = posixpath.normpath(posixpath.join(posixpath.dirname(package_path), unquote(item.get("href", ""))))
            # EPUB Canonical Fragment Identifiers 1.1: the package's third element is its spine, and elements have even
            # numbers.
            document.writer.place(f"Document {number}", f"epubcfi(/6/{2 * number}!)")
            document.html(opened.read(name), is_page=True)
