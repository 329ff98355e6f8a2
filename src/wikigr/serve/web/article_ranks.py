"""The PageRank of the articles of a pack, with their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from wikigr.graph.pagerank_cache import PageRankCacheError, read_pack_cache
from wikigr.pack.layout import PAGERANK
from wikigr.pack.open import Corpus

_MAX_PACKS = 8


@dataclass(frozen=True, slots=True)
class Rank:
    """The PageRank of an article, a probability, and its place among ``of`` articles, from 1."""

    score: float
    place: int
    of: int


class ArticleRanks:
    """The ranks of all articles of a pack; ties break by title."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores
        order = sorted(scores, key=lambda title: (-scores[title], title))
        self._places = {title: place for place, title in enumerate(order, start=1)}

    def of(self, title: str) -> Rank | None:
        """Return the rank of an article, or ``None`` if it has none."""
        place = self._places.get(title)
        return None if place is None else Rank(self._scores[title], place, len(self._places))

    def first(self, count: int) -> tuple[str, ...]:
        """Return the titles of the ``count`` articles with the highest PageRank."""
        return tuple(islice(self._places, count))

    def order(self, title: str) -> tuple[float, str]:
        """Return the sort key of an article: the highest PageRank first, then by title."""
        return -self._scores.get(title, 0.0), title


def ranks_of(pack: Corpus) -> ArticleRanks:
    """Return the ranks in the cache of one pack; they are empty if it has none that belongs to its content."""
    manifest = pack.manifest
    counts = manifest.counts
    return _read(pack.layout.part(PAGERANK), manifest.digest, counts["articles"], counts["links"])


@lru_cache(maxsize=_MAX_PACKS)
def _read(path: Path, digest: str, articles: int, links: int) -> ArticleRanks:
    try:
        cache = read_pack_cache(path, articles)
    except PageRankCacheError:
        return ArticleRanks({})
    return ArticleRanks(cache.scores if cache.fits(digest, {"articles": articles, "links": links}) else {})
