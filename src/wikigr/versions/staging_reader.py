"""The content of a pack under construction, from the staging database of its build."""

from __future__ import annotations

import json
from collections.abc import Iterator

from wikigr.graph.link_graph import LinkGraph
from wikigr.ingest import loading
from wikigr.ingest.linking import aliases_of
from wikigr.ingest.staging import Staging
from wikigr.pack.pack_reader import ArticleText, EdgeKind, SectionText, Statement

_SECTIONS = (
    "SELECT a.title, s.position, s.heading_path, s.content, s.source_id FROM section s "
    "JOIN article a ON a.id = s.article"
)


class StagingReader:
    """A ``ContentReader`` over a staging database."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    def articles(self) -> Iterator[ArticleText]:
        rows = self._staging.rows("SELECT id, title, content, categories, url, revision FROM article ORDER BY title")
        for number, title, content, categories, url, revision in rows:
            details = {"categories": "\n".join(map(str, json.loads(categories))), "url": url, "revision": revision}
            yield ArticleText(title, content, tuple(aliases_of(self._staging, number)), details)

    def sections(self) -> Iterator[SectionText]:
        for row in self._staging.rows(f"{_SECTIONS} ORDER BY a.title, s.position"):
            yield _section(*row)

    def sections_of(self, title: str) -> list[SectionText]:
        rows = self._staging.rows(f"{_SECTIONS} WHERE a.title = ? ORDER BY s.position", (title,))
        return [_section(*row) for row in rows]

    def edges(self, kind: EdgeKind) -> LinkGraph:
        return loading.article_links(self._staging, "link" if kind == "LINKS_TO" else "mention")

    def statements(self) -> Iterator[Statement]:
        rows = self._staging.rows(
            "SELECT f.subject, f.relation, f.object, f.section_id, s.name, o.name FROM fact f "
            "JOIN entity s ON s.id = f.subject JOIN entity o ON o.id = f.object"
        )
        for row in rows:
            yield Statement(*row)


def _section(article: str, position: int, path: str, content: str, source_id: str) -> SectionText:
    return SectionText(article, position, tuple(json.loads(path)), content, source_id)
