"""Read the content of a pack piece by piece: articles, sections, edges and triples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from wikigr.graph.engine import Graph
from wikigr.graph.link_graph import LinkGraph, read_edges
from wikigr.graph.schema import anchor_of

EdgeKind = Literal["LINKS_TO", "MENTIONS"]

# Rows per query. Rows are read by offset, and a build stores them in order of title.
_ARTICLES = 500
_SECTIONS = 5_000
# Reading a window of this many sections costs as much as five lookups by title, so it pays only when the previous
# article was less than _NEAR rows away.
_WINDOW = 1_000
_NEAR = 200


@dataclass(frozen=True, slots=True)
class ArticleText:
    """An article with its whole text; ``details`` holds its other fields (categories, url, revision) by name."""

    title: str
    content: str
    aliases: tuple[str, ...]
    details: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section; ``position`` counts from 0 within its article, and ``heading_path`` is empty for the lead.

    ``anchor`` is also empty if the pack was built before the column.
    """

    article: str
    position: int
    heading_path: tuple[str, ...]
    content: str
    source_id: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple, the ids of its two entities (``*_key``), and the id of the section that states it."""

    subject_key: str
    relation: str
    object_key: str
    section_id: str
    subject: str
    object: str


class ContentReader(Protocol):
    """Reads the content of a pack, finished or under construction, without loading all of it."""

    def articles(self) -> Iterator[ArticleText]:
        """Yield every article."""
        ...

    def sections(self) -> Iterator[SectionText]:
        """Yield every section; the sections of an article come in order of position."""
        ...

    def sections_of(self, title: str) -> list[SectionText]:
        """Return the sections of one article in order of position; an empty list for an unknown title."""
        ...

    def edges(self, kind: EdgeKind) -> LinkGraph:
        """Return the edges of one kind between articles."""
        ...

    def statements(self) -> Iterator[Statement]:
        """Yield every triple; a triple that a section states twice may appear twice."""
        ...


class PackReader:
    """Reads a finished pack from its database. Raises ``QueryError`` when the database is damaged.

    After one pass over ``sections``, their offsets are known, and ``sections_of`` reads in bulk for titles in order.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._columns = f"s.article_title, s.position, s.heading_path, s.content, s.source_id, {anchor_of(graph)}"
        # For each article, the offset of its first section and the number of sections.
        self._places: dict[str, tuple[int, int]] = {}
        self._last_offset = -_NEAR
        self._window: dict[str, list[SectionText]] = {}

    def articles(self) -> Iterator[ArticleText]:
        query = (
            "MATCH (a:Article) WHERE offset(id(a)) >= $first AND offset(id(a)) < $beyond "
            "RETURN a.title, a.content, a.aliases, a.categories, a.url, a.revision"
        )
        for first in range(0, self._count("Article"), _ARTICLES):
            for title, content, aliases, categories, url, revision in self._graph.rows(
                query, {"first": first, "beyond": first + _ARTICLES}
            ):
                details = {"categories": "\n".join(categories or ()), "url": url or "", "revision": revision or ""}
                yield ArticleText(title, content, tuple(aliases or ()), details)

    def sections(self) -> Iterator[SectionText]:
        for first in range(0, self._count("Section"), _SECTIONS):
            for number, section in enumerate(self._rows(first, _SECTIONS), start=first):
                begin, count = self._places.get(section.article, (number, 0))
                self._places[section.article] = (begin, count + 1)
                yield section

    def _rows(self, first: int, count: int) -> list[SectionText]:
        rows = self._graph.rows(
            "MATCH (s:Section) WHERE offset(id(s)) >= $first AND offset(id(s)) < $beyond "
            f"RETURN {self._columns} ORDER BY offset(id(s))",
            {"first": first, "beyond": first + count},
        )
        return [_section(*row) for row in rows]

    def sections_of(self, title: str) -> list[SectionText]:
        if title in self._window:
            return self._window[title]
        if title in self._places:
            offset, count = self._places[title]
            near, self._last_offset = 0 < offset - self._last_offset < _NEAR, offset
            if near and count <= _WINDOW:
                found: dict[str, list[SectionText]] = defaultdict(list)
                for section in self._rows(offset, _WINDOW):
                    found[section.article].append(section)
                # Drop articles that the window cut off.
                self._window = {name: parts for name, parts in found.items() if len(parts) == self._places[name][1]}
                if title in self._window:
                    return self._window[title]
        return self._look_up(title)

    def _look_up(self, title: str) -> list[SectionText]:
        rows = self._graph.rows(
            f"MATCH (a:Article {{title: $title}})-[:HAS_SECTION]->(s:Section) RETURN {self._columns}",
            {"title": title},
        )
        return sorted((_section(*row) for row in rows), key=lambda section: section.position)

    def edges(self, kind: EdgeKind) -> LinkGraph:
        rows = self._graph.rows("MATCH (a:Article) RETURN offset(id(a)), a.title")
        titles = [""] * (1 + max((offset for offset, _ in rows), default=-1))
        for offset, title in rows:
            titles[offset] = title
        return LinkGraph(titles, *read_edges(self._graph, "Article", kind, "Article"))

    def statements(self) -> Iterator[Statement]:
        query = (
            "MATCH (e:Entity)-[r:RELATED_TO]->(o:Entity) WHERE offset(id(e)) >= $first AND offset(id(e)) < $beyond "
            "RETURN e.entity_id, r.relation, o.entity_id, r.section_id, e.name, o.name"
        )
        for first in range(0, self._count("Entity"), _SECTIONS):
            for row in self._graph.rows(query, {"first": first, "beyond": first + _SECTIONS}):
                yield Statement(*row)

    def _count(self, table: str) -> int:
        return int(self._graph.rows(f"MATCH (n:{table}) RETURN count(n)")[0][0])


def _section(
    article: str, position: int, path: list[str] | None, content: str, source_id: str | None, anchor: str
) -> SectionText:
    return SectionText(article, position, tuple(path or ()), content, source_id or "", anchor)
