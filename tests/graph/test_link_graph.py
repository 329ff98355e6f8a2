from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from wikigr.graph.engine import Graph, QueryError
from wikigr.graph.link_graph import LinkGraph, read_links
from wikigr.graph.schema import ddl

LINKS = [("B", "A"), ("A", "C"), ("C", "A"), ("A", "B"), ("D", "D"), ("D", "Ünï 'q'"), ("Ünï 'q'", "A")]
TITLES = ["A", "B", "C", "D", "Ünï 'q'"]


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        yield graph


def fill(graph: Graph, links: list[tuple[str, str]] = LINKS) -> None:
    for statement in ddl(4):
        graph.execute(statement)
    for title in TITLES:
        graph.execute("CREATE (:Article {title: $title})", {"title": title})
    graph.copy("LINKS_TO", pa.table({"from": [a for a, _ in links], "to": [b for _, b in links]}))


def named(links: LinkGraph) -> list[tuple[str, str]]:
    pairs = zip(links.sources, links.targets, strict=True)
    return sorted((links.titles[source], links.titles[target]) for source, target in pairs)


def test_titles_and_links_come_back(graph: Graph) -> None:
    fill(graph)
    links = read_links(graph)
    assert sorted(links.titles) == sorted(TITLES)
    assert named(links) == sorted(LINKS)
    assert links.sources.dtype == links.targets.dtype == np.int32


@pytest.mark.parametrize("gone", ["A", "Ünï 'q'"])
def test_deleted_articles_leave_no_gap(graph: Graph, gone: str) -> None:
    fill(graph)
    graph.execute("MATCH (a:Article {title: $title}) DETACH DELETE a", {"title": gone})
    links = read_links(graph)
    assert sorted(links.titles) == sorted(title for title in TITLES if title != gone)
    assert named(links) == sorted(pair for pair in LINKS if gone not in pair)


def test_a_deleted_link_is_not_read_and_a_doubled_one_is_read_twice(graph: Graph) -> None:
    fill(graph, [*LINKS, ("A", "C")])
    graph.execute("MATCH (:Article {title: 'D'})-[r:LINKS_TO]->() DELETE r")
    assert named(read_links(graph)) == sorted([*(pair for pair in LINKS if pair[0] != "D"), ("A", "C")])


def test_a_temporary_folder_with_a_quote_in_its_name(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "it's here"
    odd.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(odd))
    fill(graph)
    assert named(read_links(graph)) == sorted(LINKS)
    assert not list(odd.iterdir())


def test_no_links_and_no_articles(graph: Graph) -> None:
    for statement in ddl(4):
        graph.execute(statement)
    links = read_links(graph)
    assert (links.titles, len(links.sources), len(links.targets)) == ([], 0, 0)
    graph.execute("CREATE (:Article {title: 'A'})")
    links = read_links(graph)
    assert (links.titles, len(links.sources), len(links.targets)) == (["A"], 0, 0)


def test_a_missing_table_is_a_query_error(graph: Graph) -> None:
    with pytest.raises(QueryError, match="Article"):
        read_links(graph)
    graph.execute("CREATE NODE TABLE Article(title STRING PRIMARY KEY)")
    graph.execute("CREATE (:Article {title: 'A'})")
    with pytest.raises(QueryError, match="LINKS_TO"):
        read_links(graph)
