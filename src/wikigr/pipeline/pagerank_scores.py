"""The PageRank that a pack carries, given to a reranker, so that a question does not wait for it."""

from __future__ import annotations

import time

from wikigr.agent.reranker import GraphReranker
from wikigr.graph.pagerank_cache import PageRankCacheError, read_cache
from wikigr.pack import layout as parts
from wikigr.pack.open import Pack


def load_scores(pack: Pack, reranker: GraphReranker) -> str | None:
    """Give ``reranker`` the pack's precomputed scores once; it computes them itself when they are of no use.

    Returns why they are of no use, or ``None``. Once given, they age like scores that it computed.
    """
    if reranker._pagerank_cache is not None:
        return None
    try:
        cache = read_cache(pack.layout.part(parts.PAGERANK))
    except PageRankCacheError as error:
        return f"{error.message} PageRank was computed anew."
    if cache.digest not in (None, pack.manifest.digest):
        return "The pack's PageRank cache is of another content; PageRank was computed anew."
    reranker._pagerank_cache = cache.scores
    reranker._cache_timestamp = time.time()
    return None
