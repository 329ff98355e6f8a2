"""The edges of a node and the paths between nodes, by the names that a user gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import Edge, Neighborhood, Node, Step
from wikigr.graph_search.explore.metapath import follow_metapath, parse_metapath
from wikigr.graph_search.explore.paths import Paths, shortest_paths
from wikigr.pack.open import Pack
from wikigr.retrieval.entity_linking import open_linker
from wikigr.retrieval.name_matching import find_nodes
from wikigr.text import scrub


@dataclass(frozen=True, slots=True)
class FoundEdges:
    """The edges of ``node``; ``truncated`` if there are more."""

    node: Node
    edges: tuple[Edge, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class FoundPaths:
    """The paths from ``start`` to ``end``, or along ``steps``."""

    start: Node
    end: Node | None
    steps: tuple[Step, ...] | None
    paths: Paths


def find_neighbors(
    pack: Pack, name: str, *, relation: str | None, inverse: bool | None, limit: int, note: Callable[[str], None]
) -> FoundEdges:
    """Return the edges of the node called ``name``, at most ``limit`` of each kind and direction.

    ``relation`` and ``inverse`` select as in ``Neighborhood.edges``. ``note`` is called as by ``find_nodes``. Raises
    ``UsageError`` for a name or a relation that the pack does not contain.
    """
    neighborhood = Neighborhood(pack.graph)
    (node,) = find_nodes([name], open_linker(pack).matcher, neighborhood, note)
    relations = None if relation is None else [_stored_relation(relation, neighborhood)]
    found = neighborhood.expand([node], relations=relations, inverse=inverse, most=limit)
    return FoundEdges(node, tuple(found.edges[node]), bool(found.cut))


def find_paths(
    pack: Pack,
    start: str,
    end: str | None,
    *,
    metapath: str | None,
    max_hops: int,
    max_paths: int,
    note: Callable[[str], None],
) -> FoundPaths:
    """Return the shortest paths between two nodes, or the paths along ``metapath``, which may end anywhere.

    ``note`` is called as by ``find_nodes``. Raises ``UsageError`` for a name or a relation that the pack does not
    contain, and without both ``end`` and ``metapath``.
    """
    if end is None and metapath is None:
        raise UsageError("Paths need two names, or one name and a metapath.")
    neighborhood = Neighborhood(pack.graph)
    steps = None if metapath is None else parse_metapath(scrub(metapath), neighborhood)
    names = [start] if end is None else [start, end]
    nodes = find_nodes(names, open_linker(pack).matcher, neighborhood, note)
    target = nodes[1] if end is not None else None
    if steps is not None:
        found = follow_metapath(neighborhood, nodes[0], steps, target=target, max_paths=max_paths)
        return FoundPaths(nodes[0], target, tuple(steps), found)
    found = shortest_paths(neighborhood, nodes[0], nodes[1], max_hops=max_hops, max_paths=max_paths)
    return FoundPaths(nodes[0], target, None, found)


def _stored_relation(name: str, neighborhood: Neighborhood) -> str:
    """Return the stored spelling of a relation."""
    steps = parse_metapath(scrub(name), neighborhood)
    if len(steps) != 1 or steps[0].inverse:
        raise UsageError(f"{name!r} is not one relation.", hint="For inverse edges add --direction in.")
    return steps[0].relation
