"""Confidence intervals: the bootstrap's for any statistic, and Wilson's score interval of a proportion."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikigr.evaluation.statistics.clusters import ROUNDING, Floats, cluster_numbers, cluster_sums, finite_values

# Numbers in one batch of resamples: 32 MiB each of indices and of values.
BATCH = 1 << 22


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval with its nominal ``level`` in (0, 1) and its method.

    ``bca`` is the bias-corrected and accelerated bootstrap. ``percentile`` is the percentile bootstrap, used if BCa is
    undefined. ``degenerate`` has no width because the values do not vary; it says nothing about other questions.
    ``exact`` and ``wilson`` need no resampling.
    """

    low: float
    high: float
    level: float
    method: Literal["bca", "percentile", "degenerate", "exact", "wilson"] = "bca"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of a sample with its 95% interval."""

    value: float
    interval: Interval


def bootstrap_interval(
    values: ArrayLike,
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = 9999,
    clusters: Sequence[Hashable] | None = None,
) -> Interval:
    """Return the BCa bootstrap interval of the mean of ``values``, of shape ``(n,)`` with n >= 1, all finite.

    Efron (1987), "Better Bootstrap Confidence Intervals", as ``scipy.stats.bootstrap`` computes it. With ``clusters``,
    whole clusters are drawn with replacement and the jackknife leaves out one cluster at a time. The mean stays a mean
    over questions, so larger clusters weigh more. If BCa is undefined (all resampled means lie on one side of the
    mean), the percentiles of the same resamples are used and ``method`` says so. A single unit, or values or cluster
    means without variation, give a degenerate interval at the mean.

    Extremely skewed values can put the mean itself outside a BCa interval. Raises ``ValueError`` for an argument out
    of range.
    """
    data = finite_values(values)
    _check_level(level)
    check_resamples(resamples)
    mean = float(data.mean())
    if clusters is None:
        sample: tuple[Floats, ...] = (data,)
        spread, units = float(np.ptp(data)), len(data)
    else:
        sums, sizes = cluster_sums(data, clusters)
        sample = (sums, sizes)
        spread, units = float(np.ptp(sums / sizes)), len(sums)
    if units == 1 or spread <= ROUNDING * float(np.abs(data).max()):
        return Interval(mean, mean, level, "degenerate")
    statistic = np.mean if clusters is None else _mean_of_clusters
    return _resample(sample, statistic, seed=seed, level=level, resamples=resamples)


def bootstrap_statistic_interval(
    statistic: Callable[[Floats], ArrayLike],
    rows: int,
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = 9999,
    clusters: Sequence[Hashable] | None = None,
) -> Interval:
    """Return the BCa bootstrap interval of a statistic of ``rows`` rows, such as a ratio or the area under a curve.

    ``statistic`` receives weights of shape ``(k, rows)``: how often each row occurs in each of k resamples (all 1 for
    the sample itself). It returns k values, NaN for a resample in which it is undefined (a precision without
    abstentions). With ``clusters``, one key per row, whole clusters are drawn, as in ``bootstrap_interval``.

    If BCa is undefined, which includes a statistic that is NaN for some resample, the percentiles of the defined values
    are used and ``method`` says so. A statistic that is NaN for the sample itself has an interval of NaN. A statistic
    that is the same in every resample, or of a single row or cluster, has a degenerate interval. Raises ``ValueError``
    for an argument out of range.
    """
    _check_level(level)
    check_resamples(resamples)
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    (whole,) = np.asarray(statistic(np.ones((1, rows))), dtype=np.float64).tolist()
    which = np.arange(rows) if clusters is None else cluster_numbers(clusters, rows)
    units = int(which.max()) + 1
    if math.isnan(whole) or units == 1:
        return Interval(whole, whole, level, "degenerate")

    def statistic_of_units(drawn: NDArray[np.int64], axis: int = -1) -> Floats:
        # scipy passes one resample or many, as unit numbers along the last axis; the jackknife's are one shorter.
        lines = drawn.reshape(-1, drawn.shape[-1])
        shifted = lines + units * np.arange(len(lines))[:, np.newaxis]
        counts = np.bincount(shifted.ravel(), minlength=units * len(lines)).reshape(len(lines), units)
        values = np.asarray(statistic(counts[:, which].astype(np.float64)), dtype=np.float64)
        return values.reshape(drawn.shape[:-1])

    numbers = (np.arange(units),)
    found = _resample(numbers, statistic_of_units, seed=seed, level=level, resamples=resamples, width=max(units, rows))
    return replace(found, method="degenerate") if found.high - found.low <= ROUNDING * abs(whole) else found


def bootstrap_estimate(
    statistic: Callable[[Floats], ArrayLike],
    rows: int,
    *,
    seed: int,
    resamples: int = 9999,
    clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """Return a statistic of ``rows`` rows with its 95% interval; see ``bootstrap_statistic_interval``."""
    (value,) = np.asarray(statistic(np.ones((1, rows))), dtype=np.float64).tolist()
    interval = bootstrap_statistic_interval(statistic, rows, seed=seed, resamples=resamples, clusters=clusters)
    return Estimate(value, interval)


def _resample(
    sample: tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    *,
    seed: int,
    level: float,
    resamples: int,
    width: int | None = None,
) -> Interval:
    """Return the interval of a vectorized ``statistic``. Each resample holds ``width`` numbers in memory."""
    from scipy.stats import bootstrap

    options: dict[str, Any] = {"confidence_level": level, "paired": len(sample) == 2, "vectorized": True}
    options["batch"] = max(1, BATCH // (width or len(sample[0])))
    with warnings.catch_warnings():
        # An undefined BCa warns and divides by zero. The code below handles it.
        warnings.simplefilter("ignore")
        # scipy 1.15 renamed this argument to ``rng`` and still accepts the old name.
        draws = np.random.default_rng(seed)
        found = bootstrap(sample, statistic, n_resamples=resamples, method="BCa", random_state=draws, **options)
    low, high = (float(end) for end in found.confidence_interval)
    if math.isfinite(low) and math.isfinite(high):
        return Interval(low, high, level, "bca")
    values = found.bootstrap_distribution[~np.isnan(found.bootstrap_distribution)]
    if not len(values):
        return Interval(math.nan, math.nan, level, "degenerate")
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(values, (tail, 1.0 - tail)).tolist()
    return Interval(low, high, level, "percentile")


def _mean_of_clusters(sums: Floats, sizes: Floats, axis: int = -1) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1 (exclusive), not {level}")


def check_resamples(resamples: int) -> None:
    """Raise ``ValueError`` unless ``resamples`` is at least 1."""
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")


def wilson_interval(share: float, trials: int, *, level: float = 0.95) -> Interval:
    """Return the interval of a proportion whose estimate from ``trials`` independent trials is ``share``.

    Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference". Unlike a bootstrap interval,
    it has a width if all trials have the same outcome. Raises ``ValueError`` unless ``share`` is in [0, 1], ``trials``
    is at least 1 and ``level`` is in (0, 1).
    """
    if not 0.0 <= share <= 1.0 or trials < 1 or not 0.0 < level < 1.0:
        raise ValueError(f"no proportion has an interval for share={share}, trials={trials}, level={level}")
    squared = NormalDist().inv_cdf((1.0 + level) / 2.0) ** 2
    middle = (share + squared / (2 * trials)) / (1.0 + squared / trials)
    half = math.sqrt(squared * (share * (1.0 - share) + squared / (4 * trials)) / trials) / (1.0 + squared / trials)
    return Interval(max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)), level, "wilson")
