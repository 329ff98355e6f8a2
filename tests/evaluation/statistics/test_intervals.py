from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from wikigr.evaluation.statistics.intervals import Estimate, bootstrap_estimate, bootstrap_mean, wilson_estimate


def draws(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.1, 1.0, n)


def test_interval_worked_by_hand() -> None:
    # Two values resample to means of 0, 1/2, 1/2 and 1, each as likely: the outer 2.5% are 0 and 1.
    assert bootstrap_mean([0.0, 1.0], seed=0) == Estimate(0.5, 0.0, 1.0, "bca")


@pytest.mark.parametrize(
    ("values", "clusters"),
    [
        ([0.3], None),
        ([1.0] * 12, None),
        ([0.3 - 0.2, 0.2 - 0.1, 0.1 + 0.2 - 0.2], None),
        ([0.0, 1.0], ["a", "a"]),
        ([0.0, 1.0, 1.0, 0.0], ["a", "a", "b", "b"]),
    ],
)
def test_interval_without_spread_is_degenerate(values: list[float], clusters: list[str] | None) -> None:
    found = bootstrap_mean(values, seed=0, clusters=clusters)
    assert (found.low, found.high, found.method) == (found.value, found.value, "degenerate")
    assert found.value == pytest.approx(np.mean(values))


def test_interval_falls_back_to_percentiles_where_bca_is_not_defined() -> None:
    values, undefined = [1.0, 2.0, 3.0, 9.0], 0
    for seed in range(10):
        found = bootstrap_mean(values, seed=seed, resamples=2)
        # With two resamples both means are often on one side of the mean.
        pair = np.random.default_rng(seed).integers(0, 4, (2, 4))
        means = np.array(values)[pair].mean(axis=1)
        if means[0] == means[1]:
            assert found.method == "degenerate"
        elif (means < 3.75).all() or (means > 3.75).all():
            undefined += 1
            assert found.method == "percentile"
            assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))
        else:
            assert found.method == "bca"
    assert 0 < undefined < 10


def test_a_statistic_that_some_resamples_lack_leaves_them_out() -> None:
    abstained, due = np.array([1.0, 0.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0, 0.0])

    def precision(weights: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(weights @ (abstained * due) / (weights @ abstained))

    found = bootstrap_estimate(precision, 4, seed=0, resamples=199)
    assert found == Estimate(0.5, 0.0, 1.0, "percentile")
    nowhere = bootstrap_estimate(lambda weights: np.full(len(weights), math.nan), 4, seed=0)
    assert (math.isnan(nowhere.value), nowhere.method) == (True, "degenerate")


def test_interval_draws_whole_clusters() -> None:
    sizes = np.array([6, 1, 3, 2, 1, 8, 2, 4, 1, 1])
    values = draws(7, int(sizes.sum()))
    sums = np.add.reduceat(values, np.cumsum(sizes) - sizes)
    expected = stats.bootstrap(
        (np.arange(10),),
        lambda drawn, axis: sums[drawn].sum(axis=axis) / sizes[drawn].sum(axis=axis),
        vectorized=True,
        random_state=np.random.default_rng(4),
    ).confidence_interval
    found = bootstrap_mean(values, seed=4, clusters=np.repeat(np.arange(10), sizes).tolist())
    # The bias correction counts resamples that equal the sample, which rounding decides.
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-3)
    alone, plain = (bootstrap_mean(values, seed=4, clusters=c) for c in (list(range(len(values))), None))
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high))


@pytest.mark.parametrize(("right", "trials"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (700, 1_000)])
def test_wilsons_interval_is_scipys(right: int, trials: int) -> None:
    expected = stats.binomtest(right, trials).proportion_ci(method="wilson")
    found = wilson_estimate(right / trials, trials)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert 0.0 <= found.low <= found.value == right / trials <= found.high <= 1.0
