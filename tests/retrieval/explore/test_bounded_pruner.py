"""Limits of a question on a pruner: explored nodes and time."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest
from tests.retrieval.explore.films import BELL, entity

from wikigr.graph.neighborhood import Edge, Node, Step
from wikigr.llm.budget import BudgetError
from wikigr.retrieval.explore.multi_strategy import BoundedPruner, Deadline
from wikigr.retrieval.explore.triplets import CandidateRelation, FollowedTriplet, QuestionPruner, Selection

HOPS = [FollowedTriplet(BELL, Edge(BELL, "cast", entity(name))) for name in ("Ann", "Bob", "Cleo", "Dan")]


class KeepAll:
    """A pruner that keeps everything, whatever the limit."""

    always_links = True

    def begin(self, question: str, sources: Sequence[Node]) -> QuestionPruner:
        return self

    def prune_relations(self, candidates: Sequence[CandidateRelation], limit: int) -> Selection[Step]:
        return Selection(tuple(candidate.step for candidate in candidates))

    def rank_triplets(self, hops: Sequence[FollowedTriplet]) -> Sequence[FollowedTriplet]:
        return hops

    def prune_entities(self, found: Sequence[Edge], hops: Sequence[FollowedTriplet], limit: int) -> Selection[Node]:
        return Selection(tuple(hop.end for hop in hops))

    def answer_chain(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        return tuple(found)


def bounded(explored: dict[Node, None], max_nodes: int, seconds: float = 60.0) -> QuestionPruner:
    return BoundedPruner(KeepAll(), explored, max_nodes, Deadline.after(seconds)).begin("Who?", [BELL])


def test_explored_nodes_are_skipped_and_the_rest_is_limited() -> None:
    explored: dict[Node, None] = {entity("Bob"): None}
    assert bounded(explored, 3).prune_entities([], HOPS, 5).items == (entity("Ann"), entity("Cleo"))
    assert bounded(explored, 9).prune_entities([], HOPS, 1).items == (entity("Ann"),)
    assert bounded(explored, 1).prune_entities([], HOPS, 5).items == ()


def test_expanded_nodes_count_as_explored() -> None:
    explored: dict[Node, None] = {}
    bounded(explored, 9).prune_relations([CandidateRelation(BELL, Step("cast"), 4)], 5)
    assert list(explored) == [BELL]


def test_nothing_is_pruned_after_the_deadline() -> None:
    late = bounded({}, 9, seconds=-1.0)
    with pytest.raises(BudgetError, match="ran out of time"):
        late.prune_relations([], 5)
    with pytest.raises(BudgetError, match="ran out of time"):
        late.prune_entities([], HOPS, 5)
