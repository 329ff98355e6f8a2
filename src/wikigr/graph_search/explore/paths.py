"""Paths through a pack's graph, and all shortest paths between two nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step

MAX_BATCH = 512
"""Nodes whose edges one query reads."""


@dataclass(frozen=True, slots=True)
class Path:
    """Nodes in order and the edges between them: ``edges[i]`` joins ``nodes[i]`` and ``nodes[i + 1]``."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The relation and direction of each edge."""
        return tuple(edge.step_from(node) for node, edge in zip(self.nodes, self.edges, strict=False))

    def __str__(self) -> str:
        parts = [self.nodes[0].label]
        for step, node in zip(self.steps, self.nodes[1:], strict=True):
            parts += [str(step), node.label]
        return " -> ".join(parts)


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths in order; ``truncated`` means that a limit was reached and more paths may exist."""

    paths: tuple[Path, ...]
    truncated: bool


def check_limits(**limits: int) -> None:
    """Raise ``UsageError`` for a limit below 1."""
    for name, limit in limits.items():
        if limit < 1:
            raise UsageError(f"{name} must be at least 1, not {limit}.")


MAX_HOPS = 8


def shortest_paths(
    neighborhood: Neighborhood,
    start: Node,
    end: Node,
    *,
    max_hops: int = 4,
    max_paths: int = 10,
    max_visited: int = 20_000,
    max_edges_per_node: int = 5000,
    relations: Collection[str] | None = None,
) -> Paths:
    """Return all shortest paths of at most ``max_hops`` edges between two nodes, at most ``max_paths``.

    Edges are traversed in both directions. Paths are sorted by the names of their nodes. If several facts join two
    nodes, each makes a separate path; a link, a mention or HAS_ENTITY (in this order, forward before inverse) is used
    only if no fact joins them. ``relations`` restricts the relations; ``None`` allows all. ``truncated`` means that
    more paths exist, that the search stopped after ``max_visited`` nodes, or that a node has more than
    ``max_edges_per_node`` edges of a kind. The path from a node to itself has no edges. Raises ``UsageError`` for a
    node that is not in the pack or a limit out of range, and ``QueryError``.
    """
    check_limits(max_hops=max_hops, max_paths=max_paths, max_visited=max_visited, max_edges_per_node=max_edges_per_node)
    if max_hops > MAX_HOPS:
        raise UsageError(f"max_hops must be at most {MAX_HOPS}, not {max_hops}.")
    first, last = neighborhood.require(start), neighborhood.require(end)
    if first == last:
        return Paths((Path((first,)),), truncated=False)
    ahead, back = _Direction.at(first), _Direction.at(last, backwards=True)
    truncated = False
    for _ in range(max_hops):
        # Expand the smaller frontier. Ties go to the start, which keeps the order deterministic.
        side, other = (ahead, back) if len(ahead.frontier) <= len(back.frontier) else (back, ahead)
        if not side.frontier:
            break
        room = max_visited - len(ahead.parents) - len(back.parents)
        cut = side.advance(neighborhood, relations, max_edges_per_node, room)
        truncated = truncated or cut
        meeting = side.frontier & other.frontier
        if meeting:
            found = tuple(islice(_paths_through(ahead, back, meeting, first, last), max_paths + 1))
            return Paths(found[:max_paths], truncated or len(found) > max_paths)
        if len(ahead.parents) + len(back.parents) >= max_visited:
            return Paths((), truncated=True)
    return Paths((), truncated)


@dataclass(slots=True)
class _Direction:
    """One direction of the search: each visited node with the nodes and edges that lead to it."""

    parents: dict[Node, list[tuple[Node, Edge]]]
    frontier: frozenset[Node]
    backwards: bool

    @classmethod
    def at(cls, node: Node, *, backwards: bool = False) -> _Direction:
        return cls({node: []}, frozenset((node,)), backwards)

    def steps_to(self, nodes: Collection[Node]) -> Iterator[tuple[Node, Node, Edge]]:
        """Yield each node on the way to ``nodes`` with a node and the edge that lead to it."""
        seen: set[Node] = set()
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                for parent, edge in self.parents[node]:
                    yield node, parent, edge
                    pending.append(parent)

    def advance(self, neighborhood: Neighborhood, relations: Collection[str] | None, max_edges: int, room: int) -> bool:
        """Expand the frontier by one hop and at most ``room`` nodes; return whether anything was left out."""
        reached: dict[Node, list[tuple[Node, Edge]]] = {}
        truncated = False
        frontier = sorted(self.frontier, key=lambda node: node.rank)
        for begin in range(0, len(frontier), MAX_BATCH):
            nodes = frontier[begin : begin + MAX_BATCH]
            found = neighborhood.expand(nodes, relations=relations, most=max_edges)
            truncated = truncated or bool(found.cut)
            for node in nodes:
                for other, edge in _preferred_edges(found.edges[node], node, self.backwards):
                    if other in self.parents:
                        continue
                    if other not in reached and len(reached) >= room:
                        truncated = True
                        continue
                    reached.setdefault(other, []).append((node, edge))
        self.parents.update(reached)
        self.frontier = frozenset(reached)
        return truncated


def _preferred_edges(edges: Iterable[Edge], node: Node, backwards: bool) -> Iterator[tuple[Node, Edge]]:
    """Yield the neighbors of ``node`` with each fact to them, or else the best structural edge.

    With ``backwards``, edges toward ``node`` count as forward.
    """
    by_end: dict[Node, dict[Step, Edge]] = defaultdict(dict)
    for edge in edges:
        by_end[edge.other(node)].setdefault(edge.step_from(node), edge)
    by_end.pop(node, None)
    for other, edges_by_step in by_end.items():
        facts = [edge for edge in edges_by_step.values() if edge.relation not in STRUCTURAL]
        if not facts:
            best = min(edges_by_step, key=lambda step: (STRUCTURAL.index(step.relation), step.inverse is not backwards))
            facts = [edges_by_step[best]]
        yield from ((other, edge) for edge in facts)


def _paths_through(
    ahead: _Direction, back: _Direction, meeting: Collection[Node], start: Node, end: Node
) -> Iterator[Path]:
    """Return the paths through the nodes where both directions met, sorted by the names of their nodes."""
    following: dict[Node, dict[tuple[Node, Edge], None]] = defaultdict(dict)
    for node, parent, edge in ahead.steps_to(meeting):
        following[parent][node, edge] = None
    for node, parent, edge in back.steps_to(meeting):
        following[node][parent, edge] = None
    ordered = {
        node: sorted(neighbors, key=lambda pair, here=node: (pair[0].rank, pair[1].step_from(here), pair[1].section_id))  # type: ignore[misc]
        for node, neighbors in following.items()
    }

    def walk(nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> Iterator[Path]:
        if nodes[-1] == end:
            yield Path(nodes, edges)
            return
        for node, edge in ordered.get(nodes[-1], ()):
            yield from walk((*nodes, node), (*edges, edge))

    return walk((start,), ())
