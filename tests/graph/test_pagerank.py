from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikigr.errors import WikigrError
from wikigr.graph.pagerank import ConvergenceError, pagerank


def ranks(edges: list[tuple[int, int]], nodes: int, **options: float) -> np.ndarray:
    flat = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return pagerank(flat[:, 0], flat[:, 1], nodes, **options)  # type: ignore[arg-type]


def test_parallel_edges_count_once_and_a_self_loop_counts() -> None:
    np.testing.assert_allclose(ranks([(0, 1), (0, 1), (0, 2)], 3), ranks([(0, 1), (0, 2)], 3))
    looped = nx.DiGraph([(0, 0), (0, 1)])
    expected = nx.pagerank(looped, tol=1e-10)
    np.testing.assert_allclose(ranks([(0, 0), (0, 1)], 2, tol=1e-10), [expected[0], expected[1]], atol=1e-8)


def test_without_edges_ranks_are_equal_and_without_nodes_empty() -> None:
    np.testing.assert_allclose(ranks([], 4), [0.25] * 4)
    assert len(ranks([], 0)) == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [("damping", 0.0), ("damping", 1.0), ("max_iter", 0), ("tol", 0.0), ("tol", -1e-6), ("tol", float("nan"))],
)
def test_an_option_outside_its_range_is_refused(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=option):
        ranks([(0, 1)], 2, **{option: value})


@pytest.mark.parametrize("edge", [(0, 2), (2, 0), (-1, 0), (0, -1)])
def test_an_edge_end_outside_the_nodes_is_refused(edge: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="node number"):
        ranks([edge], 2)


def test_ends_that_do_not_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="pair"):
        pagerank(np.array([0, 1]), np.array([0]), 2)


def test_an_iteration_that_does_not_converge_says_so() -> None:
    with pytest.raises(ConvergenceError, match="converge") as caught:
        ranks([(0, 1), (1, 2), (2, 0), (2, 1)], 3, tol=1e-15, max_iter=2)
    assert isinstance(caught.value, WikigrError)
    assert isinstance(caught.value, RuntimeError)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    nodes = draw(st.integers(1, 12))
    ends = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(ends, ends), max_size=40))


@settings(deadline=None)
@given(graph=graphs(), damping=st.sampled_from([0.2, 0.85, 0.95]), ordered=st.booleans())
def test_agrees_with_networkx_on_any_graph(
    graph: tuple[int, list[tuple[int, int]]], damping: float, ordered: bool
) -> None:
    nodes, edges = graph
    same = nx.DiGraph(edges)
    same.add_nodes_from(range(nodes))
    expected = nx.pagerank(same, alpha=damping, tol=1e-11, max_iter=5000)
    found = ranks(sorted(edges) if ordered else edges, nodes, damping=damping, tol=1e-11, max_iter=5000)
    np.testing.assert_allclose(found, [expected[node] for node in range(nodes)], atol=1e-8)


def test_stops_where_networkx_stops() -> None:
    graph = nx.gnp_random_graph(200, 0.02, seed=1, directed=True)
    expected = nx.pagerank(graph, tol=1e-4)
    np.testing.assert_allclose(ranks(list(graph.edges), 200, tol=1e-4), list(expected.values()), rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_any_integer_type_gives_the_same(dtype: type) -> None:
    draw = np.random.default_rng(3)
    sources, targets = draw.integers(0, 70_000, (2, 200_000))
    expected = pagerank(sources, targets, 70_000)
    found = pagerank(sources.astype(dtype), targets.astype(dtype), 70_000)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.float64


def test_the_order_of_the_edges_changes_nothing_nor_do_repeated_ones() -> None:
    draw = np.random.default_rng(4)
    sources, targets = draw.integers(0, 5_000, (2, 30_000))
    repeated = draw.permutation(np.concatenate([np.arange(30_000), draw.integers(0, 30_000, 10_000)]))
    ordered = np.argsort(sources, kind="stable")
    expected = pagerank(sources[ordered], targets[ordered], 5_000)
    np.testing.assert_array_equal(pagerank(sources, targets, 5_000), expected)
    np.testing.assert_array_equal(pagerank(sources[repeated], targets[repeated], 5_000), expected)


def test_more_parallel_edges_than_a_byte_can_count() -> None:
    edges = [(0, 1)] * 256 + [(0, 2), (1, 0)]
    np.testing.assert_allclose(ranks(edges, 3), ranks([(0, 1), (0, 2), (1, 0)], 3), atol=1e-15)
