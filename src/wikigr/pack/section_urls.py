"""The addresses of sections: the article's web address, or its source file, with the anchor of the section.

The folder that a pack was built from is recorded beside it, as a path relative to the pack's folder, so both can be
moved together. The record lies in the pack's work folder, which is never exported: a published pack contains no path of
the machine that built it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

from wikigr.files import read_regular, write_atomic
from wikigr.graph.engine import Graph
from wikigr.graph.schema import article_title, section_columns
from wikigr.pack.layout import Layout
from wikigr.sources.formats import recorded_format

# Of an address in characters, and of a recorded path in bytes.
_MAX_LENGTH = 4_096
# The characters that separate the parts of an address; all others are percent-encoded. ``%`` begins an encoded one.
_SEPARATORS = "%/:?#[]@!$&'()*+,;=~"
# RFC 3986, section 3.5. A PDF viewer needs the equals sign, and a reader of e-books the parentheses and slashes.
_IN_ANCHOR = "=!:,()/"
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\s]")


def web_address(text: str) -> str | None:
    """Return untrusted ``text`` as a percent-encoded http or https address, or ``None`` if it is not one."""
    text = text.strip()
    if len(text) > _MAX_LENGTH or _FORBIDDEN.search(text):
        return None
    try:
        parts = urlsplit(text)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return None
    except ValueError:
        return None
    return quote(text, safe=_SEPARATORS)


class SectionUrls:
    """Finds the addresses of the sections of one pack."""

    def __init__(self, graph: Graph, layout: Layout, source_format: str) -> None:
        self._graph = graph
        has_anchors = "anchor" in section_columns(graph)
        self._anchor = "coalesce(s.anchor, '')" if has_anchors else "''"
        self._layout = layout
        self._format = recorded_format(source_format)
        self._found: dict[str, str | None] = {}

    def find(self, section_ids: Iterable[str]) -> dict[str, str | None]:
        """Return the address of each section; ``None`` where neither a web address nor a source file is known.

        A web address is best, then the source file on this machine (``file://``), then its path relative to the source.
        """
        wanted = dict.fromkeys(section_ids)
        unknown = [section_id for section_id in wanted if section_id not in self._found]
        self._found.update(dict.fromkeys(unknown))
        urls = self._graph.look_up(
            "MATCH (a:Article {title: $key}) RETURN a.title, coalesce(a.url, '')",
            list(dict.fromkeys(map(article_title, unknown))),
        )
        pages = {str(title): web_address(str(url)) for title, url in urls}
        has_files = self._format is not None and self._format.reads_folders
        rows = self._graph.look_up(
            f"MATCH (s:Section {{section_id: $key}}) RETURN s.section_id, coalesce(s.source_id, ''), {self._anchor}",
            [section_id for section_id in unknown if has_files or pages.get(article_title(section_id))],
        )
        source_file = cache(self._source_file)
        for section_id, source_id, anchor in rows:
            page = pages.get(article_title(str(section_id))) or source_file(str(source_id))
            has_anchor = page is not None and "#" not in page and anchor
            self._found[section_id] = f"{page}#{quote(str(anchor), safe=_IN_ANCHOR)}" if has_anchor else page
        return {section_id: self._found[section_id] for section_id in wanted}

    def _source_file(self, source_id: str) -> str | None:
        if self._format is None or not self._format.reads_folders or not source_id:
            return None
        path = find_source_file(self._layout, source_id, self._format.suffixes)
        return path.as_uri() if path is not None else quote(source_id)


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
        recorded = read_regular(layout.source_record, _MAX_LENGTH)
        path = (layout.root.resolve() / os.fsdecode(recorded)).resolve() / relative
        return path if path.is_file() else None
    except (OSError, ValueError):
        # No record, or a name that this file system does not allow.
        return None
