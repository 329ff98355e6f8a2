"""Matching of names: exactly, or with typos, compared with the edit distance computed by brute force."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from wikigr.errors import UsageError
from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import index_graph
from wikigr.graph.neighborhood import Neighborhood, article
from wikigr.graph.schema import ddl
from wikigr.names import strip_possessive
from wikigr.retrieval.name_matching import NameMatcher, NodeMatch, find_node
from wikigr.suggestions import one_typo_away


@given(st.text("abc1", min_size=1, max_size=5))
def test_every_spelling_isone_typo_away(key: str) -> None:
    spellings = one_typo_away(key)
    assert len(spellings) > 26
    assert {OSA.distance(key, spelling) for spelling in spellings} == {1}


def test_possessives_are_stripped() -> None:
    cases = {"einstein's": "einstein", "cats'": "cats", "it’s": "it", "s": "s"}
    assert {word: strip_possessive(word) for word in cases} == cases


LOOKED_UP = ("Mercury (element)", "Mercury (planet)", "Photosynthesis", "SPIN", "Spin", "Chlorophyll")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with Graph(tmp_path_factory.mktemp("lookup") / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        for title in LOOKED_UP:
            graph.execute("CREATE (:Article {title: $t})", {"t": title})
        graph.execute("CREATE (:Entity {entity_id: '1905', name: '1905', type: 'value'})")
        graph.execute(
            "MATCH (a:Article), (b:Article {title: 'Mercury (planet)'}) WHERE a.title STARTS WITH 'Spin' "
            "CREATE (a)-[:LINKS_TO]->(b)"
        )
        yield graph


@pytest.fixture(scope="module")
def lookup(graph: Graph) -> NameMatcher:
    return NameMatcher(index_graph(graph, ""))


def find(name: str, lookup: NameMatcher, graph: Graph) -> NodeMatch:
    return find_node(name, lookup, Neighborhood(graph))


def test_the_node_with_the_most_neighbors_wins(lookup: NameMatcher, graph: Graph) -> None:
    found = find("mercury", lookup, graph)
    assert found == NodeMatch(article("Mercury (planet)"), "exact", (article("Mercury (element)"),))


@pytest.mark.parametrize(("name", "other"), [("SPIN", "Spin"), ("Spin", "SPIN")])
def test_the_exact_spelling_wins(lookup: NameMatcher, graph: Graph, name: str, other: str) -> None:
    assert find(name, lookup, graph) == NodeMatch(article(name), "exact", (article(other),))


def test_a_value_is_found(lookup: NameMatcher, graph: Graph) -> None:
    assert find("1905", lookup, graph).node.label == "1905"


def test_a_single_name_with_typos_is_found(lookup: NameMatcher, graph: Graph) -> None:
    assert find("photosinthesys", lookup, graph) == NodeMatch(article("Photosynthesis"), "fuzzy")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("photosynth", "Did you mean 'Photosynthesis'?"),
        ("", "`wikigr search` finds the articles that mention something."),
        ("zzzz" * 1000, "`wikigr search` finds the articles that mention something."),
    ],
)
def test_an_unknown_name_is_an_error_with_a_hint(lookup: NameMatcher, graph: Graph, name: str, hint: str) -> None:
    with pytest.raises(UsageError, match="Nothing in the pack is called") as raised:
        find(name, lookup, graph)
    assert raised.value.hint == hint
    assert len(raised.value.message) < 300
