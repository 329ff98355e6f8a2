from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.graph_edges import edges_at

from wikigr.errors import UsageError
from wikigr.graph import neighborhood as module
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Edge, Neighborhood, Node, Step, article
from wikigr.graph.schema import ddl

ADA, ENGINE = article("Ada Lovelace"), article("Analytical Engine")
ENGLISH = Node("entity", "english", "English")


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        yield graph


def add(graph: Graph, titles: list[str] = [], entities: dict[str, str | None] = {}) -> None:  # noqa: B006
    if titles:
        graph.execute("UNWIND $titles AS title CREATE (:Article {title: title})", {"titles": titles})
    for key, name in entities.items():
        graph.execute("CREATE (:Entity {entity_id: $key, name: $name})", {"key": key, "name": name})


def link(graph: Graph, a: str, table: str, b: str) -> None:
    graph.execute(
        f"MATCH (a:Article {{title: $a}}), (b:Article {{title: $b}}) CREATE (a)-[:{table}]->(b)", {"a": a, "b": b}
    )


def own(graph: Graph, a: str, e: str) -> None:
    graph.execute(
        "MATCH (a:Article {title: $a}), (e:Entity {entity_id: $e}) CREATE (a)-[:HAS_ENTITY]->(e)", {"a": a, "e": e}
    )


def state(graph: Graph, a: str, relation: str, b: str, section: str | None = None) -> None:
    graph.execute(
        "MATCH (a:Entity {entity_id: $a}), (b:Entity {entity_id: $b}) "
        "CREATE (a)-[:RELATED_TO {relation: $relation, section_id: $section}]->(b)",
        {"a": a, "b": b, "relation": relation, "section": section},
    )


@pytest.fixture
def ada(graph: Graph) -> Neighborhood:
    add(
        graph,
        ["Ada Lovelace", "Analytical Engine", "London"],
        {"ada lovelace": "Ada Lovelace", "english": "English", "analytical engine": "analytical engine"},
    )
    link(graph, "Ada Lovelace", "LINKS_TO", "London")
    link(graph, "Analytical Engine", "LINKS_TO", "Ada Lovelace")
    link(graph, "Ada Lovelace", "MENTIONS", "London")
    own(graph, "Ada Lovelace", "ada lovelace")
    own(graph, "Ada Lovelace", "english")
    state(graph, "ada lovelace", "wrote_about", "analytical engine", "Ada Lovelace#0")
    state(graph, "analytical engine", "described_in", "english")
    return Neighborhood(graph)


def test_an_article_has_the_edges_of_its_entity_too(ada: Neighborhood) -> None:
    edges = edges_at(ada, ADA)
    assert [str(edge) for edge in edges] == [
        "Ada Lovelace -> LINKS_TO -> London",
        "Ada Lovelace -> MENTIONS -> London",
        "Ada Lovelace -> HAS_ENTITY -> English",
        "Ada Lovelace -> wrote_about -> Analytical Engine",
        "Analytical Engine -> LINKS_TO -> Ada Lovelace",
    ]
    assert edges[3] == Edge(ADA, "wrote_about", ENGINE, "Ada Lovelace#0")
    assert edges_at(ada, Node("entity", "ada lovelace", "Ada Lovelace")) == edges


def test_an_entity_in_small_letters_is_the_article_from_both_sides(ada: Neighborhood) -> None:
    entity = Node("entity", "analytical engine", "analytical engine")
    assert ada.unified(entity).key == "Analytical Engine"
    assert ada.entity_of(ENGINE) == "analytical engine"
    described = Edge(ENGINE, "described_in", ENGLISH)
    assert described in edges_at(ada, ENGINE)
    assert all(edge.other(ENGINE) != ENGINE for edge in edges_at(ada, ENGINE))


def test_of_two_titles_that_fold_alike_one_is_the_entity(graph: Graph) -> None:
    add(graph, ["Go", "GO"], {"go": "GO", "board game": "Board game"})
    state(graph, "go", "is_a", "board game")
    around = Neighborhood(graph)
    assert around.entity_of(article("Go")) is None
    assert around.entity_of(article("GO")) == "go"
    assert edges_at(around, article("Go")) == []
    assert [str(edge) for edge in edges_at(around, article("GO"))] == ["GO -> is_a -> Board game"]


def test_relation_and_direction_choose(ada: Neighborhood) -> None:
    assert [str(e) for e in edges_at(ada, ADA, relation="LINKS_TO", inverse=True)] == [
        "Analytical Engine -> LINKS_TO -> Ada Lovelace"
    ]
    assert [str(e) for e in edges_at(ada, ENGINE, relation="wrote_about")] == [
        "Ada Lovelace -> wrote_about -> Analytical Engine"
    ]
    assert edges_at(ada, ENGINE, relation="wrote_about", inverse=False) == []
    assert [str(e) for e in edges_at(ada, ENGLISH, relation="HAS_ENTITY")] == ["Ada Lovelace -> HAS_ENTITY -> English"]
    assert edges_at(ada, ADA, relation="no such relation") == []


def test_many_nodes_give_the_same_edges_as_one_at_a_time(ada: Neighborhood, graph: Graph) -> None:
    titles, pairs = [f"T{n:02}" for n in range(20)], [(n, m) for n in range(20) for m in range(n)]
    add(graph, titles, {f"e{n:02}": f"E{n:02}" for n in range(20)})
    graph.copy("LINKS_TO", pa.table({"from": [titles[n] for n, _ in pairs], "to": [titles[m] for _, m in pairs]}))
    ends = {"from": [f"e{n:02}" for n, _ in pairs], "to": [f"e{m:02}" for _, m in pairs]}
    graph.copy("RELATED_TO", pa.table({**ends, "relation": ["beside"] * len(pairs), "section_id": [""] * len(pairs)}))
    around = Neighborhood(graph)
    nodes = [ADA, ENGINE, ENGLISH, *map(article, titles), *(Node("entity", f"e{n:02}", f"E{n:02}") for n in range(20))]
    together = around.expand(nodes, most=7)
    for node in nodes:
        alone = around.expand([node], most=7)
        assert together.edges[node] == alone.edges[node]
        assert (node in together.cut) == (node in alone.cut)
    assert article("T19") in together.cut
    assert len(together.edges[article("T19")]) == 7
    assert ADA not in together.cut
    for most, cut in ((6, {article("T07")}), (7, set())):
        assert around.expand([article("T07")], inverse=False, most=most).cut == cut


def test_a_joined_query_that_is_cut_is_asked_in_halves(
    ada: Neighborhood, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = [f"T{n:02}" for n in range(20)]
    add(graph, titles)
    pairs = [(title, other) for title in titles for other in titles[:5]]
    graph.copy("LINKS_TO", pa.table({"from": [a for a, _ in pairs], "to": [b for _, b in pairs]}))
    nodes = [article(title) for title in titles]
    whole = Neighborhood(graph).expand(nodes).edges
    monkeypatch.setattr(module, "_MAX_ROWS", 30)
    assert Neighborhood(graph).expand(nodes).edges == whole


def test_loops_parallel_edges_and_nameless_things(graph: Graph) -> None:
    add(graph, ["A"], {"x": "", "y": None, "z": "  Two\n lines "})
    link(graph, "A", "LINKS_TO", "A")
    link(graph, "A", "LINKS_TO", "A")
    state(graph, "x", "is", "x")
    state(graph, "x", "knows", "y", "s#1")
    state(graph, "x", "knows", "y", "s#1")
    state(graph, "x", "knows", "y", "s#2")
    state(graph, "x", "knows", "z")
    around = Neighborhood(graph)
    assert [str(edge) for edge in edges_at(around, article("A"))] == ["A -> LINKS_TO -> A"]
    nameless = Node("entity", "x", "")
    edges = edges_at(around, nameless)
    assert [str(edge) for edge in edges] == [
        "x -> is -> x", "x -> knows -> y", "x -> knows -> y", "x -> knows -> Two lines",
    ]  # fmt: skip
    assert [edge.section_id for edge in edges] == ["", "s#1", "s#2", ""]
    assert edges[0].other(nameless) == nameless
    assert around.nodes([("entity", "y")]) == [Node("entity", "y", "")]


def test_facts_are_counted_by_relation_and_direction(ada: Neighborhood) -> None:
    assert ada.facts_at(ENGINE) == {Step("described_in"): 1, Step("wrote_about", inverse=True): 1}
    assert ada.facts_at(article("London")) == {}


def test_relations_are_counted(ada: Neighborhood) -> None:
    assert ada.relations == {"HAS_ENTITY": 2, "LINKS_TO": 2, "MENTIONS": 1, "described_in": 1, "wrote_about": 1}


def test_a_fact_called_as_the_structure_does_not_change_its_numbers(ada: Neighborhood, graph: Graph) -> None:
    """No build stores such a relation, but a third-party pack may contain one."""
    state(graph, "ada lovelace", "LINKS_TO", "english")
    assert ada.relations["LINKS_TO"] == 2


def test_a_graph_without_edges(graph: Graph) -> None:
    add(graph, ["A"])
    around = Neighborhood(graph)
    assert around.relations == {}
    assert edges_at(around, article("A")) == []
    assert around.facts_at(article("A")) == {}


def test_a_node_that_is_not_there(ada: Neighborhood) -> None:
    assert edges_at(ada, article("Nobody")) == []
    assert ada.nodes([("article", "Nobody"), ("entity", "english")]) == [ENGLISH]
    assert ada.require(Node("entity", "ada lovelace", "?")) == ADA
    with pytest.raises(UsageError, match="no article 'Nobody'"):
        ada.require(article("Nobody"))
