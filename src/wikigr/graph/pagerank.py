"""PageRank by power iteration on a sparse matrix.

Page, Brin, Motwani & Winograd (1999), "The PageRank Citation Ranking". As in ``networkx.pagerank``, dangling nodes
distribute their mass over all nodes, and the iteration stops when the L1 change falls below ``n * tol``. Each step
multiplies by the matrix of incoming links, whose rows are divided into blocks for the CPU cores. Each row is summed by
one core in a fixed order, so the result does not depend on the number of cores. Memory use: 4 bytes per link and about
40 bytes per node.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.errors import WikigrError

# Links per block. All blocks share one array of ones of this length, which stays in each core's cache.
_BLOCK = 1 << 17

_MAX_INT32 = int(np.iinfo(np.int32).max)


class ConvergenceError(WikigrError, RuntimeError):
    """The iteration did not reach its tolerance."""


def pagerank(
    sources: NDArray[np.integer[Any]],
    targets: NDArray[np.integer[Any]],
    nodes: int,
    *,
    damping: float = 0.85,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> NDArray[np.float64]:
    """Return the PageRank of each node: float64 of shape ``(nodes,)``, summing to 1.

    ``sources`` and ``targets`` are the ends of the edges as node numbers in ``[0, nodes)``, in any order, although
    edges sorted by source are processed faster. Parallel edges count once. Raises ``ValueError`` if an argument is out
    of range and ``ConvergenceError`` if ``max_iter`` steps do not suffice.
    """
    if not 0.0 < damping < 1.0:
        raise ValueError(f"damping must lie between 0 and 1 (exclusive), not {damping}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, not {max_iter}")
    if not tol > 0.0:
        raise ValueError(f"tol must be greater than 0, not {tol}")
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources do not pair with {len(targets)} targets")
    for ends in (sources, targets):
        if len(ends) and not (ends.min() >= 0 and ends.max() < nodes):
            raise ValueError(f"every node number must lie in [0, {nodes})")
    if nodes == 0:
        return np.zeros(0)
    incoming = _incoming(sources, targets, nodes)
    # Parallel links, already merged in ``incoming``, must not add to the degree.
    distinct = sources if int(incoming.nnz) == len(sources) else incoming.indices
    out_degree = np.bincount(distinct, minlength=nodes)
    blocks = list(_blocks(incoming.indptr, incoming.indices, nodes))
    dangling = np.flatnonzero(out_degree == 0)
    weight = np.divide(damping, out_degree, out=np.zeros(nodes), where=out_degree > 0)
    rank, following, scratch = np.full(nodes, 1.0 / nodes), np.empty(nodes), np.empty(nodes)
    with _workers(len(blocks)) as each:

        def gather(block: tuple[int, int, Any]) -> None:
            first, last, rows = block
            following[first:last] = rows @ scratch

        for _ in range(max_iter):
            np.multiply(rank, weight, out=scratch)
            for _done in each(gather, blocks):
                pass
            following += (damping * float(rank[dangling].sum()) + 1.0 - damping) / nodes
            np.subtract(following, rank, out=scratch)
            change = float(np.abs(scratch, out=scratch).sum())
            if change < nodes * tol:
                following /= following.sum()
                return following
            rank, following = following, rank
    raise ConvergenceError(
        f"PageRank did not converge in {max_iter} iterations at tolerance {tol:g}.",
        hint="Allow more iterations or a larger tolerance.",
    )


def _incoming(sources: NDArray[np.integer[Any]], targets: NDArray[np.integer[Any]], nodes: int) -> Any:
    """Return the links as a CSR matrix with one row of distinct sources for each target.

    Two transpositions are faster than sorting each row: the first orders the links by source (unless they already are),
    and the second keeps that order within each target, which makes parallel links adjacent.
    """
    from scipy.sparse import coo_array, csr_array

    count = len(sources)
    index: Any = np.int32 if max(nodes, count) <= _MAX_INT32 else np.int64
    if bool((sources[1:] >= sources[:-1]).all()):
        outgoing = csr_array((nodes, nodes), dtype=np.int8)
        indptr = np.zeros(nodes + 1, dtype=index)
        np.cumsum(np.bincount(sources, minlength=nodes), out=indptr[1:])
        # Set the attributes directly: the constructor copies slices and checks every index again.
        outgoing.indptr, outgoing.indices = indptr, targets.astype(index, copy=False)
        outgoing.data = np.ones(count, dtype=np.int8)
    else:
        ends = (sources.astype(index, copy=False), targets.astype(index, copy=False))
        pairs = coo_array((np.ones(count, dtype=np.int8), ends), shape=(nodes, nodes))
        pairs.has_canonical_format = True  # parallel links are merged below, after sorting
        outgoing = pairs.tocsr()
        del ends, pairs
    incoming = outgoing.tocsc().T
    if not incoming.has_canonical_format:
        incoming.sum_duplicates()
    return incoming


def _blocks(indptr: NDArray[Any], indices: NDArray[Any], nodes: int) -> Iterator[tuple[int, int, Any]]:
    """Yield blocks of about ``_BLOCK`` links as ``(first row, last row + 1, matrix)``."""
    from scipy.sparse import csr_array

    # A row weighs one more than its number of links, so that a graph with many nodes and few links is divided as well.
    weight = indptr[1:].astype(np.int64) + np.arange(1, nodes + 1)
    cuts = np.searchsorted(weight, np.arange(0, len(indices) + nodes, _BLOCK), side="right")
    cuts = np.unique(np.concatenate([cuts, [0, nodes]]))
    ones = np.ones(int(np.diff(indptr[cuts]).max(initial=0)))
    for first, last in pairwise(cuts.tolist()):
        low, high = int(indptr[first]), int(indptr[last])
        rows = csr_array((last - first, nodes))
        rows.indptr, rows.indices, rows.data = indptr[first : last + 1] - low, indices[low:high], ones[: high - low]
        yield first, last, rows


@contextmanager
def _workers(tasks: int) -> Iterator[Callable[[Callable[[Any], None], Iterable[Any]], Iterable[None]]]:
    """Provide a ``map`` that runs on all CPU cores, or the built-in one if there is only one core or one task."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if min(tasks, available) < 2:
        yield map
        return
    with ThreadPoolExecutor(min(tasks, available)) as pool:
        yield pool.map
