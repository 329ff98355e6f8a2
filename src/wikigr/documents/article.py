"""The documents of a section, of an article, of neighbors and of paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikigr.documents.blocks import Mark, show_blocks
from wikigr.documents.pack import SCHEMA_VERSION, fields_of, pack_document

if TYPE_CHECKING:
    from wikigr.documents.shapes import (
        ArticleDocument,
        NeighborsDocument,
        PathsDocument,
        SectionDocument,
    )
    from wikigr.graph.neighborhood import Edge, Node, Step
    from wikigr.graph_search.explore.paths import Paths
    from wikigr.pack.article_view import ArticleView, SectionView
    from wikigr.pack.manifest import Manifest


def section_document(
    view: SectionView, pack: Manifest, warnings: Sequence[str], marks: Sequence[Mark] = ()
) -> SectionDocument:
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
        "blocks": show_blocks(view.section.content, view.section.blocks, marks=marks),
        "previous": fields_of(view.previous) if view.previous is not None else None,
        "next": fields_of(view.next) if view.next is not None else None,
        "links": [fields_of(link) for link in view.links],
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
        "sections": [fields_of(entry) for entry in view.outline],
        "content": view.content,
        "links": [fields_of(link) for link in view.links],
        "backlinks": [fields_of(link) for link in view.backlinks],
        "pagerank": view.pagerank,
        "pack": pack_document(pack),
        "warnings": list(warnings),
    }


def neighbors_document(
    start: Node, edges: Sequence[Edge], truncated: bool, warnings: Sequence[str]
) -> NeighborsDocument:
    """Return what ``wikigr graph neighbors --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "node": fields_of(start),
        "edges": [fields_of(item) for item in edges],
        "truncated": truncated,
        "warnings": list(warnings),
    }


def paths_document(
    start: Node, end: Node | None, steps: Sequence[Step] | None, found: Paths, warnings: Sequence[str]
) -> PathsDocument:
    """Return what ``wikigr graph paths --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "from": fields_of(start),
        "to": None if end is None else fields_of(end),
        "metapath": None if steps is None else " -> ".join(map(str, steps)),
        "paths": [
            {"text": str(path), "nodes": list(map(fields_of, path.nodes)), "edges": list(map(fields_of, path.edges))}
            for path in found.paths
        ],
        "truncated": found.truncated,
        "warnings": list(warnings),
    }
