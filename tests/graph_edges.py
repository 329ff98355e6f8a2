"""The edges of a graph at one node, for tests."""

from __future__ import annotations

from typing import Any

from wikigr.graph.neighborhood import Edge, Neighborhood, Node


def edges_at(around: Neighborhood, node: Node, relation: str | None = None, **selected: Any) -> list[Edge]:
    """Return the edges at ``node``, of one ``relation`` if it is given."""
    relations = None if relation is None else [relation]
    return list(around.expand([node], relations=relations, **selected).edges[node])
