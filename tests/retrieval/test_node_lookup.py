"""Looking up one node by name: exact matches, ties, typos, values and suggestions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import index_graph
from wikigr.graph.neighborhood import Neighborhood, article
from wikigr.graph.schema import ddl
from wikigr.retrieval.name_matching import NameMatcher, NodeMatch, find_node

TITLES = ("Mercury (element)", "Mercury (planet)", "Photosynthesis", "SPIN", "Spin", "Chlorophyll")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with Graph(tmp_path_factory.mktemp("lookup") / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        for title in TITLES:
            graph.execute("CREATE (:Article {title: $t})", {"t": title})
        graph.execute("CREATE (:Entity {entity_id: '1905', name: '1905', type: 'value'})")
        graph.execute(
            "MATCH (a:Article), (b:Article {title: 'Mercury (planet)'}) WHERE a.title STARTS WITH 'Spin' "
            "CREATE (a)-[:LINKS_TO]->(b)"
        )
        yield graph


@pytest.fixture(scope="module")
def matcher(graph: Graph) -> NameMatcher:
    return NameMatcher(index_graph(graph, ""))


def find(name: str, matcher: NameMatcher, graph: Graph) -> NodeMatch:
    return find_node(name, matcher, Neighborhood(graph))


def test_the_node_with_the_most_neighbors_wins(matcher: NameMatcher, graph: Graph) -> None:
    found = find("mercury", matcher, graph)
    assert found == NodeMatch(article("Mercury (planet)"), "exact", (article("Mercury (element)"),))


@pytest.mark.parametrize(("name", "other"), [("SPIN", "Spin"), ("Spin", "SPIN")])
def test_the_exact_spelling_wins(matcher: NameMatcher, graph: Graph, name: str, other: str) -> None:
    assert find(name, matcher, graph) == NodeMatch(article(name), "exact", (article(other),))


def test_a_value_is_found(matcher: NameMatcher, graph: Graph) -> None:
    assert find("1905", matcher, graph).node.label == "1905"


def test_a_single_name_with_typos_is_found(matcher: NameMatcher, graph: Graph) -> None:
    assert find("photosinthesys", matcher, graph) == NodeMatch(article("Photosynthesis"), "fuzzy")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("photosynth", "Did you mean 'Photosynthesis'?"),
        ("", "`wikigr graph link` finds the names that a text mentions."),
        ("zzzz" * 1000, "`wikigr graph link` finds the names that a text mentions."),
    ],
)
def test_an_unknown_name_is_an_error_with_a_hint(matcher: NameMatcher, graph: Graph, name: str, hint: str) -> None:
    with pytest.raises(UsageError, match="Nothing in the pack is called") as raised:
        find(name, matcher, graph)
    assert raised.value.hint == hint
    assert len(raised.value.message) < 300
