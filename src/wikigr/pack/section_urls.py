"""The addresses of sections: the article's web address, or its source file, with the anchor of the section.

The folder that a pack was built from is recorded beside it, as a path relative to the pack's folder, so both can be
moved together. The record lies in the pack's work folder, which is never exported: a published pack contains no path of
the machine that built it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from wikigr.atomic import write_atomic
from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.schema import article_title
from wikigr.pack.layout import Layout
from wikigr.regular_files import read_regular
from wikigr.sources.anchors import section_anchors, without_entries
from wikigr.sources.facts import FACTS
from wikigr.sources.formats import SourceFormat, format_named

_MAX_URL_LENGTH = 4_096
_MAX_PATH_BYTES = 4_096
_MAX_SIGNATURE_LENGTH = 500
# The characters that separate the parts of an address; all others are percent-encoded. ``%`` begins an encoded one.
_SEPARATORS = "%/:?#[]@!$&'()*+,;=~"
# RFC 3986, section 3.5. A PDF viewer needs the equals sign, and a reader of e-books the parentheses and slashes.
_IN_ANCHOR = "=!:,()/"
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\s]")


def web_address(text: str) -> str | None:
    """Return untrusted ``text`` as a percent-encoded http or https address, or ``None`` if it is not one."""
    text = text.strip()
    if len(text) > _MAX_URL_LENGTH or _FORBIDDEN.search(text):
        return None
    try:
        parts = urlsplit(text)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return None
    except ValueError:
        return None
    return quote(text, safe=_SEPARATORS)


class SectionUrls:
    """Finds the addresses of the sections of one pack; those of an article are computed once."""

    def __init__(self, graph: Graph, layout: Layout, source_format: str) -> None:
        self._graph = graph
        self._layout = layout
        self._format = _known_format(source_format)
        self._articles: dict[str, dict[str, str | None]] = {}

    def find(self, section_ids: Iterable[str]) -> dict[str, str | None]:
        """Return the address of each section; ``None`` where neither a web address nor a source file is known.

        A web address is best, then the source file on this machine (``file://``), then its path relative to the source.
        """
        found = {section_id: article_title(section_id) for section_id in section_ids}
        self._read([title for title in dict.fromkeys(found.values()) if title not in self._articles])
        return {section_id: self._articles[title].get(section_id) for section_id, title in found.items()}

    def _read(self, titles: Sequence[str]) -> None:
        """Compute the addresses of all sections of the articles ``titles``."""
        self._articles.update((title, {}) for title in titles)
        if self._format is None or not self._format.reads_folders:
            # Without an address of their article, sections have none either: finding them takes seven times as long.
            urls = self._graph.look_up("MATCH (a:Article {title: $key}) RETURN a.title, coalesce(a.url, '')", titles)
            titles = [str(title) for title, url in urls if web_address(str(url)) is not None]
        has_entries = self._format is not None and "docutils" in self._format.anchor_rules
        signature = f"left(s.content, {_MAX_SIGNATURE_LENGTH})" if has_entries else "''"
        rows = self._graph.look_up(
            "MATCH (a:Article {title: $key})-[:HAS_SECTION]->(s:Section) "
            "RETURN a.title, s.position, s.section_id, s.heading_path, coalesce(s.source_id, ''), coalesce(a.url, ''), "
            f"{signature}",
            titles,
        )
        by_article: dict[str, list[Sequence[Any]]] = {}
        for title, *row in sorted(rows, key=lambda row: int(row[1])):
            by_article.setdefault(str(title), []).append(row[1:])
        self._articles.update((title, self._addresses(sections)) for title, sections in by_article.items())

    def _addresses(self, rows: Sequence[Sequence[Any]]) -> dict[str, str | None]:
        if self._format is None:
            return {str(section_id): web_address(str(url)) for section_id, _, _, url, _ in rows}
        by_file: dict[tuple[str, str], list[tuple[str, list[str], str]]] = {}
        for section_id, path, source_id, url, beginning in rows:
            headings = list(map(str, path)) if isinstance(path, list) else []
            by_file.setdefault((str(source_id), str(url)), []).append((str(section_id), headings, str(beginning)))
        found: dict[str, str | None] = {}
        for (source_id, url), sections in by_file.items():
            page = web_address(url) or self._source_file(source_id)
            rule = self._format.anchors_of(source_id)
            paths: Sequence[Sequence[str]] = [self._on_page(headings) for _, headings, _ in sections]
            if rule == "docutils":
                paths = list(without_entries((headings, beginning) for _, headings, beginning in sections))
            for (section_id, _, _), anchor in zip(sections, section_anchors(rule, paths), strict=True):
                found[section_id] = (
                    page if page is None or "#" in page or not anchor else f"{page}#{quote(anchor, safe=_IN_ANCHOR)}"
                )
        return found

    def _on_page(self, headings: list[str]) -> list[str]:
        """Return the headings that the page has: wikis show no heading above an infobox."""
        is_wiki = self._format is not None and self._format.anchors == "wiki"
        return headings[:-1] if is_wiki and headings[-1:] == [FACTS] else headings

    def _source_file(self, source_id: str) -> str | None:
        if self._format is None or not self._format.reads_folders or not source_id:
            return None
        path = find_source_file(self._layout, source_id, self._format.suffixes)
        return path.as_uri() if path is not None else quote(source_id)


def _known_format(name: str) -> SourceFormat | None:
    try:
        return format_named(name)
    except UsageError:
        # A pack of a later release, or one that names no format.
        return None


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
