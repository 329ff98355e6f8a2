"""``GraphReranker``: mix PageRank into the scores of search results (reference/graph-reranker.md)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, ClassVar

from wikigr.errors import PackError
from wikigr.graph.engine import Graph
from wikigr.graph.link_graph import rank_articles, read_links
from wikigr.graph.pagerank_cache import (
    DAMPING,
    MAX_ITER,
    TOLERANCE,
    Parameters,
)
from wikigr.options import Auto, Limits, Options, Weight, or_auto
from wikigr.pack.open import Corpus
from wikigr.rerankers.stage import RerankingStage
from wikigr.retrieval.state import Result
from wikigr.retrieval.trace import StageRecord
from wikigr.text import fold

_WEIGHT_TOLERANCE = 1e-6
# Above any real score, but small enough for a sum of two to be finite.
_LARGEST = 1e300


class GraphReranker:
    """Reranks results by ``alpha * score + beta * PageRank``, with PageRank min-max normalized over the whole pack.

    ``conn`` is an open LadybugDB connection; ``alpha`` and ``beta`` lie in (0, 1] and sum to 1; ``cache_ttl`` is in
    seconds. ``_pagerank_cache`` may be set to precomputed scores, with their time in ``_cache_timestamp``.
    """

    def __init__(self, conn: Any, alpha: float = 0.7, beta: float = 0.3, cache_ttl: int = 3600) -> None:
        """Raises ``TypeError`` when ``conn`` is not a connection and ``ValueError`` for weights out of range."""
        self._graph = Graph.of(conn)
        for name, weight in (("alpha", alpha), ("beta", beta)):
            if not 0.0 < weight <= 1.0:
                raise ValueError(f"{name} must lie in (0, 1], not {weight}")
        if abs(alpha + beta - 1.0) > _WEIGHT_TOLERANCE:
            raise ValueError(f"alpha + beta must equal 1.0, not {alpha + beta:g}")
        if cache_ttl < 0:
            raise ValueError(f"cache_ttl must not be negative, but is {cache_ttl}")
        self.conn = conn
        self.alpha = alpha
        self.beta = beta
        self.cache_ttl = cache_ttl
        self._pagerank_cache: Mapping[str, float] | None = None
        self._cache_timestamp: float = 0.0
        self._computed: tuple[Mapping[str, float], Parameters] | None = None
        self._normalized: tuple[Mapping[str, float], _Authority] | None = None

    def rerank(self, results: Sequence[Mapping[str, Any]], top_k: int = 10) -> list[dict[str, Any]]:
        """Return copies of the best ``top_k`` results by combined score; ties break by title, then the given order.

        A result holds a ``title`` and a ``score`` (a finite number); its other keys are kept. Unknown titles get the
        pack's median PageRank. In a pack without hyperlinks, order and scores do not change. Raises
        ``ValueError`` for no results, a result without title or score, or ``top_k`` below 1; ``RuntimeError`` when
        PageRank cannot be computed.
        """
        check_results(results, top_k)
        scores = self.score(results)
        if scores is None:
            return [dict(result) for result in results[:top_k]]
        reranked = [{**result, "score": score} for result, score in zip(results, scores, strict=True)]
        reranked.sort(key=lambda result: (-result["score"], result["title"]))
        return reranked[:top_k]

    def score(self, results: Sequence[Mapping[str, Any]]) -> list[float] | None:
        """Return the combined score of each of ``results``, or ``None`` in a pack without hyperlinks."""
        scores = self._scores()
        if not scores:
            return None
        authority = self._authority(scores)
        return [self.alpha * float(result["score"]) + self.beta * authority.of(result["title"]) for result in results]

    def use_scores(self, scores: Mapping[str, float], parameters: Parameters) -> None:
        """Seed the cache with precomputed probabilities by title and restart the TTL."""
        self._pagerank_cache, self._cache_timestamp = scores, time.time()
        self._computed = (scores, parameters)

    def compute_pagerank(
        self, damping: float = DAMPING, max_iter: int = MAX_ITER, tol: float = TOLERANCE
    ) -> dict[str, float]:
        """Return the PageRank of every article over LINKS_TO: probabilities that sum to 1.

        Returns ``{}`` if there are articles but no links. The cached result is reused while it is valid and has the
        same parameters. Raises ``ValueError`` when ``damping`` is not in (0, 1), ``max_iter`` below 1 or
        ``tol`` not positive; ``RuntimeError`` when a query fails, there is no article, or the iteration does not
        converge.
        """
        return dict(self._scores(Parameters(damping, max_iter, tol)))

    def _scores(self, parameters: Parameters | None = None) -> Mapping[str, float]:
        """Return the cached scores if they are valid (and have ``parameters``, if given), else compute them."""
        cached = self._pagerank_cache
        if cached is not None and self._is_cache_valid() and parameters in (None, self._parameters_of(cached)):
            return cached
        parameters = parameters or Parameters()
        links = read_links(self._graph)
        if not links.titles:
            raise RuntimeError("There are no articles in the database to rank.")
        self.use_scores(rank_articles(links, parameters), parameters)
        assert self._pagerank_cache is not None
        return self._pagerank_cache

    def _parameters_of(self, cached: Mapping[str, float]) -> Parameters:
        """Return the parameters of ``cached``; scores that a caller has set count as computed with the defaults."""
        if self._computed is not None and self._computed[0] is cached:
            return self._computed[1]
        return Parameters()

    def _is_cache_valid(self) -> bool:
        """Return whether there are scores no older than ``cache_ttl`` (and not from the future)."""
        age = time.time() - self._cache_timestamp
        return self._pagerank_cache is not None and 0.0 <= age < self.cache_ttl

    def _normalize_scores(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return ``scores`` min-max scaled to [0, 1]; all 0 if they are equal."""
        authority = self._authority(scores)
        return {title: authority.of(title) for title in scores}

    def _authority(self, scores: Mapping[str, float]) -> _Authority:
        """Return ``scores`` for lookups, cached while they are the same object."""
        if self._normalized is None or self._normalized[0] is not scores:
            self._normalized = (scores, _Authority(scores))
        return self._normalized[1]


class _Authority:
    """PageRank by title, min-max scaled to [0, 1] when it is looked up; all 0 if the scores are equal.

    Titles without an exact match are compared folded, and those without any have the median.
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores
        self._low = min(scores.values(), default=0.0)
        self._range = max(scores.values(), default=0.0) - self._low

    def of(self, title: str) -> float:
        score = self._scores.get(title)
        if score is None:
            score = self._folded.get(fold(title))
        if score is None:
            score = self._median
        return (score - self._low) / self._range if self._range > 0.0 else 0.0

    @cached_property
    def _folded(self) -> dict[str, float]:
        return {fold(title): score for title, score in self._scores.items()}

    @cached_property
    def _median(self) -> float:
        # Imported here because it takes 3 ms, and few questions need a title without a score.
        from statistics import median

        return median(self._scores.values())


def check_results(results: Sequence[Mapping[str, Any]], top_k: int) -> None:
    """Raise ``ValueError`` for no results, a result without a title or a finite score, or ``top_k`` below 1."""
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, not {top_k}")
    if not results:
        raise ValueError("results is empty: there is nothing to rerank")
    for number, result in enumerate(results, start=1):
        for key in ("title", "score"):
            if key not in result:
                raise ValueError(f"result {number} has no {key!r}")
        if not isinstance(result["title"], str):
            raise ValueError(f"the title of result {number} is {result['title']!r}")
        score = result["score"]
        # Real also covers NumPy's numbers; an integer may be too large for a float.
        if isinstance(score, bool) or not (isinstance(score, Real) and bool(-_LARGEST < score < _LARGEST)):  # type: ignore[operator]
            raise ValueError(f"the score of result {number} is {str(score)[:20]!r}")


@dataclass(frozen=True, slots=True)
class GraphRerankerOptions(Options):
    """Mixing with PageRank; ``alpha`` and ``beta`` sum to 1.

    By default PageRank only decides between near equals. With the documented weights (``auto``) it can promote sections
    that are hardly relevant to the question, and the gain on the demo pack's gold questions is not significant.
    """

    section: ClassVar[str] = "graph_reranker"

    enabled: Annotated[bool, "mix PageRank into the scores"] = True
    alpha: Annotated[
        Weight | Auto, "weight of the score; `alpha` and `beta` sum to 1; `auto` depends on the size of the pack"
    ] = 0.95
    beta: Annotated[Weight | Auto, "weight of PageRank"] = 0.05
    cache_ttl: Annotated[
        Annotated[int, Limits(ge=0)] | Auto, "seconds for which a process caches the PageRank it computed"
    ] = "auto"

    def problem(self) -> tuple[tuple[str, ...], str] | None:
        fields = ("alpha", "beta")
        if isinstance(self.alpha, str) != isinstance(self.beta, str):
            return fields, "must both be numbers or both be auto"
        if isinstance(self.alpha, str) or isinstance(self.beta, str):
            return None
        total = self.alpha + self.beta
        return None if abs(total - 1.0) <= _WEIGHT_TOLERANCE else (fields, f"must sum to 1, not {total:g}")


def graph_weights(articles: int) -> tuple[float, float, int]:
    """Return ``alpha``, ``beta`` and ``cache_ttl`` for a pack of ``articles`` articles.

    They are those of reference/graph-reranker.md, "Performance Tuning"; the last row of its table also holds for larger
    packs.
    """
    return (0.8, 0.2, 1800) if articles < 100 else (0.7, 0.3, 3600) if articles < 500 else (0.6, 0.4, 7200)


class GraphReranking(RerankingStage[GraphRerankerOptions]):
    """Rerank candidates by relevance mixed with the PageRank of their article."""

    name = "graph_reranker"
    reads_text = False

    @cached_property
    def reranker(self) -> GraphReranker:
        """The reranker with the configured weights."""
        pack = self.resources.pack
        alpha, beta, cache_ttl = graph_weights(pack.manifest.counts["articles"])
        return GraphReranker(
            # The scores of several packs are given to the reranker, so it queries none of them.
            pack.members[0].graph.connection,
            alpha=or_auto(self.options.alpha, alpha),
            beta=or_auto(self.options.beta, beta),
            cache_ttl=or_auto(self.options.cache_ttl, cache_ttl),
        )

    def score(self, question: str, passages: Sequence[Result], record: StageRecord) -> list[float] | None:
        # The pack's precomputed PageRank.
        record.warning = load_scores(self.resources.pack, self.reranker) or ""
        record.notes.update(alpha=self.reranker.alpha, beta=self.reranker.beta)
        return self.reranker.score(passages)


def load_scores(pack: Corpus, reranker: GraphReranker) -> str | None:
    """Give ``reranker`` the pack's precomputed PageRank unless it has valid scores.

    Returns why the pack's scores cannot be used, in which case the reranker computes its own, or ``None``.
    """
    if reranker._is_cache_valid():
        return None
    if len(pack.members) > 1:
        scores, warning = _join_scores(pack)
        reranker.use_scores(scores, Parameters())
        return warning
    (only,) = pack.members
    try:
        cache = only.read_pagerank()
    except PackError as error:
        return f"{error.message} PageRank was recomputed."
    reranker.use_scores(cache.scores, cache.parameters or Parameters())
    return None


def _join_scores(pack: Corpus) -> tuple[dict[str, float], str | None]:
    """Return the PageRank of all articles of a joined pack, and what is wrong with the scores of its members.

    Without links between the members, that is the PageRank in a member times the member's share of the articles. An
    article of a member without links has the lowest score, which is that of an article that nothing links to.
    """
    joined: dict[str, float] = {}
    warnings = []
    for member in pack.members:
        reranker = GraphReranker(member.graph.connection)
        warnings.append(load_scores(member, reranker))
        share = member.manifest.counts["articles"] / max(1, pack.manifest.counts["articles"])
        joined.update((pack.title_of(member, title), share * score) for title, score in reranker._scores().items())
    lowest = min(joined.values(), default=0.0)
    if joined:
        for number in range(pack.graph_index.articles):
            joined.setdefault(pack.graph_index.node(number).key, lowest)
    return joined, " ".join(filter(None, warnings)) or None
