"""PageRank by power iteration on a sparse matrix.

Page, Brin, Motwani & Winograd (1999), "The PageRank Citation Ranking". As in ``networkx.pagerank``, dangling nodes
distribute their mass over all nodes, and the iteration stops when the L1 change falls below ``n * tol``. Memory use: 12
bytes per link and about 40 bytes per node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.errors import WikigrError


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

    ``sources`` and ``targets`` are the ends of the edges as node numbers in ``[0, nodes)``, in any order. Parallel
    edges count once. Raises ``ValueError`` if an argument is out of range and ``ConvergenceError`` if ``max_iter``
    steps do not suffice.
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
    from scipy.sparse import csr_array

    # A row of distinct sources for each target.
    links: Any = csr_array((np.ones(len(sources), dtype=np.int8), (targets, sources)), shape=(nodes, nodes))
    links.sum_duplicates()
    links.data = np.ones(links.nnz)
    out_degree = np.bincount(links.indices, minlength=nodes)
    dangling = np.flatnonzero(out_degree == 0)
    weight = np.divide(damping, out_degree, out=np.zeros(nodes), where=out_degree > 0)
    rank = np.full(nodes, 1.0 / nodes)
    for _ in range(max_iter):
        following: NDArray[np.float64] = links @ (rank * weight)
        following += (damping * float(rank[dangling].sum()) + 1.0 - damping) / nodes
        change = float(np.abs(following - rank).sum())
        rank = following
        if change < nodes * tol:
            rank /= rank.sum()
            return rank
    raise ConvergenceError(
        f"PageRank did not converge in {max_iter} iterations at tolerance {tol:g}.",
        hint="Allow more iterations or a larger tolerance.",
    )
