"""Paired significance tests (permutation and McNemar), and Holm's correction for several of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikigr.evaluation.statistics.intervals import Floats, cluster_numbers

# Random numbers in one batch of sign patterns.
_BATCH = 1 << 22
# Sums of differences of metrics in [0, 1] that agree in so many decimals differ only by rounding.
_DECIMALS = 12


def permutation_p(
    differences: ArrayLike, *, seed: int, resamples: int = 9999, clusters: Sequence[Hashable] | None = None
) -> float:
    """Return the two-sided p-value, in (0, 1], of the hypothesis that the arms are exchangeable on every question.

    Fisher (1935), "The Design of Experiments", §21: each difference keeps its size and gets either sign. The p-value
    is the share of sign patterns whose sum is at least as far from 0 as the observed one. With ``clusters``, all
    differences of a cluster get the same sign. ``scipy.stats.permutation_test`` enumerates the patterns of few units;
    of more, it draws ``resamples`` patterns, and the p-value is never 0 (Phipson & Smyth 2010, "Permutation P-values
    Should Never Be Zero"). Without any difference the result is 1.
    """
    data = np.asarray(differences, dtype=np.float64)
    sums = data if clusters is None else np.bincount(cluster_numbers(clusters), weights=data)
    sums = sums[np.round(sums, _DECIMALS) != 0.0]
    # A single sum is as far from 0 with either sign.
    if len(sums) < 2:
        return 1.0
    from scipy.stats import permutation_test

    def distance(values: Floats, axis: int) -> Any:
        return np.round(np.abs(values.sum(axis=axis)), _DECIMALS)

    # scipy 1.15 renamed ``random_state`` to ``rng`` and still accepts the old name.
    options: dict[str, Any] = {"random_state": np.random.default_rng(seed), "batch": max(1, _BATCH // len(sums))}
    found = permutation_test(
        (sums,), distance, permutation_type="samples", alternative="greater", vectorized=True, n_resamples=resamples,
        **options,
    )  # fmt: skip
    return float(found.pvalue)


def mcnemar_p(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return the two-sided p-value of a difference between paired outcomes of shape ``(n,)``, in (0, 1].

    McNemar (1947), "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages", in
    its exact form: among the questions that only one arm gets right, the count of each arm follows Binomial(·, 1/2).
    Without such questions the result is 1.
    """
    from scipy.stats import binomtest

    wins, losses = int((second & ~first).sum()), int((first & ~second).sum())
    return float(binomtest(wins, wins + losses, 0.5).pvalue) if wins + losses else 1.0


def sign_p(losses: int, wins: int) -> float:
    """Return the one-sided p-value of that many losses among paired outcomes that differ, in (0, 1].

    The exact sign test: without an effect, the losses follow Binomial(losses + wins, 1/2).
    """
    from scipy.stats import binomtest

    return float(binomtest(losses, losses + wins, 0.5, "greater").pvalue) if losses + wins else 1.0


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return the p-values adjusted for multiple testing, under the same names and in the same order.

    Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure": the i-th smallest of m p-values is
    multiplied by ``m - i + 1``, raised to at least the adjusted value before it, and capped at 1.
    """
    adjusted: dict[str, float] = {}
    previous = 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        previous = adjusted[name] = max(previous, min(1.0, (len(p_values) - rank) * p_values[name]))
    return {name: adjusted[name] for name in p_values}
