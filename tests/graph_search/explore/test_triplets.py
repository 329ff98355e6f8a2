"""Triplet retrieval: its limits, its record and its bookkeeping."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.graph_search.explore.films import BELL, MAYOR, by_rule, entity, fill, shown

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Edge, Neighborhood, Node, Step, article
from wikigr.graph_search.explore.rule_pruner import RulePruner
from wikigr.graph_search.explore.triplets import SharedLimits, TripletRetriever
from wikigr.llm.budget import BudgetError


def test_max_num_relations_limits(graph: Graph, encoder: Embedder) -> None:
    for most in (1, 2, 3):
        result = by_rule(graph, encoder, MAYOR, max_num_relations=most, max_num_iterations=1)
        assert len({edge.relation for edge in result.triplets}) == most


def test_max_num_entities_limits(graph: Graph, encoder: Embedder) -> None:
    explored = [
        len(by_rule(graph, encoder, MAYOR, max_num_entities=most, max_num_iterations=2).explored) for most in (1, 2, 3)
    ]
    assert explored == [2, 3, 4]
    sources = [BELL, entity("Lumen Works"), entity("Kelburg")]
    result = by_rule(graph, encoder, MAYOR, *sources, max_num_entities=2, max_num_iterations=1)
    assert result.explored == (BELL, entity("Lumen Works"))


def test_max_num_iterations_limits(graph: Graph, encoder: Embedder) -> None:
    found = []
    for most in (1, 2, 3):
        result = by_rule(graph, encoder, MAYOR, max_num_iterations=most, max_num_relations=1)
        assert result.stop_reason == "max_iterations"
        found.append(len(result.triplets))
    assert found == [1, 2, 3]


def test_max_num_triplets_limits(graph: Graph, encoder: Embedder) -> None:
    everything = by_rule(graph, encoder, MAYOR)
    assert len(everything.triplets) > 5
    for most in (1, 2, 5):
        result = by_rule(graph, encoder, MAYOR, max_num_triplets=most)
        assert len(result.triplets) == most
    assert result.stop_reason in ("max_triplets", "max_iterations")
    assert by_rule(graph, encoder, MAYOR, max_num_triplets=1).stop_reason == "max_triplets"


def test_edges_at_a_hub_are_limited(tmp_path: Path, encoder: Embedder) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [("Hub", "member", f"M{n:02}") for n in range(30)] + [("Hub", "leader", "Ann")], [])
        result = by_rule(graph, encoder, "Who are the members of Hub?", entity("Hub"), max_edges_per_relation=4)
        assert sum(edge.relation == "member" for edge in result.triplets) == 4


def test_nothing_is_explored_twice(tmp_path: Path, encoder: Embedder) -> None:
    ring = [("A1", "next", "B1"), ("B1", "next", "C1"), ("C1", "next", "A1"), ("A1", "next", "A1")]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, ring, [])
        result = by_rule(graph, encoder, "What is next, and next, and next?", entity("A1"), max_num_iterations=9)
        assert sorted(result.explored) == sorted(set(result.explored))
        assert sorted(shown(result)) == sorted(set(shown(result)))
        again = TripletRetriever(Neighborhood(graph), RulePruner(encoder, graph)).retrieve("Next?", [entity("A1")] * 3)
        assert again.explored[0] == entity("A1")


def test_without_sources_nothing_is_found(graph: Graph, encoder: Embedder) -> None:
    for sources in ([], [article("Nobody")], [article("Drama")]):
        retriever = TripletRetriever(Neighborhood(graph), RulePruner(encoder, graph))
        result = retriever.retrieve("Anything?", sources)
        # The article "Drama" is the entity "drama", which one film states.
        assert (result.stop_reason == "no_progress") == (sources != [article("Drama")])
    assert by_rule(graph, encoder, "").triplets
    assert by_rule(graph, encoder, "The Iron Bell").triplets


def test_limits_below_one_are_errors(graph: Graph, encoder: Embedder) -> None:
    for name in ("max_num_relations", "max_num_entities", "max_num_iterations", "max_num_triplets"):
        with pytest.raises(UsageError, match=f"{name} must be at least 1, not 0"):
            TripletRetriever(Neighborhood(graph), RulePruner(encoder, graph), **{name: 0})


def test_steps_have_the_direction_of_the_search() -> None:
    edge = Edge(entity("A"), "knows", entity("B"))
    assert str(edge.step_from(entity("B"))) == "~knows"
    assert edge.step_from(entity("A")) == Step("knows")


def test_searches_share_their_limits(graph: Graph, encoder: Embedder) -> None:
    retriever = TripletRetriever(Neighborhood(graph), RulePruner(encoder, graph), max_num_iterations=2)
    voss = entity("Clara Voss")
    alone = retriever.retrieve(MAYOR, [BELL])
    assert alone.explored[:2] == (BELL, voss)
    explored: dict[Node, None] = {voss: None}
    skipping = retriever.retrieve(MAYOR, [BELL], SharedLimits(explored, 9, lambda: None))
    assert skipping.explored[0] == BELL and voss not in skipping.explored
    assert set(explored) == {voss, *skipping.explored}
    # One more node may be explored, then none.
    assert len(retriever.retrieve(MAYOR, [BELL], SharedLimits({}, 2, lambda: None)).explored) == 2
    assert retriever.retrieve(MAYOR, [BELL], SharedLimits({}, 1, lambda: None)).explored == (BELL,)


def test_a_shared_time_ends_a_search(graph: Graph, encoder: Embedder) -> None:
    def check() -> None:
        raise BudgetError("late")

    retriever = TripletRetriever(Neighborhood(graph), RulePruner(encoder, graph))
    result = retriever.retrieve(MAYOR, [BELL], SharedLimits({}, 9, check))
    assert (result.stop_reason, result.triplets) == ("budget", ())
