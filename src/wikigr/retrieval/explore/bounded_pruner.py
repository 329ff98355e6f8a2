"""A pruner that enforces the limits of a whole question: explored nodes and time."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wikigr.graph.neighborhood import Edge, Node, Step
from wikigr.llm.budget import BudgetError
from wikigr.retrieval.explore.triplets import CandidateRelation, FollowedTriplet, Pruner, QuestionPruner, Selection


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of the time for one question; ``at`` is a value of ``time.monotonic``."""

    seconds: float
    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(seconds, time.monotonic() + seconds)

    @property
    def left(self) -> float:
        return self.at - time.monotonic()

    def check(self) -> float:
        """Return the seconds that are left; raises ``BudgetError`` after the deadline."""
        left = self.left
        if left <= 0:
            raise BudgetError(f"The search of the graph ran out of time ({self.seconds:g} s per question).")
        return left


class BoundedPruner:
    """Wraps a pruner so that it skips nodes in ``explored`` and adds nodes to it up to ``max_nodes``.

    Raises ``BudgetError`` instead of pruning after the deadline.
    """

    def __init__(self, pruner: Pruner, explored: dict[Node, None], max_nodes: int, deadline: Deadline) -> None:
        self._pruner = pruner
        self._explored = explored
        self._max_nodes = max_nodes
        self._deadline = deadline

    @property
    def always_links(self) -> bool:
        return self._pruner.always_links

    def begin(self, question: str, sources: Sequence[Node]) -> QuestionPruner:
        pruner = self._pruner.begin(question, sources)
        return _BoundedQuestionPruner(pruner, self._explored, self._max_nodes, self._deadline)


@dataclass(frozen=True, slots=True)
class _BoundedQuestionPruner:
    pruner: QuestionPruner
    explored: dict[Node, None]
    max_nodes: int
    deadline: Deadline

    def prune_relations(self, candidates: Sequence[CandidateRelation], limit: int) -> Selection[Step]:
        self.deadline.check()
        selected = self.pruner.prune_relations(candidates, limit)
        if not selected.finish:
            self.explored.update(dict.fromkeys(candidate.node for candidate in candidates))
        return selected

    def rank_triplets(self, hops: Sequence[FollowedTriplet]) -> Sequence[FollowedTriplet]:
        return self.pruner.rank_triplets(hops)

    def prune_entities(self, found: Sequence[Edge], hops: Sequence[FollowedTriplet], limit: int) -> Selection[Node]:
        self.deadline.check()
        unexplored = [hop for hop in hops if hop.end not in self.explored]
        room = min(limit, self.max_nodes - len(self.explored))
        if not unexplored or room < 1:
            return Selection()
        selected = self.pruner.prune_entities(found, unexplored, room)
        return Selection(selected.items[:room], selected.finish)

    def answer_chain(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        return self.pruner.answer_chain(found)
