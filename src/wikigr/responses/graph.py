"""The documents of neighbors and of paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikigr.responses.pack import SCHEMA_VERSION

if TYPE_CHECKING:
    from wikigr.graph.neighborhood import Edge, Node, Step
    from wikigr.responses.shapes import EdgeShape, NeighborsDocument, NodeShape, PathsDocument
    from wikigr.retrieval.explore.paths import Paths


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
