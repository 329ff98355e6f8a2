from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest
from tests.graph_search.explore import films, links

from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """The graph of films, with a link between two of them."""
    with Graph(tmp_path_factory.mktemp("films") / "pack.db", read_only=False) as graph:
        films.fill(graph, films.FACTS, ["The Iron Bell", "The Glass Door", "Drama"])
        graph.execute(
            "MATCH (a:Article {title: 'The Iron Bell'}), (b:Article {title: 'The Glass Door'}) "
            "CREATE (a)-[:LINKS_TO]->(b)"
        )
        yield graph


@pytest.fixture(scope="module")
def link_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with Graph(tmp_path_factory.mktemp("links") / "pack.db", read_only=False) as graph:
        links.fill(graph, links.LINKS, links.FACTS)
        yield graph


@pytest.fixture
def around(link_graph: Graph) -> Neighborhood:
    return Neighborhood(link_graph)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neighborhood]:
    """A complete graph of 30 articles."""
    with Graph(tmp_path_factory.mktemp("complete") / "pack.db", read_only=False) as graph:
        links.fill(graph, list(permutations([f"N{n:02}" for n in range(30)], 2)), [])
        yield Neighborhood(graph)
