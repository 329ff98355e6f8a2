"""The PageRank that a pack carries, given to a reranker, so that a question does not wait for it."""

from __future__ import annotations

from wikigr.graph.pagerank_cache import PageRankCacheError, Parameters, read_cache
from wikigr.pack import layout as parts
from wikigr.pack.open import Pack
from wikigr.retrieval.rerankers.graph_reranker import GraphReranker


def load_scores(pack: Pack, reranker: GraphReranker) -> str | None:
    """Give ``reranker`` the pack's precomputed scores, unless it has valid ones.

    Returns why they are of no use, in which case it computes them itself, or ``None``.
    """
    if reranker._is_cache_valid():
        return None
    try:
        cache = read_cache(pack.layout.part(parts.PAGERANK))
    except PageRankCacheError as error:
        return f"{error.message} PageRank was computed anew."
    if not cache.fits(pack.manifest.digest, pack.manifest.counts):
        return "The pack's PageRank cache is of another content; PageRank was computed anew."
    reranker.use_scores(cache.scores, cache.parameters or Parameters())
    return None
