"""Metapaths, such as ``director -> born_in -> ~LINKS_TO``: parse them and find the paths that follow them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step
from wikigr.graph_search.explore.paths import MAX_BATCH, Path, Paths, check_limits
from wikigr.suggestions import did_you_mean, nearest

MAX_STEPS = 8
_MAX_QUOTED_CHARS = 80

_SEPARATORS = re.compile(r"[\s_\-]+")


def parse_metapath(text: str, neighborhood: Neighborhood) -> tuple[Step, ...]:
    """Return the steps of a metapath.

    A step is ``LINKS_TO``, ``MENTIONS``, ``HAS_ENTITY`` or a relation of the pack, matched exactly or else ignoring
    case, spaces, hyphens and underscores. A leading ``~`` reverses its direction, unless it belongs to the name of a
    stored relation. Raises ``UsageError`` for an empty step, more than ``MAX_STEPS`` steps, or an unknown relation
    (with the nearest names as a hint).
    """
    parts = [part.strip() for part in text.split("->")]
    if len(parts) > MAX_STEPS:
        raise UsageError(f"The metapath has {len(parts)} steps; at most {MAX_STEPS} are allowed.")
    steps = []
    for part in parts:
        name = part.removeprefix("~").strip()
        if name != part and name not in STRUCTURAL and part in neighborhood.relations:
            steps.append(Step(part))
            continue
        if not name:
            raise UsageError(
                f"The metapath {_quote(text)} has an empty step.",
                hint="Write it as: relation -> relation -> ~relation.",
            )
        steps.append(Step(_resolve_relation(name, neighborhood), part.startswith("~")))
    return tuple(steps)


def _resolve_relation(name: str, neighborhood: Neighborhood) -> str:
    """Return the stored name of the relation ``name``."""
    if name in STRUCTURAL:
        return name
    known = neighborhood.relations
    if name in known:
        return name
    wanted = _normalize(name)
    # Most frequent first: among spelling variants, the most used one wins.
    for stored in (*known, *STRUCTURAL):
        if _normalize(stored) == wanted:
            return stored
    plain: dict[str, str] = {}
    for stored in (*islice(known, 5000), *STRUCTURAL):
        plain.setdefault(_normalize(stored), stored)
    near = [plain[match] for match in nearest(wanted, plain, most=3)]
    raise UsageError(
        f"The pack has no relation {_quote(name)}.",
        hint=did_you_mean(near, "`wikigr graph schema` lists its relations.", shown=str),
    )


def _normalize(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _quote(text: str) -> str:
    return repr(text if len(text) <= _MAX_QUOTED_CHARS else f"{text[: _MAX_QUOTED_CHARS - 1]}…")


# Maximum number of edges that one search traverses, which takes about a tenth of a second.
_MAX_TRAVERSED = 100_000

# Neighbors with the edges that lead to them.
_Neighbors = list[tuple[Node, Edge]]


def follow_metapath(
    neighborhood: Neighborhood,
    start: Node,
    steps: Sequence[Step],
    *,
    max_paths: int = 100,
    max_edges_per_node: int = 1000,
    max_visited: int = 5000,
    target: Node | None = None,
) -> Paths:
    """Return the simple paths from ``start`` along ``steps`` (to ``target``, if given), at most ``max_paths``.

    Paths are sorted by the names of their nodes and found lazily, so that nothing beyond the last one is read.
    ``truncated`` means that more paths exist, that a node has more than ``max_edges_per_node`` edges of a step, or that
    the search stopped after reading the edges of ``max_visited`` nodes. Parallel edges count once; the first section
    that states the edge is kept. Raises ``UsageError`` for a node that is not in the pack, an empty metapath, or a
    limit below 1, and ``QueryError``.
    """
    check_limits(max_paths=max_paths, max_edges_per_node=max_edges_per_node, max_visited=max_visited)
    if not steps:
        raise UsageError("A metapath needs at least one step.")
    first = neighborhood.require(start)
    reader = _StepReader(neighborhood, max_edges_per_node, max_visited)
    found: Iterator[Path]
    if target is None:
        found = _ForwardSearch(reader, tuple(steps)).paths(first)
    else:
        found = _paths_between(reader, first, neighborhood.require(target), steps)
    paths = tuple(islice(found, max_paths + 1))
    return Paths(paths[:max_paths], reader.truncated or len(paths) > max_paths)


@dataclass(slots=True)
class _StepReader:
    """Reads where steps lead, for at most ``max_visited`` nodes."""

    neighborhood: Neighborhood
    max_edges: int
    max_visited: int
    truncated: bool = False
    visited: int = 0
    _traversed: int = 0

    def read(self, nodes: Sequence[Node], step: Step) -> dict[Node, _Neighbors]:
        """Return where ``step`` leads from each of ``nodes``, without the nodes beyond ``max_visited``."""
        room = self.max_visited - self.visited
        if len(nodes) > room:
            self.truncated = True
            nodes = nodes[:room]
        if not nodes:
            return {}
        self.visited += len(nodes)
        found = self.neighborhood.expand(nodes, relations=[step.relation], inverse=step.inverse, most=self.max_edges)
        self.truncated = self.truncated or bool(found.cut)
        return {node: _neighbors(found.edges[node], node) for node in nodes}

    def may_traverse(self) -> bool:
        """Count a traversed edge; return false beyond the limit."""
        self._traversed += 1
        if self._traversed > _MAX_TRAVERSED:
            self.truncated = True
        return self._traversed <= _MAX_TRAVERSED


@dataclass(slots=True)
class _ForwardSearch:
    """Depth-first search along a metapath without a target, with caches of the edges read and of dead ends."""

    reader: _StepReader
    steps: tuple[Step, ...]
    _read: dict[tuple[Node, Step], _Neighbors] = field(default_factory=dict)
    _dead_ends: set[tuple[Node, int]] = field(default_factory=set)

    def paths(self, start: Node) -> Iterator[Path]:
        yield from self._extend((start,), ())

    def _extend(self, nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> Generator[Path, None, bool]:
        """Yield the paths that extend ``nodes``; return whether another path to the last node could find one."""
        depth, here = len(edges), nodes[-1]
        if depth == len(self.steps):
            yield Path(nodes, edges)
            return True
        if (here, depth) in self._dead_ends:
            return False
        promising = False
        ends = self._ends([here], self.steps[depth])
        for number, (end, edge) in enumerate(ends):
            if not self.reader.may_traverse():
                return True
            if end in nodes:
                # Another path to this node may not contain ``end``.
                promising = True
                continue
            if depth + 1 < len(self.steps):
                self._ends([node for node, _ in ends[number : number + MAX_BATCH]], self.steps[depth + 1])
            promising = (yield from self._extend((*nodes, end), (*edges, edge))) or promising
        if not promising:
            self._dead_ends.add((here, depth))
        return promising

    def _ends(self, nodes: Sequence[Node], step: Step) -> _Neighbors:
        """Return where ``step`` leads from the first of ``nodes``; prefetch it for some of the others."""
        if (nodes[0], step) not in self._read:
            # The edges of sibling nodes are prefetched: of a few at first, then of as many as were read.
            batch = min(max(4, len(self._read)), MAX_BATCH)
            wanted = list(islice((node for node in nodes if (node, step) not in self._read), batch))
            self._read.update(((node, step), ends) for node, ends in self.reader.read(wanted, step).items())
        return self._read.get((nodes[0], step), [])


# Neighbors by node and depth; a dict serves as an ordered set.
_NeighborsByDepth = dict[tuple[Node, int], dict[tuple[Node, Edge], None]]


def _paths_between(reader: _StepReader, start: Node, target: Node, steps: Sequence[Step]) -> Iterator[Path]:
    """Return the paths along ``steps`` between two nodes by bidirectional search, smaller frontier first."""
    front, rear = {start: None}, {target: None}
    depth, left = 0, len(steps)
    # A simple path contains its ends only once, so the search does not expand them again.
    ends_of_path = (start, target)
    following: _NeighborsByDepth = defaultdict(dict)
    # Predecessors of the nodes reached from the start.
    preceding: _NeighborsByDepth = defaultdict(dict)
    while depth < left and front and rear:
        if len(front) <= len(rear):
            found = reader.read(list(front), steps[depth])
            depth += 1
            for node, ends in found.items():
                for end, edge in ends:
                    preceding[end, depth][node, edge] = None
            front = dict.fromkeys(end for ends in found.values() for end, _ in ends)
            if depth < len(steps):
                front = {node: None for node in front if node not in ends_of_path}
        else:
            left -= 1
            found = reader.read(list(rear), Step(steps[left].relation, not steps[left].inverse))
            for node, ends in found.items():
                for end, edge in ends:
                    following[end, left][node, edge] = None
            rear = dict.fromkeys(end for ends in found.values() for end, _ in ends)
            if left > 0:
                rear = {node: None for node in rear if node not in ends_of_path}
    alive = {node: None for node in front if node in rear}
    for back in range(depth, 0, -1):
        for node in alive:
            for earlier, edge in preceding[node, back]:
                following[earlier, back - 1][node, edge] = None
        alive = dict.fromkeys(earlier for node in alive for earlier, _ in preceding[node, back])

    def walk(nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> Iterator[Path]:
        if len(edges) == len(steps):
            yield Path(nodes, edges)
            return
        neighbors = following.get((nodes[-1], len(edges)), {})
        for node, edge in sorted(neighbors, key=lambda neighbor: neighbor[0].rank):
            if not reader.may_traverse():
                return
            if node not in nodes:
                yield from walk((*nodes, node), (*edges, edge))

    return walk((start,), ())


def _neighbors(edges: Iterable[Edge], node: Node) -> _Neighbors:
    """Return the other ends of ``edges`` with the first edge to each, sorted by name, without ``node`` itself."""
    ends: dict[Node, Edge] = {}
    for edge in edges:
        ends.setdefault(edge.other(node), edge)
    ends.pop(node, None)
    return sorted(ends.items(), key=lambda item: item[0].rank)
