"""The comparison of two arms on one metric: difference, interval, p-value, detectable effect and verdict."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wikigr.evaluation.statistics.clusters import cluster_sums, clustered_standard_error
from wikigr.evaluation.statistics.intervals import Interval, bootstrap_interval
from wikigr.evaluation.statistics.significance import holm, mcnemar_p, permutation_p

# The power of the detectable effect.
_POWER = 0.8


class Verdict(StrEnum):
    """The conclusion about a difference."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


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


def compare_paired(
    metric: str,
    first: ArrayLike,
    second: ArrayLike,
    *,
    binary: bool,
    seed: int,
    margin: float,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 9999,
) -> PairedResult:
    """Compare two arms on one metric; ``first[i]`` and ``second[i]`` belong to the same question.

    Higher values count as better, so the caller must turn the result of a metric for which lower is better. A question
    that is NaN in one arm is left out of both. A ``binary`` metric (0 or 1) is tested with McNemar's exact test, any
    other with the permutation test. A binary metric with clusters of several questions also uses the permutation test,
    because McNemar's test assumes independent questions. ``margin`` is the largest difference that does not matter, in
    units of the metric.

    The verdict comes from ``verdict`` with the p-value. It is also inconclusive if there are so few questions (or
    clusters) that the test could not reach ``1 - level`` even if all of them agreed: fewer than 6 at 0.95. Resampling
    so few says too little about their variation to call anything equivalent. If no question differs, there is nothing
    to resample and the interval is exact, for a metric in [0, 1].

    Raises ``ValueError``, naming the metric, if the lengths differ, no pair is left, a value is infinite, or a value of
    a binary metric is neither 0 nor 1.
    """
    before, after = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if before.ndim != 1 or before.shape != after.shape:
        raise ValueError(f"{metric}: {before.size} values do not pair with {after.size}")
    keys = None if clusters is None else list(clusters)
    if keys is not None and len(keys) != len(before):
        raise ValueError(f"{metric}: {len(keys)} clusters do not fit {len(before)} questions")
    both = ~(np.isnan(before) | np.isnan(after))
    before, after = before[both], after[both]
    if not len(before):
        raise ValueError(f"{metric}: no question has a value in both arms")
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise ValueError(f"{metric}: a value is infinite")
    if binary and not (np.isin(before, (0.0, 1.0)).all() and np.isin(after, (0.0, 1.0)).all()):
        raise ValueError(f"{metric}: a binary metric must be 0 or 1 for every question")
    if keys is not None:
        keys = [key for key, kept in zip(keys, both.tolist(), strict=True) if kept]

    differences = after - before
    n = len(differences)
    units = n if keys is None else len(cluster_sums(differences, keys)[0])
    interval = bootstrap_interval(differences, seed=seed, level=level, resamples=resamples, clusters=keys)
    if not differences.any():
        interval = _interval_of_ties(units, level)
    test: Literal["mcnemar", "permutation"] = "mcnemar" if binary and units == n else "permutation"
    if test == "mcnemar":
        p = mcnemar_p(before == 1.0, after == 1.0)
    else:
        p = permutation_p(differences, seed=seed, resamples=resamples, clusters=keys)
    error = clustered_standard_error(differences, range(n) if keys is None else keys)
    judged = verdict(interval, margin, p=p)
    if 2.0 ** (1 - units) > _significance(level):
        judged = Verdict.INCONCLUSIVE
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
        mde=_detectable_effect(error, units, _significance(level)),
        standard_error=error,
        clusters=None if keys is None else units,
        verdict=judged,
    )


def _interval_of_ties(units: int, level: float) -> Interval:
    """Return the interval of the difference of a metric in [0, 1] if none of ``units`` questions differs.

    The difference is at most the share of questions that differ. For 0 of n questions, Clopper and Pearson (1934), "The
    Use of Confidence or Fiducial Limits", give the upper limit 1 - (alpha / 2)^(1 / n) for this share.
    """
    limit = 1.0 - (_significance(level) / 2.0) ** (1.0 / units)
    return Interval(-limit, limit, level, "exact")


def _detectable_effect(error: float, units: int, significance: float) -> float:
    """Return the minimal detectable effect of ``units`` units whose mean has the standard ``error``.

    Bloom (1995), "Minimum Detectable Effects": ``(t(1 - significance / 2) + t(power)) * error``, with the quantiles of
    Student's t with ``units - 1`` degrees of freedom. From ten pairs on, it is within 2% of the exact noncentral t.
    NaN for a single unit, and for units that do not vary.
    """
    if units < 2 or not error:
        return math.nan
    from scipy.stats import t

    return float((t.ppf(1.0 - significance / 2.0, units - 1) + t.ppf(_POWER, units - 1)) * error)


def correct_secondary(results: Sequence[PairedResult], *, primary: str) -> list[PairedResult]:
    """Return the results with Holm's ``p_adjusted`` set for every metric except the declared ``primary`` one.

    The verdict of a secondary metric that improved or regressed becomes inconclusive if its adjusted p-value is no
    longer significant at the level of its interval. ``primary`` need not be among the results. Raises ``ValueError`` if
    a metric occurs twice.
    """
    secondary = [result for result in results if result.metric != primary]
    if len({result.metric for result in results}) != len(results):
        raise ValueError("a metric appears twice among the results to correct")
    adjusted = holm({result.metric: result.p for result in secondary})

    def corrected(result: PairedResult) -> PairedResult:
        if result.metric == primary:
            return result
        p = adjusted[result.metric]
        directed = result.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)
        lost = directed and p > _significance(result.interval.level)
        return replace(result, p_adjusted=p, verdict=Verdict.INCONCLUSIVE if lost else result.verdict)

    return [corrected(result) for result in results]


def verdict(interval: Interval, margin: float, *, p: float | None = None) -> Verdict:
    """Return the verdict on a difference with this ``interval``.

    The verdict is equivalent if the interval lies within ``[-margin, margin]``, even if it excludes 0: a difference
    that is certain and too small to matter is not an improvement. Otherwise it is improved above 0, regressed below 0,
    and inconclusive if the interval contains 0. With ``p``, improved and regressed also need ``p <= 1 - level``,
    because bootstrap intervals are too narrow if few questions differ (three wins among a hundred ties give an interval
    above 0, but p = 0.25). Raises ``ValueError`` unless ``margin`` is finite and at least 0.
    """
    if not 0.0 <= margin < math.inf:
        raise ValueError(f"margin must be finite and at least 0, not {margin}")
    if -margin <= interval.low and interval.high <= margin:
        return Verdict.EQUIVALENT
    if p is not None and p > _significance(interval.level):
        return Verdict.INCONCLUSIVE
    if interval.low > 0.0:
        return Verdict.IMPROVED
    if interval.high < 0.0:
        return Verdict.REGRESSED
    return Verdict.INCONCLUSIVE


def _significance(level: float) -> float:
    """Return the significance level of a confidence level: 0.05, not 0.050000000000000044, for 0.95."""
    return round(1.0 - level, 12)
