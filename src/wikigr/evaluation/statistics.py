"""Whether a difference between two arms over the same questions is real.

``compare_paired`` gives for one metric what a report needs: the difference, its bootstrap interval, the p-value of a
paired test, the smallest effect that so many questions could show, and a verdict in words. Everywhere ``first`` is
the baseline, ``second`` the arm under test, a difference is ``second - first``, and more is better: a metric of which
less is better must be negated by the caller. What is drawn at random is drawn from the seed that the caller names, so
the same seed gives the same bytes.

Questions that share a cluster (one article, one template) are not independent of each other. With ``clusters``, one
hashable key for each question and ``None`` for a question that stands alone, whole clusters are resampled and flipped.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Floats = NDArray[np.float64]

# Sums that differ by less than this share of their terms' magnitude differ by rounding alone.
_ROUNDING = 1e-12

# Up to so many units that differ, every pattern of signs is tried (16,384 of them).
_MAX_ENUMERATED = 14

# Numbers in one batch of resamples: 32 MiB each of indices and of values.
_BATCH = 1 << 22


class Verdict(StrEnum):
    """What may be said of a difference."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval with its nominal ``level`` in (0, 1), and how it was found.

    ``bca`` is the bias-corrected and accelerated bootstrap, ``percentile`` the plain one, taken where BCa is not
    defined. ``degenerate`` has no width because the values had no spread: it says nothing about other questions.
    ``exact`` needs no resampling.
    """

    low: float
    high: float
    level: float
    method: Literal["bca", "percentile", "degenerate", "exact"] = "bca"


@dataclass(frozen=True, slots=True)
class PairedResult:
    """Two arms compared on one metric, over the ``n`` questions that both have a value for.

    ``p_adjusted`` is None until ``correct_secondary`` has set it, and stays so for the primary metric. ``wins``,
    ``ties`` and ``losses`` count questions, as ``second`` saw them. ``standard_error`` is that of the difference,
    and ``mde`` the smallest difference that these questions would show four times in five; both respect the
    clusters and are NaN for a single unit; ``mde`` is NaN too where nothing varies. ``clusters`` is their number, or
    None where none were given.
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

    A question that is NaN on either side is left out on both. A ``binary`` metric (0 or 1) is tested by McNemar's
    exact test, any other by permutation; so is a binary one with questions in common clusters, because McNemar's test
    takes them for independent. ``margin`` is the difference that nobody would mind, in units of the metric.

    The verdict is that of ``verdict`` with the p-value. Besides, it is inconclusive whenever there are so few
    questions (or clusters) that even if all of them agreed the test could not reach ``1 - level``: fewer than 6 at
    0.95. Resampling so few says too little of their spread to call anything equivalent, either. Where no question
    differs, there is nothing to resample: the interval is exact then, for a metric in [0, 1].

    Raises ``ValueError``, naming the metric, when the lengths differ, no pair is left, or a value is infinite or, for
    a binary metric, neither 0 nor 1.
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
    units = n if keys is None else len(_clustered(differences, keys)[0])
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
    if 2.0 ** (1 - units) > _threshold(level):
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
        mde=_detectable(error, units, power=0.8, level=_threshold(level)) if error else math.nan,
        standard_error=error,
        clusters=None if keys is None else units,
        verdict=judged,
    )


def _interval_of_ties(units: int, level: float) -> Interval:
    """Return how large the difference of a metric in [0, 1] may be although ``units`` questions show none.

    It is no larger than the share of questions that differ, for which none of n gives Clopper and Pearson (1934), "The
    Use of Confidence or Fiducial Limits", the upper limit 1 - (alpha / 2)^(1 / n).
    """
    limit = 1.0 - (_threshold(level) / 2.0) ** (1.0 / units)
    return Interval(-limit, limit, level, "exact")


def correct_secondary(results: Sequence[PairedResult], *, primary: str) -> list[PairedResult]:
    """Return the results with Holm's ``p_adjusted`` on all metrics but the declared ``primary`` one.

    A secondary metric that had improved or regressed, but whose adjusted p no longer says so at its interval's level,
    becomes inconclusive. Raises ``ValueError`` when a metric appears twice; the primary one may be absent.
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
        lost = directed and p > _threshold(result.interval.level)
        return replace(result, p_adjusted=p, verdict=Verdict.INCONCLUSIVE if lost else result.verdict)

    return [corrected(result) for result in results]


def verdict(interval: Interval, margin: float, *, p: float | None = None) -> Verdict:
    """Put the interval of a difference into words.

    Equivalent when it lies within ``[-margin, margin]``, be it all on one side of 0 or not: a difference that is
    certain and too small to matter is no improvement. Otherwise improved when it lies above 0, regressed when it lies
    below, and inconclusive when it holds 0. Where ``p`` is given, improved and regressed need ``p <= 1 - level`` too:
    over few questions, or few that differ, bootstrap intervals are too narrow (three wins among a hundred ties give
    an interval above 0, and p = 0.25). Raises ``ValueError`` unless ``margin`` is finite and at least 0.
    """
    if not 0.0 <= margin < math.inf:
        raise ValueError(f"margin must be finite and at least 0, not {margin}")
    if -margin <= interval.low and interval.high <= margin:
        return Verdict.EQUIVALENT
    if p is not None and p > _threshold(interval.level):
        return Verdict.INCONCLUSIVE
    if interval.low > 0.0:
        return Verdict.IMPROVED
    if interval.high < 0.0:
        return Verdict.REGRESSED
    return Verdict.INCONCLUSIVE


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
    whole clusters are drawn with replacement and the jackknife leaves out one cluster at a time; the mean remains
    that over questions, so large clusters weigh more. Where BCa is not defined (all resampled means on one side of
    the mean) the percentiles of the same resamples are taken, and ``method`` says so. Values, or cluster means,
    without spread give a degenerate interval at the mean, and so does a single unit.

    Extremely skewed values can put the mean itself outside a BCa interval. Raises ``ValueError`` for an argument out
    of its range.
    """
    data = _finite(values)
    _check_level(level)
    _check_resamples(resamples)
    mean = float(data.mean())
    if clusters is None:
        sample: tuple[_Floats, ...] = (data,)
        spread, units = float(np.ptp(data)), len(data)
    else:
        sums, sizes = _clustered(data, clusters)
        sample = (sums, sizes)
        spread, units = float(np.ptp(sums / sizes)), len(sums)
    if units == 1 or spread <= _ROUNDING * float(np.abs(data).max()):
        return Interval(mean, mean, level, "degenerate")
    statistic = np.mean if clusters is None else _mean_of_clusters
    return _resampled(sample, statistic, seed=seed, level=level, resamples=resamples)


def bootstrap_statistic_interval(
    statistic: Callable[[_Floats], ArrayLike],
    rows: int,
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = 9999,
    clusters: Sequence[Hashable] | None = None,
) -> Interval:
    """Return the BCa bootstrap interval of any statistic of ``rows`` rows, such as a ratio or the area under a curve.

    ``statistic`` gets weights of shape ``(k, rows)``: how often each row was drawn in each of k resamples, 1 for every
    row of the sample itself. It returns k values, NaN where a resample has nothing to take it of (a precision without
    abstentions). With ``clusters``, one key for each row, whole clusters are drawn, as by ``bootstrap_interval``.

    Where BCa is not defined, and that includes a statistic that is NaN for some resample, the percentiles of the
    values that there are are taken, and ``method`` says so. A statistic that is NaN for the sample itself has an
    interval of NaN; one that is the same in every resample, or of a single row or cluster, has a degenerate interval.
    Raises ``ValueError`` for an argument out of its range.
    """
    _check_level(level)
    _check_resamples(resamples)
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    (whole,) = np.asarray(statistic(np.ones((1, rows))), dtype=np.float64).tolist()
    which = np.arange(rows) if clusters is None else _cluster_numbers(clusters, rows)
    units = int(which.max()) + 1
    if math.isnan(whole) or units == 1:
        return Interval(whole, whole, level, "degenerate")

    def of_drawn(drawn: NDArray[np.int64], axis: int = -1) -> _Floats:
        # scipy hands over one resample or many (the jackknife's are shorter by one): numbers of units, along the last.
        lines = drawn.reshape(-1, drawn.shape[-1])
        shifted = lines + units * np.arange(len(lines))[:, np.newaxis]
        counts = np.bincount(shifted.ravel(), minlength=units * len(lines)).reshape(len(lines), units)
        values = np.asarray(statistic(counts[:, which].astype(np.float64)), dtype=np.float64)
        return values.reshape(drawn.shape[:-1])

    # The units are numbered, and their numbers drawn.
    numbers = (np.arange(units),)
    found = _resampled(numbers, of_drawn, seed=seed, level=level, resamples=resamples, width=max(units, rows))
    return replace(found, method="degenerate") if found.high - found.low <= _ROUNDING * abs(whole) else found


def _resampled(
    sample: tuple[NDArray[Any], ...],
    statistic: Callable[..., Any],
    *,
    seed: int,
    level: float,
    resamples: int,
    width: int | None = None,
) -> Interval:
    """Return the interval of a vectorised ``statistic``; ``width`` numbers are held for each resample."""
    from scipy.stats import bootstrap

    options: dict[str, Any] = {"confidence_level": level, "paired": len(sample) == 2, "vectorized": True}
    options["batch"] = max(1, _BATCH // (width or len(sample[0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a BCa that is not defined warns and divides by zero; it is looked at below
        # scipy 1.15 calls this argument ``rng``, and goes on taking the older name.
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


def permutation_p(
    differences: ArrayLike, *, seed: int, resamples: int = 9999, clusters: Sequence[Hashable] | None = None
) -> float:
    """Return the two-sided p, in (0, 1], of the hypothesis that the arms could be swapped on every question.

    The paired permutation test of Fisher (1935), "The Design of Experiments", §21: each difference keeps its size and
    is given either sign; p is the share of sign patterns with a mean as far from 0 as the observed one. With
    ``clusters`` all differences of a cluster get one sign together. All patterns are tried where at most 14 units
    differ from 0, and ``seed`` then has no part in it. Otherwise ``resamples`` random ones are, of which b reach the
    observed mean, and p is ``(b + 1) / (resamples + 1)``, never 0: Phipson & Smyth (2010), "Permutation P-values
    Should Never Be Zero". No difference at all gives 1.

    ``differences`` has shape ``(n,)`` with n >= 1, all finite. Raises ``ValueError`` for an argument out of its range.
    """
    data = _finite(differences)
    _check_resamples(resamples)
    # A sum counts as reaching the observed one although it was rounded differently.
    slack = _ROUNDING * float(np.abs(data).sum())
    sums = data if clusters is None else _clustered(data, clusters)[0]
    sums = sums[np.abs(sums) > slack / len(data)]
    if not len(sums):
        return 1.0
    total = float(sums.sum())
    least = abs(total) - slack
    if len(sums) <= _MAX_ENUMERATED:
        patterns = np.arange(1 << len(sums))[:, np.newaxis] >> np.arange(len(sums)) & 1
        return float(np.mean(np.abs(2.0 * (patterns @ sums) - total) >= least))
    draws = np.random.default_rng(seed)
    reached, width, rows = 0, -(-len(sums) // 8), max(1, _BATCH // len(sums))
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        coins = np.frombuffer(draws.bytes(count * width), dtype=np.uint8).reshape(count, width)
        heads = np.unpackbits(coins, axis=1, count=len(sums)).astype(np.float64)
        reached += int((np.abs(2.0 * (heads @ sums) - total) >= least).sum())
    return (reached + 1) / (resamples + 1)


def mcnemar_p(first: ArrayLike, second: ArrayLike) -> float:
    """Return the two-sided p, in (0, 1], that two arms are right equally often; booleans of one shape ``(n,)``.

    McNemar (1947), "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages", in
    its exact form: of the questions that only one arm has right, each arm has Binomial(·, 1/2) many. No such question
    gives 1. Raises ``ValueError`` when the shapes differ.
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
    """Return the p-values adjusted for being several, by the same names and in the same order.

    Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure": the i-th smallest of m is multiplied by
    ``m - i + 1``, is at least as large as the one before it, and at most 1. Raises ``ValueError`` for a value outside
    of [0, 1].
    """
    for name, p in p_values.items():
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"{name}: a p-value must lie in [0, 1], not {p}")
    adjusted: dict[str, float] = {}
    least = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        least = adjusted[name] = max(least, min(1.0, (len(p_values) - rank) * p))
    return {name: adjusted[name] for name in p_values}


def minimal_detectable_effect(differences: ArrayLike, *, power: float = 0.8, level: float = 0.05) -> float:
    """Return the smallest mean difference that so many pairs with such a spread would show with that ``power``.

    ``level`` is the two-sided significance level (0.05), not the confidence level. The multiple of the standard error
    is that of Bloom (1995), "Minimum Detectable Effects": ``(t(1 - level/2) + t(power)) * s / sqrt(n)``, the quantiles
    of Student's t with n - 1 degrees of freedom and s the sample standard deviation. It comes within 2 % of the
    exact noncentral t from ten pairs on.

    ``differences`` has shape ``(n,)``, all finite. NaN for n < 2. 0 for pairs that all differ alike: the formula's
    answer, from pairs that showed no spread to go by. Raises ``ValueError`` for an argument out of its range.
    """
    data = _finite(differences)
    for name, share in (("power", power), ("level", level)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"{name} must lie between 0 and 1 (exclusive), not {share}")
    return _detectable(clustered_standard_error(data, range(len(data))), len(data), power=power, level=level)


def clustered_standard_error(differences: ArrayLike, clusters: Sequence[Hashable]) -> float:
    """Return the standard error of the mean difference where questions of one cluster go together.

    Cameron & Miller (2015), "A Practitioner's Guide to Cluster-Robust Inference", for a regression on a constant
    alone, with the CR1 factor: ``sqrt(G / (G - 1) * sum over clusters of (sum of residuals) ** 2) / n``, for G
    clusters and n questions, of residuals from the mean. (The factor's other half, (n - 1) / (n - k), is 1 for one
    coefficient.) Where each cluster is one question this is the ordinary ``s / sqrt(n)``.

    ``differences`` has shape ``(n,)``, all finite, with a key for each in ``clusters``. NaN for a single cluster.
    Raises ``ValueError`` for an argument out of its range.
    """
    data = _finite(differences)
    if float(np.ptp(data)) <= _ROUNDING * float(np.abs(data).max()):
        residuals = np.zeros(len(data))
    else:
        residuals = data - data.mean()
    sums, _ = _clustered(residuals, clusters)
    if len(sums) < 2:
        return math.nan
    return math.sqrt(len(sums) / (len(sums) - 1) * float(sums @ sums)) / len(data)


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return how far two raters agree beyond chance, in [-1, 1]: Cohen (1960), "A Coefficient of Agreement".

    ``(observed - expected) / (1 - expected)``, where the expected agreement is that of raters who give each label
    as often as these do, but at random. NaN where both give all items the same one label. Raises ``ValueError`` for
    no labels or unequal lengths.
    """
    if not first or len(first) != len(second):
        raise ValueError(f"{len(first)} labels do not pair with {len(second)}")
    n = len(first)
    # Both agreements times n * n, which are whole numbers.
    observed = sum(one == other for one, other in zip(first, second, strict=True)) * n
    counts: dict[Hashable, list[int]] = {}
    for rater, labels in enumerate((first, second)):
        for label in labels:
            counts.setdefault(label, [0, 0])[rater] += 1
    expected = sum(one * other for one, other in counts.values())
    return (observed - expected) / (n * n - expected) if expected < n * n else math.nan


def _finite(values: ArrayLike) -> _Floats:
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or not data.size:
        raise ValueError(f"values must be a list of at least one number, not of shape {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError("a value is NaN or infinite")
    return data


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1 (exclusive), not {level}")


def _check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")


def _threshold(level: float) -> float:
    """Return the significance level that goes with a confidence level: 0.05, not 0.050000000000000044, for 0.95."""
    return round(1.0 - level, 12)


def _clustered(data: _Floats, clusters: Sequence[Hashable]) -> tuple[_Floats, _Floats]:
    """Return for each cluster, in the order in which they first appear, the sum of its values and how many."""
    which = _cluster_numbers(clusters, len(data))
    return np.bincount(which, weights=data).astype(np.float64), np.bincount(which).astype(np.float64)


def _cluster_numbers(clusters: Sequence[Hashable], values: int) -> NDArray[np.int64]:
    """Return for each value the number of its cluster, counted in the order in which they first appear."""
    if len(clusters) != values:
        raise ValueError(f"{len(clusters)} clusters do not fit {values} values")
    numbers: dict[Hashable, int] = {}
    # A caller's key is wrapped, lest it be mistaken for the position of a question that stands alone.
    which = [
        numbers.setdefault((None, place) if key is None else (key,), len(numbers)) for place, key in enumerate(clusters)
    ]
    return np.array(which, dtype=np.int64)


def _mean_of_clusters(sums: _Floats, sizes: _Floats, axis: int = -1) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)


def _detectable(error: float, units: int, *, power: float, level: float) -> float:
    if units < 2:
        return math.nan
    from scipy.stats import t

    return float((t.ppf(1.0 - level / 2.0, units - 1) + t.ppf(power, units - 1)) * error)
