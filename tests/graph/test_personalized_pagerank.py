"""Personalized PageRank compared with a dense reference implementation and with networkx."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from wikigr.graph.graph_index import GraphIndex
from wikigr.graph.personalized_pagerank import personalized_pagerank

RESTART = 0.4


def adjacency(nodes: int, edges: Sequence[tuple[int, int]]) -> GraphIndex:
    """Return an index of ``nodes`` nodes without names."""
    linked = nx.Graph(edge for edge in edges if edge[0] != edge[1])
    rows = [sorted(linked[n]) if n in linked else [] for n in range(nodes)]
    return GraphIndex(
        digest="",
        articles=nodes,
        text=b"",
        ends=np.zeros(2 * nodes, dtype=np.int64),
        indptr=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        indices=np.array([n for row in rows for n in row], dtype=np.int32),
        name_hashes=np.zeros(0, dtype=np.uint64),
        name_nodes=np.zeros(0, dtype=np.int32),
    )


def transition(index: GraphIndex) -> np.ndarray:
    """Return the dense transition matrix: column n is proportional to 1 / sqrt(degree) of the targets."""
    matrix = np.zeros((len(index), len(index)))
    for n in range(len(index)):
        neighbors = index.indices[index.indptr[n] : index.indptr[n + 1]]
        if len(neighbors):
            matrix[neighbors, n] = 1 / np.sqrt(index.degrees[neighbors])
            matrix[:, n] /= matrix[:, n].sum()
    return matrix


def directed(index: GraphIndex) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(index)))
    matrix = transition(index)
    graph.add_weighted_edges_from((s, t, matrix[t, s]) for t, s in zip(*np.nonzero(matrix), strict=True))
    return graph


@st.composite
def walks(draw: st.DrawFn) -> tuple[GraphIndex, dict[int, float], float]:
    nodes = draw(st.integers(1, 12))
    number = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(number, number), max_size=30))
    seeds = draw(st.dictionaries(number, st.floats(1e-3, 10.0), min_size=1, max_size=4))
    return adjacency(nodes, edges), seeds, draw(st.floats(0.05, 0.95))


@given(walks(), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_the_error_is_within_the_tolerance(walk: tuple[GraphIndex, dict[int, float], float], tolerance: float) -> None:
    index, seeds, restart = walk
    start = np.array([seeds.get(n, 0.0) for n in range(len(index))])
    start /= start.sum()
    exact = restart * np.linalg.solve(np.eye(len(index)) - (1 - restart) * transition(index), start)
    found = personalized_pagerank(index, seeds, restart=restart, tolerance=tolerance)
    assert found.max() == 1.0
    bound = tolerance * len(index.indices) + 1e-12
    # The scale is that of the highest weight before scaling, which is too low by at most the bound.
    low, high = exact.max() - bound, exact.max()
    assert np.all(found * low <= exact + 1e-12)
    assert np.all(found * high >= exact - bound - 1e-12)


@given(walks())
def test_the_fixed_point_is_that_of_networkx(walk: tuple[GraphIndex, dict[int, float], float]) -> None:
    index, seeds, restart = walk
    # Of what is at a seed without neighbors, networkx sends the rest back to all seeds and we do not.
    seeds = {number: weight for number, weight in seeds.items() if index.degrees[number]}
    assume(seeds)
    truth = nx.pagerank(directed(index), alpha=1 - restart, personalization=seeds, tol=1e-14, max_iter=10_000)
    expected = np.array([truth[n] for n in range(len(index))])
    found = personalized_pagerank(index, seeds, restart=restart, tolerance=1e-12)
    np.testing.assert_allclose(found / found.sum(), expected, atol=1e-8)


def test_nodes_far_from_the_seeds_are_not_visited() -> None:
    """In a path of ten thousand nodes, the walk from one end gives no weight to the other half."""
    index = adjacency(10_000, [(n, n + 1) for n in range(9_999)])
    weights = personalized_pagerank(index, {0: 1.0}, restart=RESTART)
    assert 10 < np.count_nonzero(weights) < 100


def test_without_seeds_nothing_has_weight() -> None:
    index = adjacency(3, [(0, 1)])
    assert personalized_pagerank(index, {}, restart=RESTART).tolist() == [0, 0, 0]
    assert personalized_pagerank(index, {1: 0.0}, restart=RESTART).tolist() == [0, 0, 0]
    assert personalized_pagerank(adjacency(0, []), {}, restart=RESTART).tolist() == []


def test_without_edges_the_weight_stays_at_the_seeds() -> None:
    assert personalized_pagerank(adjacency(3, []), {2: 3.0, 1: 1.5}, restart=RESTART).tolist() == [0, 0.5, 1]
