"""The comparison of two arms on one metric: difference, interval, p-value, detectable effect and verdict."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wikigr.evaluation.statistics.intervals import LEVEL, ROUNDING, Method, bootstrap_mean, cluster_numbers
from wikigr.evaluation.statistics.significance import holm, mcnemar_p, permutation_p

# Fits the level of the intervals.
SIGNIFICANCE = 0.05
# With fewer questions (or clusters), no paired test can reach the significance level: 2 * 0.5 ** 5 > 0.05.
MIN_QUESTIONS = 6


class Verdict(StrEnum):
    """The conclusion about a difference."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Interval:
    """The confidence interval of a difference, with its nominal level."""

    low: float
    high: float
    level: float = LEVEL
    method: Method = "bca"


@dataclass(frozen=True, slots=True)
class PairedResult:
    """The comparison of two arms on one metric, over the ``n`` questions that have a value in both.

    ``p_adjusted`` is None until ``correct_secondary`` sets it, and stays None for the primary metric. ``wins``,
    ``ties`` and ``losses`` count questions from the point of view of ``second``. ``standard_error`` is that of the
    difference. ``mde`` is the minimal detectable effect: the smallest difference that these questions would detect with
    a power of 80%. Both respect the clusters and are NaN for a single unit; ``mde`` is also NaN if nothing varies.
    ``clusters`` is the number of clusters, or None if none were given.
    """

    metric: str
    n: int
    mean_first: float
    mean_second: float
    difference: float
    interval: Interval
    p: float
    p_adjusted: float | None
    test: Literal["mcnemar", "permutation"]
    wins: int
    ties: int
    losses: int
    mde: float
    standard_error: float
    clusters: int | None
    verdict: Verdict

    @property
    def units(self) -> int:
        """The number of independent units: the clusters, or the questions without clusters."""
        return self.n if self.clusters is None else self.clusters

    @property
    def summary(self) -> str:
        """The figures and the verdict in one line, in points of 100."""
        interval = f"95% interval {100 * self.interval.low:+.1f} to {100 * self.interval.high:+.1f}"
        p = "p < 0.0001" if self.p < 0.0001 else f"p = {self.p:.4f}"
        detectable = "" if math.isnan(self.mde) else f", detectable {in_points(self.mde)}"
        return (
            f"{100 * self.difference:+.1f} points ({interval}), {p}, {self.n:,} question{'' if self.n == 1 else 's'}"
            f"{detectable}: {self.verdict}"
        )


def in_points(share: float) -> str:
    """Return a difference of shares in points of 100."""
    return f"{100 * share:.1f} points"


def compare_paired(
    metric: str,
    first: ArrayLike,
    second: ArrayLike,
    *,
    binary: bool,
    seed: int,
    margin: float,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 9999,
) -> PairedResult:
    """Compare two arms on one metric in [0, 1]; ``first[i]`` and ``second[i]`` belong to the same question.

    Higher values count as better, so the caller must turn the result of a metric for which lower is better. A
    ``binary`` metric (0 or 1) is tested with McNemar's exact test, any other with the permutation test. A binary metric
    with clusters of several questions also uses the permutation test, because McNemar's test assumes independent
    questions. ``margin`` is the largest difference that does not matter.

    The verdict is that of ``verdict`` with the p-value, and inconclusive for fewer than ``MIN_QUESTIONS`` questions (or
    clusters): so few say too little about their variation to call anything equivalent. If no question differs, there
    is nothing to resample and the interval is exact.
    """
    before, after = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    differences = after - before
    n = len(differences)
    units = n if clusters is None else len(set(clusters))
    if differences.any():
        found = bootstrap_mean(differences, seed=seed, resamples=resamples, clusters=clusters)
        interval = Interval(found.low, found.high, method=found.method)
    else:
        # The difference is at most the share of questions that differ. For 0 of n, Clopper and Pearson (1934), "The Use
        # of Confidence or Fiducial Limits", give this upper limit for the share.
        limit = 1.0 - (SIGNIFICANCE / 2.0) ** (1.0 / units)
        interval = Interval(-limit, limit, method="exact")
    test: Literal["mcnemar", "permutation"] = "mcnemar" if binary and units == n else "permutation"
    if test == "mcnemar":
        p = mcnemar_p(before == 1.0, after == 1.0)
    else:
        p = permutation_p(differences, seed=seed, resamples=resamples, clusters=clusters)
    error = clustered_standard_error(differences, range(n) if clusters is None else clusters)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return PairedResult(
        metric=metric,
        n=n,
        mean_first=float(before.mean()),
        mean_second=float(after.mean()),
        difference=float(differences.mean()),
        interval=interval,
        p=p,
        p_adjusted=None,
        test=test,
        wins=wins,
        ties=n - wins - losses,
        losses=losses,
        mde=_detectable_effect(error, units),
        standard_error=error,
        clusters=None if clusters is None else units,
        verdict=Verdict.INCONCLUSIVE if units < MIN_QUESTIONS else verdict(interval, margin, p=p),
    )


def clustered_standard_error(differences: ArrayLike, clusters: Sequence[Hashable]) -> float:
    """Return the cluster-robust standard error of the mean difference, or NaN for a single cluster.

    Cameron & Miller (2015), "A Practitioner's Guide to Cluster-Robust Inference", for a regression on a constant only,
    with the CR1 factor: ``sqrt(G / (G - 1) * sum over clusters of (sum of residuals) ** 2) / n`` for G clusters, n
    questions and residuals from the mean. If each question is its own cluster, this is the ordinary ``s / sqrt(n)``.
    """
    data = np.asarray(differences, dtype=np.float64)
    residuals = data - data.mean()
    residuals[np.abs(residuals) <= ROUNDING * np.abs(data).max()] = 0.0
    sums = np.bincount(cluster_numbers(clusters), weights=residuals)
    if len(sums) < 2:
        return math.nan
    return math.sqrt(len(sums) / (len(sums) - 1) * float(sums @ sums)) / len(data)


def _detectable_effect(error: float, units: int) -> float:
    """Return the minimal detectable effect of ``units`` units whose mean has the standard ``error``.

    Bloom (1995), "Minimum Detectable Effects": ``(t(1 - significance / 2) + t(power)) * error``, with the quantiles of
    Student's t with ``units - 1`` degrees of freedom. From ten pairs on, it is within 2% of the exact noncentral t.
    """
    if units < 2 or not error:
        return math.nan
    from scipy.stats import t

    # The effect is detected with a power of 0.8.
    return float((t.ppf(1.0 - SIGNIFICANCE / 2.0, units - 1) + t.ppf(0.8, units - 1)) * error)


def correct_secondary(results: Sequence[PairedResult], *, primary: str) -> list[PairedResult]:
    """Return the results with Holm's ``p_adjusted`` set for every metric except the declared ``primary`` one.

    The verdict of a secondary metric that improved or regressed becomes inconclusive if its adjusted p-value is no
    longer significant. ``primary`` need not be among the results.
    """
    adjusted = holm({result.metric: result.p for result in results if result.metric != primary})

    def corrected(result: PairedResult) -> PairedResult:
        p = adjusted.get(result.metric)
        lost = p is not None and p > SIGNIFICANCE and result.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)
        return replace(result, p_adjusted=p, verdict=Verdict.INCONCLUSIVE if lost else result.verdict)

    return [corrected(result) for result in results]


def verdict(interval: Interval, margin: float, *, p: float = 0.0) -> Verdict:
    """Return the verdict on a difference with this ``interval``.

    The verdict is equivalent if the interval lies within ``[-margin, margin]``, even if it excludes 0: a difference
    that is certain and too small to matter is not an improvement. Otherwise it is improved above 0, regressed below 0,
    and inconclusive if the interval contains 0. Improved and regressed also need a significant ``p``, because bootstrap
    intervals are too narrow if few questions differ (three wins among a hundred ties give an interval above 0, but
    p = 0.25).
    """
    if -margin <= interval.low and interval.high <= margin:
        return Verdict.EQUIVALENT
    if p > SIGNIFICANCE or interval.low <= 0.0 <= interval.high:
        return Verdict.INCONCLUSIVE
    return Verdict.IMPROVED if interval.low > 0.0 else Verdict.REGRESSED
