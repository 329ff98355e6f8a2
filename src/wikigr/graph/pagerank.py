"""PageRank by power iteration on a sparse matrix.

Page, Brin, Motwani, Winograd (1999), "The PageRank Citation Ranking"; dangling nodes spread their mass over
all nodes, as ``networkx.pagerank`` does, and the iteration stops as it does: when the L1 change falls below
``n * tol``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pagerank(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    nodes: int,
    *,
    damping: float = 0.85,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> NDArray[np.float64]:
    """Return the PageRank of each node: float64 of shape ``(nodes,)``, summing to 1.

    ``sources`` and ``targets`` are the ends of the edges as node numbers in ``[0, nodes)``; parallel edges
    count once. Raises ``ValueError`` when ``damping`` is not in (0, 1) or the iteration does not converge.
    """
    if not 0.0 < damping < 1.0:
        raise ValueError(f"damping must lie between 0 and 1 (exclusive), not {damping}")
    if nodes == 0:
        return np.zeros(0)
    from scipy.sparse import csr_array

    links = csr_array((np.ones(len(sources)), (targets, sources)), shape=(nodes, nodes))
    links.data[:] = 1.0
    out_degree = np.asarray(links.sum(axis=0)).ravel()
    dangling = out_degree == 0
    weight = np.divide(1.0, out_degree, out=np.zeros(nodes), where=~dangling)
    rank = np.full(nodes, 1.0 / nodes)
    for _ in range(max_iter):
        spread = damping * float(rank[dangling].sum()) + 1.0 - damping
        following = damping * (links @ (rank * weight)) + spread / nodes
        if np.abs(following - rank).sum() < nodes * tol:
            final: NDArray[np.float64] = following / following.sum()
            return final
        rank = following
    raise ValueError(f"PageRank did not converge in {max_iter} iterations at tolerance {tol}")
