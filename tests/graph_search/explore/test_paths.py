"""Shortest paths: order, facts and links, limits, and agreement with networkx."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from tests.graph_search.explore.links import entity, fill, shortest

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood, Node, article
from wikigr.graph_search.explore.paths import Path as Route
from wikigr.graph_search.explore.paths import shortest_paths


def test_all_shortest_paths_in_both_directions(around: Neighborhood) -> None:
    assert shortest(around, article("A"), article("D")) == ["A -> LINKS_TO -> E -> LINKS_TO -> D"]
    # The longer path C <- B -> A -> E is left out.
    assert shortest(around, article("C"), article("E")) == ["C -> LINKS_TO -> D -> ~LINKS_TO -> E"]
    assert shortest(around, article("F"), article("B")) == ["F -> LINKS_TO -> D -> ~LINKS_TO -> C -> ~LINKS_TO -> B"]


def test_each_fact_between_two_nodes_is_a_separate_path(around: Neighborhood) -> None:
    assert shortest(around, entity("ada"), entity("bob")) == ["Ada -> knows -> Bob", "Ada -> spouse -> Bob"]
    assert shortest(around, entity("bob"), entity("ada")) == ["Bob -> ~knows -> Ada", "Bob -> ~spouse -> Ada"]
    assert shortest(around, entity("bob"), entity("ada"), relations=["spouse"]) == ["Bob -> ~spouse -> Ada"]
    assert shortest(around, entity("bob"), entity("ada"), relations=["born_in"]) == [
        "Bob -> born_in -> London -> ~born_in -> Ada"
    ]


def test_forward_links_are_preferred_to_backward_links(around: Neighborhood) -> None:
    assert shortest(around, article("A"), article("B")) == ["A -> LINKS_TO -> B"]
    assert shortest(around, article("B"), article("A")) == ["B -> LINKS_TO -> A"]


def test_forward_links_are_preferred_on_the_far_side_too(tmp_path: Path) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [("X", "W"), ("X", "Y"), ("Y", "X"), ("Y", "Z"), ("Z", "Y")], [])
        assert shortest(Neighborhood(graph), article("X"), article("Z")) == ["X -> LINKS_TO -> Y -> LINKS_TO -> Z"]


def test_max_hops_limits_the_length(around: Neighborhood) -> None:
    assert shortest(around, article("F"), article("B"), max_hops=2) == []
    assert not shortest_paths(around, article("F"), article("B"), max_hops=2).truncated
    assert len(shortest(around, article("F"), article("B"), max_hops=3)) == 1
    assert shortest(around, article("A"), entity("ada")) == []


def test_from_a_node_to_itself(around: Neighborhood) -> None:
    assert shortest_paths(around, article("A"), article("A")).paths == (Route((article("A"),)),)
    assert shortest(around, article("A"), article("A")) == ["A"]


def test_every_limit_of_shortest_paths_is_reported(complete: Neighborhood) -> None:
    neighbors = {"max_hops": 2, "relations": ["LINKS_TO"]}
    assert not shortest_paths(complete, article("N00"), article("N01"), **neighbors).truncated  # type: ignore[arg-type]
    few = shortest_paths(complete, article("N00"), article("N29"), max_edges_per_node=2)
    assert few.truncated
    none = shortest_paths(complete, article("N00"), article("N29"), max_visited=3)
    assert (none.paths, none.truncated) == ((), True)


def test_max_paths_limits_shortest_paths(tmp_path: Path) -> None:
    middle = [f"M{n}" for n in range(9)]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [("A", m) for m in middle] + [(m, "Z") for m in middle], [])
        around = Neighborhood(graph)
        whole = shortest_paths(around, article("A"), article("Z"), max_paths=9)
        assert [path.nodes[1].name for path in whole.paths] == middle
        assert not whole.truncated
        part = shortest_paths(around, article("A"), article("Z"), max_paths=4)
        assert part.paths == whole.paths[:4]
        assert part.truncated


def test_shortest_paths_are_those_of_networkx(tmp_path: Path) -> None:
    random = nx.gnm_random_graph(40, 70, seed=3)
    links = [*((f"N{a:02}", f"N{b:02}") for a, b in random.edges), ("Z0", "Z1")]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, links, [])
        around = Neighborhood(graph)
        titles = sorted({title for pair in links for title in pair})
        peer = nx.Graph(links)
        compared = unconnected = 0
        for start, end in [(a, b) for a in titles[:6] for b in titles[-6:]]:
            if not nx.has_path(peer, start, end):
                assert shortest(around, article(start), article(end), max_hops=8) == []
                unconnected += 1
                continue
            wanted = sorted(map(tuple, nx.all_shortest_paths(peer, start, end)))
            if len(wanted[0]) > 9:
                continue
            found = shortest_paths(around, article(start), article(end), max_hops=8, max_paths=1000)
            assert [tuple(node.key for node in path.nodes) for path in found.paths] == wanted
            compared += 1
        assert (compared, unconnected) == (24, 12)


def test_bad_arguments_are_errors(around: Neighborhood) -> None:
    with pytest.raises(UsageError, match="no entity"):
        shortest_paths(around, article("A"), Node("entity", "none", "None"))
    with pytest.raises(UsageError, match="max_hops must be at most 8, not 9"):
        shortest_paths(around, article("A"), article("B"), max_hops=9)
