"""The documents of a section, of an article, of neighbors and of paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikigr.documents.pack import SCHEMA_VERSION, pack_document

if TYPE_CHECKING:
    from wikigr.documents.shapes import (
        ArticleDocument,
        EdgeShape,
        NeighborsDocument,
        NodeShape,
        OutlineShape,
        PathsDocument,
        SectionDocument,
    )
    from wikigr.graph.neighborhood import Edge, Node, Step
    from wikigr.graph_search.explore.paths import Paths
    from wikigr.pack.article_view import ArticleView, OutlineEntry, SectionView
    from wikigr.pack.manifest import Manifest


def section_document(view: SectionView, pack: Manifest, warnings: Sequence[str]) -> SectionDocument:
    """Return what ``wikigr show SECTION_ID --json`` prints; ``warnings`` are about a corrected or ambiguous name."""
    return {
        "schema_version": SCHEMA_VERSION,
        "section_id": view.section.section_id,
        "title": view.section.title,
        "section": view.section.heading,
        "heading_path": list(view.heading_path),
        "source_id": view.section.source_id,
        "url": view.url,
        "content": view.section.content,
        "previous": _entry_document(view.previous) if view.previous is not None else None,
        "next": _entry_document(view.next) if view.next is not None else None,
        "links": [{"title": link.title, "kind": link.kind} for link in view.links],
        "pack": pack_document(pack),
        "warnings": list(warnings),
    }


def article_document(view: ArticleView, pack: Manifest, warnings: Sequence[str]) -> ArticleDocument:
    """Return what ``wikigr show TITLE --json`` prints; ``warnings`` are about a corrected or ambiguous name."""
    return {
        "schema_version": SCHEMA_VERSION,
        "title": view.title,
        "url": view.url,
        "aliases": list(view.aliases),
        "categories": list(view.categories),
        "lead": view.lead,
        "sections": [_entry_document(entry) for entry in view.outline],
        "content": view.content,
        "links": [{"title": link.title, "kind": link.kind} for link in view.links],
        "backlinks": [{"title": link.title, "kind": link.kind} for link in view.backlinks],
        "pagerank": view.pagerank,
        "pack": pack_document(pack),
        "warnings": list(warnings),
    }


def _entry_document(entry: OutlineEntry) -> OutlineShape:
    return {
        "section_id": entry.section_id,
        "section": entry.heading,
        "heading_path": list(entry.heading_path),
        "word_count": entry.word_count,
    }


def node_document(item: Node) -> NodeShape:
    """Return a node in the form of the JSON documents."""
    return {"kind": item.kind, "key": item.key, "name": item.name}


def edge_document(item: Edge) -> EdgeShape:
    """Return an edge in the form of the JSON documents, in its stored direction."""
    return {
        "source": node_document(item.source),
        "relation": item.relation,
        "target": node_document(item.target),
        "section_id": item.section_id or None,
    }


def neighbors_document(
    start: Node, edges: Sequence[Edge], truncated: bool, warnings: Sequence[str]
) -> NeighborsDocument:
    """Return what ``wikigr graph neighbors --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "node": node_document(start),
        "edges": [edge_document(item) for item in edges],
        "truncated": truncated,
        "warnings": list(warnings),
    }


def paths_document(
    start: Node, end: Node | None, steps: Sequence[Step] | None, found: Paths, warnings: Sequence[str]
) -> PathsDocument:
    """Return what ``wikigr graph paths --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "from": node_document(start),
        "to": None if end is None else node_document(end),
        "metapath": None if steps is None else " -> ".join(map(str, steps)),
        "paths": [
            {
                "text": str(item),
                "nodes": [node_document(n) for n in item.nodes],
                "edges": [edge_document(e) for e in item.edges],
            }
            for item in found.paths
        ],
        "truncated": found.truncated,
        "warnings": list(warnings),
    }
