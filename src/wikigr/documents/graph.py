"""The documents of the edges of a node and of the paths between nodes, by the names that a user gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wikigr.documents.pack import SCHEMA_VERSION, fields_of
from wikigr.errors import UsageError
from wikigr.graph.neighborhood import Neighborhood
from wikigr.graph_search.explore.metapath import follow_metapath, parse_metapath
from wikigr.graph_search.explore.paths import shortest_paths
from wikigr.pack.open import Pack
from wikigr.retrieval.entity_linking import open_linker
from wikigr.retrieval.name_matching import find_nodes
from wikigr.text import scrub

if TYPE_CHECKING:
    from wikigr.documents.shapes import NeighborsDocument, PathsDocument


def neighbors_document(
    pack: Pack, name: str, *, relation: str | None, inverse: bool | None, limit: int, note: Callable[[str], None]
) -> NeighborsDocument:
    """Return what ``wikigr graph neighbors --json`` prints: at most ``limit`` edges of each kind and direction.

    ``relation`` and ``inverse`` select as in ``Neighborhood.expand``. ``note`` is called as by ``find_nodes``. Raises
    ``UsageError`` for a name or a relation that the pack does not contain.
    """
    neighborhood = Neighborhood(pack.graph)
    (node,) = find_nodes([name], open_linker(pack).matcher, neighborhood, note)
    relations = None
    if relation is not None:
        (step, *others) = parse_metapath(scrub(relation), neighborhood)
        if others or step.inverse:
            raise UsageError(f"{relation!r} is not one relation.", hint="For inverse edges add --direction in.")
        relations = [step.relation]
    found = neighborhood.expand([node], relations=relations, inverse=inverse, most=limit)
    return {
        "schema_version": SCHEMA_VERSION,
        "node": fields_of(node),
        "edges": [fields_of(edge) for edge in found.edges[node]],
        "truncated": bool(found.cut),
        "warnings": [*filter(None, [pack.graph_index_warning])],
    }


def paths_document(
    pack: Pack,
    start: str,
    end: str | None,
    *,
    metapath: str | None,
    max_hops: int,
    max_paths: int,
    note: Callable[[str], None],
) -> PathsDocument:
    """Return what ``wikigr graph paths --json`` prints: the shortest paths, or those along ``metapath`` to any node.

    ``note`` is called as by ``find_nodes``. Raises ``UsageError`` for a name or a relation that the pack does not
    contain, and without both ``end`` and ``metapath``.
    """
    if end is None and metapath is None:
        raise UsageError("Paths need two names, or one name and a metapath.")
    neighborhood = Neighborhood(pack.graph)
    steps = None if metapath is None else parse_metapath(scrub(metapath), neighborhood)
    first, *others = find_nodes([start] if end is None else [start, end], open_linker(pack).matcher, neighborhood, note)
    target = others[0] if others else None
    if steps is not None:
        found = follow_metapath(neighborhood, first, steps, target=target, max_paths=max_paths)
    else:
        found = shortest_paths(neighborhood, first, others[0], max_hops=max_hops, max_paths=max_paths)
    return {
        "schema_version": SCHEMA_VERSION,
        "from": fields_of(first),
        "to": None if target is None else fields_of(target),
        "metapath": None if steps is None else " -> ".join(map(str, steps)),
        "paths": [
            {"text": str(path), "nodes": list(map(fields_of, path.nodes)), "edges": list(map(fields_of, path.edges))}
            for path in found.paths
        ],
        "truncated": found.truncated,
        "warnings": [*filter(None, [pack.graph_index_warning])],
    }
