"""Ranking metrics over articles, passages and sections: recall@k, all found@k, nDCG@k and the reciprocal rank.

They are NaN for a question without relevant items. If an item occurs again in a ranking, only the first one counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set

from wikigr.evaluation.metrics.answered import AnsweredQuestion, Granularity, Item


def over(
    level: Granularity[Item], measure: Callable[..., float], k: int | None = None
) -> Callable[[AnsweredQuestion], float]:
    """Return ``measure`` of the ranking by ``level``; at ``k``, for a measure that has one."""
    at = () if k is None else (k,)
    return lambda answered: measure(level.ranked(answered.retrieved), level.relevant(answered.question), *at)


def recall_at(ranking: Sequence[Item], relevant: Set[Item], k: int) -> float:
    """Return the share of ``relevant`` among the first ``k`` of ``ranking``, in [0, 1]; NaN if nothing is relevant.

    Raises ``ValueError`` if ``k`` is below 1.
    """
    found = relevant & set(_first(ranking, k))
    return len(found) / len(relevant) if relevant else math.nan


def all_found_at(ranking: Sequence[Item], relevant: Set[Item], k: int) -> float:
    """Return 1.0 if all of ``relevant`` is among the first ``k`` of ``ranking``, else 0.0; NaN if nothing is relevant.

    A chain of hops is complete only with all of its locations. More than ``k`` relevant items can never all be found.
    Raises ``ValueError`` if ``k`` is below 1.
    """
    first = set(_first(ranking, k))
    return float(relevant <= first) if relevant else math.nan


def ndcg_at(ranking: Sequence[Item], relevant: Set[Item], k: int) -> float:
    """Return the normalized discounted cumulative gain at ``k``, in [0, 1]; NaN if nothing is relevant.

    Gains are 0 or 1 and discounted by log2(rank + 1) (Järvelin and Kekäläinen 2002, as trec_eval computes it).
    Raises ``ValueError`` if ``k`` is below 1.
    """
    first = _first(ranking, k)
    if not relevant:
        return math.nan
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(first, start=1) if item in relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))


def reciprocal_rank(ranking: Sequence[Item], relevant: Set[Item]) -> float:
    """Return 1 / rank of the first relevant item, in [0, 1]; 0 if none is ranked, NaN if nothing is relevant.

    The mean over questions is the MRR (Voorhees 1999).
    """
    if not relevant:
        return math.nan
    ranks = (rank for rank, item in enumerate(dict.fromkeys(ranking), start=1) if item in relevant)
    return 1 / next(ranks, math.inf)


def _first(ranking: Sequence[Item], k: int) -> list[Item]:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return list(dict.fromkeys(ranking))[:k]
