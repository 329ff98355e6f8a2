"""Paths through a pack's graph.

A path is simple (it visits no node twice) and prints as ``A -> relation -> B -> relation -> C``. An edge traversed
against its direction prints as ``~relation``, so that all arrows point from the first node to the last.
"""

from __future__ import annotations

from dataclasses import dataclass

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import Edge, Node, Step

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
