"""Planners: what multi-strategy retrieval looks up in each iteration (reference/multi-strategy-retrieval.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wikigr.graph.neighborhood import Node


@dataclass(frozen=True, slots=True)
class PlannerState:
    """What a planner sees: the context lines so far, feedback on the last queries, and the explored nodes."""

    question: str
    iteration: int
    lines: Sequence[str]
    feedback: Sequence[str]
    explored: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to look up: ``mentions`` to link, known ``nodes``, metapaths and Cypher queries.

    ``finish`` means that the context suffices; the rest of the plan is then ignored.
    """

    mentions: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    metapaths: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    finish: bool = False

    @property
    def empty(self) -> bool:
        return not (self.mentions or self.nodes or self.metapaths or self.queries)


class Planner(Protocol):
    """Plans what to look up, at the start of every iteration."""

    def plan(self, state: PlannerState) -> Plan: ...


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Plans without a model: first the nodes that the question names, then the articles it retrieves.

    ``named`` are the nodes linked from the question; ``found`` are the articles of the best candidates, best first.
    """

    named: Sequence[Node]
    found: Sequence[Node]

    def plan(self, state: PlannerState) -> Plan:
        rounds = [nodes for nodes in (self.named, self.found) if nodes]
        if state.iteration >= len(rounds):
            return Plan(finish=True)
        return Plan(nodes=tuple(node for node in rounds[state.iteration] if node not in state.explored))
