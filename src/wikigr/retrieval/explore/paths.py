"""Paths through a pack's graph: along a metapath, or the shortest between two nodes.

A path is simple (no node twice) and reads ``A -> relation -> B -> relation -> C``; an edge that is walked against its
direction reads ``~relation``, so that the arrows still lead from the first node to the last.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Neighborhood, Node, Step

MAX_STEPS = 8
"""Steps of a metapath at most."""
MAX_HOPS = 8
"""Hops of a shortest path at most."""
# Node by node, a walk reads the edges of the next nodes too: this many at first, then as many as it has read.
_FIRST_BATCH = 4
_MAX_BATCH = 512
# Edges that one walk passes before it gives up looking for further paths; a tenth of a second.
_MAX_WALKED = 100_000
# The most frequent relations among which one is looked for that a misspelled name may mean.
_MAX_COMPARED = 5000
_SUGGESTIONS = 3

_SEPARATORS = re.compile(r"[\s_\-]+")


@dataclass(frozen=True, slots=True)
class Path:
    """Nodes in order and the edges between them: ``edges[i]`` joins ``nodes[i]`` and ``nodes[i + 1]``."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """How each edge is walked."""
        return tuple(edge.step_from(node) for node, edge in zip(self.nodes, self.edges, strict=False))

    def __str__(self) -> str:
        parts = [self.nodes[0].label]
        for step, node in zip(self.steps, self.nodes[1:], strict=True):
            parts += [str(step), node.label]
        return " -> ".join(parts)


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths in order; ``truncated`` says that a limit was reached, so that there may be more."""

    paths: tuple[Path, ...]
    truncated: bool


def parse_metapath(text: str, neighborhood: Neighborhood) -> tuple[Step, ...]:
    """Return the steps of a metapath such as ``director -> born_in -> ~LINKS_TO``.

    A step is ``LINKS_TO``, ``MENTIONS``, ``HAS_ENTITY`` or a relation of the pack, as stored or without regard to case,
    spaces, hyphens and underscores; ``~`` before it walks it from its target to its source. What is spelled as a stored
    relation is that relation, even with an arrow in it or a ``~`` before it. Raises ``UsageError`` for an empty step,
    more than ``MAX_STEPS`` steps and an unknown relation (with the nearest names).
    """
    parts = _parts(text, neighborhood)
    if len(parts) > MAX_STEPS:
        raise UsageError(f"The metapath has {len(parts)} steps; at most {MAX_STEPS} are followed.")
    steps = []
    for part in parts:
        if part.startswith("~") and not _is_structural(part) and part in neighborhood.relations:
            steps.append(Step(part))
            continue
        name = part.removeprefix("~").strip()
        if not name:
            raise UsageError(
                f"The metapath {_quoted(text)} has an empty step.",
                hint="Write it as: relation -> relation -> ~relation.",
            )
        steps.append(Step(_relation(name, neighborhood), part.startswith("~")))
    return tuple(steps)


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

    They come in the order of their nodes' names, and are looked for one after another: what lies beyond the last one is
    not read. ``truncated`` says that there are more, that a node has more edges of a step than ``max_edges_per_node``,
    or that the search stopped after the edges of ``max_visited`` nodes. Parallel edges are one step; the first section
    that states it is kept. Raises ``UsageError`` for a node that is not in the pack, no step, or a limit below 1, and
    ``QueryError``.
    """
    _check(max_paths=max_paths, max_edges_per_node=max_edges_per_node, max_visited=max_visited)
    if not steps:
        raise UsageError("A metapath needs at least one step.")
    first = neighborhood.require(start)
    reader = _Reader(neighborhood, max_edges_per_node, max_visited)
    found: Iterator[Path]
    if target is None:
        found = _Walk(reader, tuple(steps)).paths(first)
    else:
        found = _paths_between(reader, first, neighborhood.require(target), steps)
    paths = tuple(islice(found, max_paths + 1))
    return Paths(paths[:max_paths], reader.truncated or len(paths) > max_paths)


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
    """Return all shortest paths of at most ``max_hops`` edges between two nodes, edges walked either way.

    They come in the order of their nodes' names, at most ``max_paths``. Where several edges join two nodes, each fact
    is a path of its own; a link, a mention or HAS_ENTITY (the first that there is, forward before inverse) stands in
    only where there is no fact. ``relations`` are the relations walked; ``None`` is all. ``truncated`` says that there
    are more paths, that the search stopped after meeting ``max_visited`` nodes, or that a node on the way has more
    edges of a kind than ``max_edges_per_node``. The path from a node to itself has no edge. Raises ``UsageError`` for a
    node that is not in the pack or a limit out of bounds, and ``QueryError``.
    """
    _check(max_hops=max_hops, max_paths=max_paths, max_visited=max_visited, max_edges_per_node=max_edges_per_node)
    if max_hops > MAX_HOPS:
        raise UsageError(f"max_hops cannot be {max_hops}: at most {MAX_HOPS}.")
    first, last = neighborhood.require(start), neighborhood.require(end)
    if first == last:
        return Paths((Path((first,)),), truncated=False)
    ahead, back = _Side.at(first), _Side.at(last, backwards=True)
    truncated = False
    for _ in range(max_hops):
        # The side with fewer nodes at its border goes on; ties go to the start, so that the order is fixed.
        side, other = (ahead, back) if len(ahead.border) <= len(back.border) else (back, ahead)
        if not side.border:
            break
        room = max_visited - len(ahead.parents) - len(back.parents)
        cut = side.advance(neighborhood, relations, max_edges_per_node, room)
        truncated = truncated or cut
        meeting = side.border & other.border
        if meeting:
            found = tuple(islice(_joined(ahead, back, meeting, first, last), max_paths + 1))
            return Paths(found[:max_paths], truncated or len(found) > max_paths)
        if len(ahead.parents) + len(back.parents) >= max_visited:
            return Paths((), truncated=True)
    return Paths((), truncated)


def _parts(text: str, neighborhood: Neighborhood) -> list[str]:
    """The steps as they are written: what stands between arrows, or a relation that has an arrow in its name."""
    pieces = text.split("->")
    # Names are read only where one can matter.
    if len(pieces) == 1 or all(_is_structural(piece.strip()) for piece in pieces):
        return [piece.strip() for piece in pieces]
    arrows = {name: name.count("->") for name in neighborhood.relations if "->" in name}
    most = max(arrows.values(), default=0)
    parts = []
    begin = 0
    while begin < len(pieces):
        # The longest name that begins here.
        for end in range(min(begin + most + 1, len(pieces)), begin, -1):
            part = "->".join(pieces[begin:end]).strip()
            if end == begin + 1 or part in arrows or part.removeprefix("~").strip() in arrows:
                break
        parts.append(part)
        begin = end
    return parts


def _is_structural(part: str) -> bool:
    return part.removeprefix("~").strip() in STRUCTURAL


def _relation(name: str, neighborhood: Neighborhood) -> str:
    """The stored name of the relation that ``name`` is."""
    if name in STRUCTURAL:
        return name
    known = neighborhood.relations
    if name in known:
        return name
    wanted = _plain(name)
    # The most frequent first: of several that are written alike, the one that is used.
    for stored in (*known, *STRUCTURAL):
        if _plain(stored) == wanted:
            return stored
    plain: dict[str, str] = {}
    for stored in (*islice(known, _MAX_COMPARED), *STRUCTURAL):
        plain.setdefault(_plain(stored), stored)
    near = difflib.get_close_matches(wanted, plain, n=_SUGGESTIONS)
    raise UsageError(
        f"The pack has no relation {_quoted(name)}.",
        hint=f"Did you mean {', '.join(plain[match] for match in near)}?"
        if near
        else "`wikigr graph schema` lists its relations.",
    )


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:79]}…")


def _check(**limits: int) -> None:
    for name, limit in limits.items():
        if limit < 1:
            raise UsageError(f"{name} cannot be {limit}: it is at least 1.")


def _onwards(edges: Iterable[Edge], node: Node) -> list[tuple[Node, Edge]]:
    """The nodes that the edges lead to and the first edge to each, in the order of names, without ``node`` itself."""
    ends: dict[Node, Edge] = {}
    for edge in edges:
        ends.setdefault(edge.other(node), edge)
    ends.pop(node, None)
    return sorted(ends.items(), key=lambda item: item[0].rank)


@dataclass(slots=True)
class _Reader:
    """Reads the ends of steps, of so many nodes at most."""

    neighborhood: Neighborhood
    max_edges: int
    max_visited: int
    truncated: bool = False
    visited: int = 0
    _walked: int = 0

    def read(self, nodes: Sequence[Node], step: Step) -> dict[Node, list[tuple[Node, Edge]]]:
        """Where ``step`` leads from each of ``nodes``; the last ones are missing where there is no room for them."""
        room = self.max_visited - self.visited
        if len(nodes) > room:
            self.truncated = True
            nodes = nodes[:room]
        if not nodes:
            return {}
        self.visited += len(nodes)
        found = self.neighborhood.expand(nodes, relations=[step.relation], inverse=step.inverse, most=self.max_edges)
        self.truncated = self.truncated or bool(found.cut)
        return {node: _onwards(found.edges[node], node) for node in nodes}

    def may_walk(self) -> bool:
        """Count an edge that is walked; false when it is one too many."""
        self._walked += 1
        if self._walked > _MAX_WALKED:
            self.truncated = True
        return self._walked <= _MAX_WALKED


@dataclass(slots=True)
class _Walk:
    """A walk along a metapath without a target: what it has read, and what it found to be a dead end."""

    reader: _Reader
    steps: tuple[Step, ...]
    _read: dict[tuple[Node, Step], list[tuple[Node, Edge]]] = field(default_factory=dict)
    _dead: set[tuple[Node, int]] = field(default_factory=set)

    def paths(self, start: Node) -> Iterator[Path]:
        yield from self._from((start,), ())

    def _from(self, nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> Generator[Path, None, bool]:
        """Yield the paths that go on from these nodes; returns whether another way here could find one."""
        depth, here = len(edges), nodes[-1]
        if depth == len(self.steps):
            yield Path(nodes, edges)
            return True
        if (here, depth) in self._dead:
            return False
        promising = False
        ends = self._ends([here], self.steps[depth])
        for number, (end, edge) in enumerate(ends):
            if not self.reader.may_walk():
                return True
            if end in nodes:
                # Another way here may not have passed it.
                promising = True
                continue
            if depth + 1 < len(self.steps):
                self._ends([node for node, _ in ends[number : number + _MAX_BATCH]], self.steps[depth + 1])
            promising = (yield from self._from((*nodes, end), (*edges, edge))) or promising
        if not promising:
            self._dead.add((here, depth))
        return promising

    def _ends(self, nodes: Sequence[Node], step: Step) -> list[tuple[Node, Edge]]:
        """Where ``step`` leads from the first of ``nodes``; that of some others is read along with it."""
        if (nodes[0], step) not in self._read:
            batch = min(max(_FIRST_BATCH, len(self._read)), _MAX_BATCH)
            wanted = list(islice((node for node in nodes if (node, step) not in self._read), batch))
            self._read.update(((node, step), ends) for node, ends in self.reader.read(wanted, step).items())
        return self._read.get((nodes[0], step), [])


# From a node at a depth: the nodes one step on, with the edges.
_Ways = dict[tuple[Node, int], dict[tuple[Node, Edge], None]]


def _paths_between(reader: _Reader, start: Node, target: Node, steps: Sequence[Step]) -> Iterator[Path]:
    """The paths along ``steps`` from one node to another, looked for from both ends, whichever is narrower."""
    front, rear = {start: None}, {target: None}
    depth, left = 0, len(steps)
    # No path passes its ends on the way: what lies beyond them would be read and walked for nothing.
    ends_of_path = (start, target)
    ways: _Ways = defaultdict(dict)
    # The nodes one step before each node, on the side of the start.
    before: dict[tuple[Node, int], dict[tuple[Node, Edge], None]] = defaultdict(dict)
    while depth < left and front and rear:
        if len(front) <= len(rear):
            found = reader.read(list(front), steps[depth])
            depth += 1
            for node, ends in found.items():
                for end, edge in ends:
                    before[end, depth][node, edge] = None
            front = dict.fromkeys(end for ends in found.values() for end, _ in ends)
            if depth < len(steps):
                front = {node: None for node in front if node not in ends_of_path}
        else:
            left -= 1
            found = reader.read(list(rear), Step(steps[left].relation, not steps[left].inverse))
            for node, ends in found.items():
                for end, edge in ends:
                    ways[end, left][node, edge] = None
            rear = dict.fromkeys(end for ends in found.values() for end, _ in ends)
            if left > 0:
                rear = {node: None for node in rear if node not in ends_of_path}
    alive = {node: None for node in front if node in rear}
    for back in range(depth, 0, -1):
        for node in alive:
            for earlier, edge in before[node, back]:
                ways[earlier, back - 1][node, edge] = None
        alive = dict.fromkeys(earlier for node in alive for earlier, _ in before[node, back])

    def walk(nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> Iterator[Path]:
        if len(edges) == len(steps):
            yield Path(nodes, edges)
            return
        onwards = ways.get((nodes[-1], len(edges)), {})
        for node, edge in sorted(onwards, key=lambda way: way[0].rank):
            if not reader.may_walk():
                return
            if node not in nodes:
                yield from walk((*nodes, node), (*edges, edge))

    return walk((start,), ())


@dataclass(slots=True)
class _Side:
    """One side of a search from both ends: each node met, and the nodes it was reached from with the edges."""

    parents: dict[Node, list[tuple[Node, Edge]]]
    border: frozenset[Node]
    backwards: bool

    @classmethod
    def at(cls, node: Node, *, backwards: bool = False) -> _Side:
        return cls({node: []}, frozenset((node,)), backwards)

    def advance(self, neighborhood: Neighborhood, relations: Collection[str] | None, max_edges: int, room: int) -> bool:
        """Go one hop on, meeting at most ``room`` nodes more; returns whether something was left out."""
        reached: dict[Node, list[tuple[Node, Edge]]] = {}
        truncated = False
        border = sorted(self.border, key=lambda node: node.rank)
        for begin in range(0, len(border), _MAX_BATCH):
            nodes = border[begin : begin + _MAX_BATCH]
            found = neighborhood.expand(nodes, relations=relations, most=max_edges)
            truncated = truncated or bool(found.cut)
            for node in nodes:
                for other, edge in _best(found.edges[node], node, self.backwards):
                    if other in self.parents:
                        continue
                    if other not in reached and len(reached) >= room:
                        truncated = True
                        continue
                    reached.setdefault(other, []).append((node, edge))
        self.parents.update(reached)
        self.border = frozenset(reached)
        return truncated


def _best(edges: Iterable[Edge], node: Node, backwards: bool) -> Iterator[tuple[Node, Edge]]:
    """The edges to walk from ``node``, or to it when ``backwards``: each fact, or else the best of another kind."""
    by_end: dict[Node, dict[Step, Edge]] = defaultdict(dict)
    for edge in edges:
        by_end[edge.other(node)].setdefault(edge.step_from(node), edge)
    by_end.pop(node, None)
    for other, ways in by_end.items():
        facts = [edge for edge in ways.values() if edge.relation not in STRUCTURAL]
        if not facts:
            facts = [ways[min(ways, key=lambda step: (STRUCTURAL.index(step.relation), step.inverse is not backwards))]]
        yield from ((other, edge) for edge in facts)


def _joined(ahead: _Side, back: _Side, meeting: Collection[Node], start: Node, end: Node) -> Iterator[Path]:
    """The paths through the nodes where both sides met, in the order of their nodes' names."""
    onwards: dict[Node, dict[tuple[Node, Edge], None]] = defaultdict(dict)
    seen: set[Node] = set()
    pending = list(meeting)
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            for parent, edge in ahead.parents[node]:
                onwards[parent][node, edge] = None
                pending.append(parent)
    seen.clear()
    pending = list(meeting)
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            for parent, edge in back.parents[node]:
                onwards[node][parent, edge] = None
                pending.append(parent)
    ordered = {
        node: sorted(ways, key=lambda way, here=node: (way[0].rank, way[1].step_from(here), way[1].section_id))  # type: ignore[misc]
        for node, ways in onwards.items()
    }

    def walk(nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> Iterator[Path]:
        if nodes[-1] == end:
            yield Path(nodes, edges)
            return
        for node, edge in ordered.get(nodes[-1], ()):
            yield from walk((*nodes, node), (*edges, edge))

    return walk((start,), ())
