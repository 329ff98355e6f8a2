from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from wikigr.graph.pagerank import pagerank


def ranks(edges: list[tuple[int, int]], nodes: int, **options: float) -> np.ndarray:
    flat = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return pagerank(flat[:, 0], flat[:, 1], nodes, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("damping", [0.5, 0.85, 0.99])
def test_agrees_with_networkx_on_random_graphs_with_dangling_nodes(seed: int, damping: float) -> None:
    graph = nx.gnp_random_graph(60, 0.03, seed=seed, directed=True)
    assert any(degree == 0 for _, degree in graph.out_degree)
    expected = nx.pagerank(graph, alpha=damping, tol=1e-10, max_iter=5000)
    found = ranks(list(graph.edges), 60, damping=damping, tol=1e-10, max_iter=5000)
    np.testing.assert_allclose(found, [expected[node] for node in range(60)], atol=1e-8)
    assert found.sum() == pytest.approx(1.0)


def test_parallel_edges_count_once_and_a_self_loop_counts() -> None:
    np.testing.assert_allclose(ranks([(0, 1), (0, 1), (0, 2)], 3), ranks([(0, 1), (0, 2)], 3))
    looped = nx.DiGraph([(0, 0), (0, 1)])
    expected = nx.pagerank(looped, tol=1e-10)
    np.testing.assert_allclose(ranks([(0, 0), (0, 1)], 2, tol=1e-10), [expected[0], expected[1]], atol=1e-8)


def test_no_edges_share_evenly_and_no_nodes_give_nothing() -> None:
    np.testing.assert_allclose(ranks([], 4), [0.25] * 4)
    assert len(ranks([], 0)) == 0


@pytest.mark.parametrize("damping", [0.0, 1.0, -0.1, 2.0])
def test_damping_outside_its_range_is_refused(damping: float) -> None:
    with pytest.raises(ValueError, match="damping"):
        ranks([(0, 1)], 2, damping=damping)


def test_an_iteration_that_does_not_converge_says_so() -> None:
    with pytest.raises(ValueError, match="converge"):
        ranks([(0, 1), (1, 2), (2, 0), (2, 1)], 3, tol=1e-15, max_iter=2)
