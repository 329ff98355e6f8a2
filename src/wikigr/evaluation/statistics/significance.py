"""Paired significance tests (permutation and McNemar), and Holm's correction for several of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from wikigr.evaluation.statistics.clusters import ROUNDING, cluster_sums, finite_values
from wikigr.evaluation.statistics.intervals import BATCH, check_resamples

# Up to this many differing units, the test enumerates every sign pattern (16,384 at most).
_MAX_ENUMERATED = 14


def permutation_p(
    differences: ArrayLike, *, seed: int, resamples: int = 9999, clusters: Sequence[Hashable] | None = None
) -> float:
    """Return the two-sided p-value, in (0, 1], of the hypothesis that the arms are exchangeable on every question.

    Fisher (1935), "The Design of Experiments", §21: each difference keeps its size and gets either sign. The p-value
    is the share of sign patterns whose mean is at least as far from 0 as the observed one. With ``clusters``, all
    differences of a cluster get the same sign. If at most 14 units differ from 0, every pattern is enumerated and
    ``seed`` has no effect. Otherwise ``resamples`` random patterns are drawn; if b of them reach the observed mean, the
    p-value is ``(b + 1) / (resamples + 1)`` and never 0: Phipson & Smyth (2010), "Permutation P-values Should Never Be
    Zero". Without any difference the result is 1.

    ``differences`` has shape ``(n,)`` with n >= 1, all finite. Raises ``ValueError`` for an argument out of range.
    """
    data = finite_values(differences)
    check_resamples(resamples)
    # A sum equals the observed one even if it was rounded differently.
    slack = ROUNDING * float(np.abs(data).sum())
    sums = data if clusters is None else cluster_sums(data, clusters)[0]
    sums = sums[np.abs(sums) > slack / len(data)]
    if not len(sums):
        return 1.0
    total = float(sums.sum())
    threshold = abs(total) - slack
    if len(sums) <= _MAX_ENUMERATED:
        patterns = np.arange(1 << len(sums))[:, np.newaxis] >> np.arange(len(sums)) & 1
        return float(np.mean(np.abs(2.0 * (patterns @ sums) - total) >= threshold))
    draws = np.random.default_rng(seed)
    reached, width, rows = 0, -(-len(sums) // 8), max(1, BATCH // len(sums))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        coins = np.frombuffer(draws.bytes(count * width), dtype=np.uint8).reshape(count, width)
        heads = np.unpackbits(coins, axis=1, count=len(sums)).astype(np.float64)
        reached += int((np.abs(2.0 * (heads @ sums) - total) >= threshold).sum())
    return (reached + 1) / (resamples + 1)


def mcnemar_p(first: ArrayLike, second: ArrayLike) -> float:
    """Return the two-sided p-value, in (0, 1], that two arms are right equally often; booleans of shape ``(n,)``.

    McNemar (1947), "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages", in
    its exact form: among the questions that only one arm gets right, the count of each arm follows Binomial(·, 1/2).
    Without such questions the result is 1. Raises ``ValueError`` if the shapes differ.
    """
    before, after = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)
    if before.ndim != 1 or before.shape != after.shape:
        raise ValueError(f"{before.size} outcomes do not pair with {after.size}")
    wins, losses = int((after & ~before).sum()), int((before & ~after).sum())
    if not wins + losses:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses, 0.5).pvalue)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return the p-values adjusted for multiple testing, under the same names and in the same order.

    Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure": the i-th smallest of m p-values is
    multiplied by ``m - i + 1``, raised to at least the adjusted value before it, and capped at 1. Raises ``ValueError``
    for a value outside [0, 1].
    """
    for name, p in p_values.items():
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"{name}: a p-value must lie in [0, 1], not {p}")
    adjusted: dict[str, float] = {}
    previous = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        previous = adjusted[name] = max(previous, min(1.0, (len(p_values) - rank) * p))
    return {name: adjusted[name] for name in p_values}
