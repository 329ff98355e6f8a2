"""Confidence intervals of 95%: the bootstrap's for any statistic, and Wilson's for a proportion."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LEVEL = 0.95
# Numbers that differ by less than this share of their magnitude differ only by rounding.
ROUNDING = 1e-12
# Numbers in one batch of resamples: 32 MiB each of indices and of weights.
_BATCH = 1 << 22


Method = Literal["bca", "percentile", "degenerate", "exact", "wilson"]
"""How an interval was made.

``bca`` is the bias-corrected and accelerated bootstrap, ``percentile`` the percentile bootstrap, used if BCa is
undefined. ``degenerate`` has no width because the values do not vary; it says nothing about other questions. ``exact``
and ``wilson`` need no resampling.
"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of a sample with the ends of its interval."""

    value: float
    low: float
    high: float
    method: Method


def bootstrap_estimate(
    statistic: Callable[[Floats], ArrayLike],
    rows: int,
    *,
    seed: int,
    resamples: int = 9999,
    clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """Return a statistic of ``rows`` rows, such as a mean, a ratio or the area under a curve, with its BCa interval.

    Efron (1987), "Better Bootstrap Confidence Intervals", as ``scipy.stats.bootstrap`` computes it. ``statistic``
    receives weights of shape ``(k, rows)``: how often each row occurs in each of k resamples (all 1 for the sample
    itself). It returns k values, NaN for a resample in which it is undefined (a precision without abstentions). With
    ``clusters``, one key per row, whole clusters are drawn and the jackknife leaves out one cluster at a time.

    If BCa is undefined (all values lie on one side of that of the sample, or one of them is NaN), the interval is that
    of the percentiles of the defined ones, and ``method`` says so. A statistic that is NaN for the sample has an
    interval of NaN. One that does not vary, or of a single row or cluster, has a degenerate interval.
    """
    (value,) = np.asarray(statistic(np.ones((1, rows)))).tolist()
    which = cluster_numbers(range(rows) if clusters is None else clusters)
    units = int(which.max()) + 1
    if math.isnan(value) or units == 1:
        return Estimate(value, value, value, "degenerate")

    def of_units(drawn: NDArray[np.int64], axis: int = -1) -> Floats:
        # scipy passes one resample or many, as unit numbers along the last axis; the jackknife omits one of them.
        lines = drawn.reshape(-1, drawn.shape[-1])
        shifted = lines + units * np.arange(len(lines))[:, np.newaxis]
        counts = np.bincount(shifted.ravel(), minlength=units * len(lines)).reshape(len(lines), units)
        weights = counts if clusters is None else counts[:, which]
        values = np.asarray(statistic(weights.astype(np.float64)), dtype=np.float64)
        return values.reshape(drawn.shape[:-1])

    low, high, method = _resample(of_units, units, seed=seed, resamples=resamples, batch=max(1, _BATCH // rows))
    if high - low <= ROUNDING * max(1.0, abs(value)):
        return Estimate(value, value, value, "degenerate")
    return Estimate(value, low, high, method)


def bootstrap_mean(
    values: ArrayLike, *, seed: int, resamples: int = 9999, clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """Return the mean of ``values``, of shape ``(n,)``, with its interval; see ``bootstrap_estimate``.

    The mean is one over questions, so larger clusters weigh more. Extremely skewed values can put the mean itself
    outside its interval.
    """
    data = np.asarray(values, dtype=np.float64)
    return bootstrap_estimate(
        lambda weights: weights @ data / weights.sum(axis=1),
        len(data),
        seed=seed,
        resamples=resamples,
        clusters=clusters,
    )


def _resample(
    statistic: Callable[..., Any], units: int, *, seed: int, resamples: int, batch: int
) -> tuple[float, float, Method]:
    """Return the interval of a ``statistic`` of the numbers of the drawn units, and its method."""
    from scipy.stats import bootstrap

    with warnings.catch_warnings():
        # An undefined BCa warns and divides by zero. The code below handles it.
        warnings.simplefilter("ignore")
        # scipy 1.15 renamed this argument to ``rng`` and still accepts the old name.
        options: dict[str, Any] = {"method": "BCa", "random_state": np.random.default_rng(seed)}
        found = bootstrap(
            (np.arange(units),), statistic, n_resamples=resamples, batch=batch, confidence_level=LEVEL,
            vectorized=True, **options,
        )  # fmt: skip
    low, high = map(float, found.confidence_interval)
    if math.isfinite(low) and math.isfinite(high):
        return low, high, "bca"
    values = found.bootstrap_distribution[~np.isnan(found.bootstrap_distribution)]
    if not len(values):
        return math.nan, math.nan, "percentile"
    low, high = np.quantile(values, ((1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0)).tolist()
    return low, high, "percentile"


def cluster_numbers(clusters: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return the number of the cluster of each row; clusters are numbered in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in clusters], dtype=np.int64)


def wilson_estimate(share: float, trials: int) -> Estimate:
    """Return ``share``, the estimate of a proportion from ``trials`` independent trials, with its interval.

    Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference". ``share * trials`` need
    not be an integer, as ``scipy.stats.binomtest`` requires it: dependent answers count as one trial.
    """
    squared = NormalDist().inv_cdf((1.0 + LEVEL) / 2.0) ** 2
    middle = (share + squared / (2 * trials)) / (1.0 + squared / trials)
    half = math.sqrt(squared * (share * (1.0 - share) + squared / (4 * trials)) / trials) / (1.0 + squared / trials)
    return Estimate(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)), "wilson")
