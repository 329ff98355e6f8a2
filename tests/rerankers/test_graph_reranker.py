"""reference/graph-reranker.md: every example, error and row, on real databases."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from wikigr.rerankers.graph_reranker import GraphReranker, graph_weights

Make = Callable[..., Any]
# B is linked to by all; D links nowhere; E is linked by nobody.
TITLES = ["A", "B", "C", "D", "E"]
LINKS = [("A", "B"), ("C", "B"), ("E", "B"), ("B", "D"), ("A", "C")]


@pytest.fixture
def reranker(link_graph: Make) -> GraphReranker:
    return GraphReranker(link_graph(TITLES, LINKS))


def test_defaults(reranker: GraphReranker) -> None:
    assert (reranker.alpha, reranker.beta, reranker.cache_ttl) == (0.7, 0.3, 3600)
    assert (reranker._pagerank_cache, reranker._cache_timestamp) == (None, 0.0)


@pytest.mark.parametrize(
    ("alpha", "beta", "says"),
    [
        (0.5, 0.6, "alpha \\+ beta must equal 1.0"),
        (0.5, 0.4, "alpha \\+ beta"),
        (1.0, 0.0, "beta must lie"),
        (0.0, 1.0, "alpha must lie"),
        (1.2, -0.2, "alpha must lie"),
        (float("nan"), 0.5, "alpha must lie"),
    ],
)
def test_weights_out_of_range(link_graph: Make, alpha: float, beta: float, says: str) -> None:
    conn = link_graph(["A"], [])
    with pytest.raises(ValueError, match=says):
        GraphReranker(conn, alpha=alpha, beta=beta)


def test_weights_may_miss_one_by_a_rounding_error(link_graph: Make) -> None:
    assert GraphReranker(link_graph(["A"], []), alpha=0.1 + 0.2, beta=0.7).beta == 0.7


@pytest.mark.parametrize("conn", [None, "pack.db", object()])
def test_what_is_no_connection(conn: object) -> None:
    with pytest.raises(TypeError, match="Connection"):
        GraphReranker(conn)


def test_the_demo_pack_agrees_with_networkx(physics_conn: Any) -> None:
    rows = physics_conn.execute("MATCH (a:Article)-[:LINKS_TO]->(b:Article) RETURN a.title, b.title").get_all()
    graph = nx.DiGraph()
    graph.add_nodes_from(row[0] for row in physics_conn.execute("MATCH (a:Article) RETURN a.title").get_all())
    graph.add_edges_from(map(tuple, rows))
    assert GraphReranker(physics_conn).compute_pagerank() == pytest.approx(nx.pagerank(graph), abs=1e-6)


def test_a_linked_article_is_promoted(reranker: GraphReranker) -> None:
    results = [{"title": "E", "score": 0.95, "note": "kept"}, {"title": "B", "score": 0.90}]
    reranked = reranker.rerank(results, top_k=10)
    assert [result["title"] for result in reranked] == ["B", "E"]
    assert reranked[1]["note"] == "kept"
    assert results[0]["score"] == 0.95
    normal = reranker._normalize_scores(reranker.compute_pagerank())
    assert reranked[0]["score"] == pytest.approx(0.7 * 0.90 + 0.3 * normal["B"])
    assert len(reranker.rerank(results, top_k=1)) == 1


def test_weights_matter(link_graph: Make) -> None:
    conn = link_graph(TITLES, LINKS)
    results = [{"title": "E", "score": 0.95}, {"title": "B", "score": 0.50}]
    first = {alpha: GraphReranker(conn, alpha, 1 - alpha).rerank(results)[0]["title"] for alpha in (0.9, 0.5)}
    assert first == {0.9: "E", 0.5: "B"}


def test_titles_are_found_folded_and_unknown_ones_get_the_median(reranker: GraphReranker) -> None:
    normal = reranker._normalize_scores(reranker.compute_pagerank())
    found = {r["title"]: r["score"] for r in reranker.rerank([{"title": t, "score": 0.5} for t in ("c", "_b ", "?")])}
    assert found["c"] == pytest.approx(0.35 + 0.3 * normal["C"])
    assert found["_b "] == pytest.approx(0.35 + 0.3 * normal["B"])
    assert found["?"] == pytest.approx(0.35 + 0.3 * sorted(normal.values())[2])


def test_ties_go_by_title(reranker: GraphReranker) -> None:
    results = [{"title": title, "score": 0.5} for title in ("z", "y", "x")]
    assert [result["title"] for result in reranker.rerank(results)] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("results", "says"),
    [
        ([], "empty"),
        ([{"score": 0.5}], "result 1 has no 'title'"),
        ([{"title": "A", "score": 1}, {"title": "B"}], "result 2 has no 'score'"),
        ([{"title": "A", "score": "0.5"}], "score of result 1 is '0.5'"),
        ([{"title": "A", "score": float("nan")}], "nan"),
        ([{"title": "A", "score": True}], "True"),
        ([{"title": None, "score": 0.5}], "title of result 1"),
    ],
)
def test_results_that_lack_something(reranker: GraphReranker, results: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        reranker.rerank(results)


def test_top_k_below_one(reranker: GraphReranker) -> None:
    with pytest.raises(ValueError, match="top_k"):
        reranker.rerank([{"title": "A", "score": 1.0}], top_k=0)


def test_without_links_order_and_scores_stay(link_graph: Make) -> None:
    reranker = GraphReranker(link_graph(["A", "B"], []))
    assert reranker.compute_pagerank() == {}
    results = [{"title": "B", "score": 0.1}, {"title": "A", "score": 0.9}]
    assert reranker.rerank(results) == results


def test_no_article_or_no_table_is_a_runtime_error(link_graph: Make) -> None:
    with pytest.raises(RuntimeError, match="no articles"):
        GraphReranker(link_graph([], [])).compute_pagerank()
    conn = link_graph(["A"], [])
    conn.execute("DROP TABLE LINKS_TO")
    with pytest.raises(RuntimeError, match="LINKS_TO"):
        GraphReranker(conn).rerank([{"title": "A", "score": 1.0}])


def test_normalization_is_min_max(reranker: GraphReranker) -> None:
    raw = {"A": 0.02, "B": 0.01, "C": 0.03}
    assert reranker._normalize_scores(raw) == pytest.approx({"A": 0.5, "B": 0.0, "C": 1.0})
    assert reranker._normalize_scores({"A": 0.5, "B": 0.5}) == {"A": 0.0, "B": 0.0}
    assert reranker._normalize_scores({}) == {}


def test_the_cache_expires(link_graph: Make) -> None:
    reranker = GraphReranker(link_graph(TITLES, LINKS), cache_ttl=1)
    assert not reranker._is_cache_valid()
    first = reranker.compute_pagerank()
    assert reranker._is_cache_valid()
    reranker._cache_timestamp -= 2
    assert not reranker._is_cache_valid()
    assert reranker.compute_pagerank() == first
    # A clock that was set back leaves a time in the future.
    reranker._cache_timestamp = time.time() + 1000
    assert not reranker._is_cache_valid()


def test_the_cache_spares_the_database_until_it_is_dropped(link_graph: Make) -> None:
    conn = link_graph(TITLES, LINKS)
    reranker = GraphReranker(conn)
    before = reranker.compute_pagerank()
    conn.execute("MATCH (:Article)-[r:LINKS_TO]->(:Article {title: 'B'}) DELETE r")
    assert reranker.compute_pagerank() == before
    assert reranker.compute_pagerank(damping=0.5) != before
    reranker._pagerank_cache = None
    assert reranker.compute_pagerank()["B"] < before["B"]


def test_precomputed_scores_are_loaded_as_documented(reranker: GraphReranker, tmp_path: Path) -> None:
    file = tmp_path / "pagerank_cache.json"
    file.write_text(json.dumps({"E": 0.9, "B": 0.1}))
    reranker._pagerank_cache = json.loads(file.read_text())
    reranker._cache_timestamp = time.time()
    assert reranker.compute_pagerank() == {"E": 0.9, "B": 0.1}
    results = [{"title": "B", "score": 0.9}, {"title": "E", "score": 0.9}]
    assert [result["title"] for result in reranker.rerank(results)] == ["E", "B"]


@pytest.mark.parametrize(
    ("articles", "alpha", "beta", "ttl"),
    [
        (1, 0.8, 0.2, 1800),
        (99, 0.8, 0.2, 1800),
        (100, 0.7, 0.3, 3600),
        (499, 0.7, 0.3, 3600),
        (500, 0.6, 0.4, 7200),
        (1000, 0.6, 0.4, 7200),
        (50_000, 0.6, 0.4, 7200),
    ],
)
def test_weights_by_pack_size(articles: int, alpha: float, beta: float, ttl: int) -> None:
    assert graph_weights(articles) == (alpha, beta, ttl)
