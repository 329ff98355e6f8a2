from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from wikigr.evaluation.statistics.intervals import Interval, bootstrap_interval, wilson_interval

grades = st.integers(min_value=-20, max_value=20).map(lambda tenths: tenths / 10)
graded = st.lists(grades, min_size=1, max_size=30)


def draws(seed: int, n: int, mean: float = 0.1) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("n", [2, 7, 60])
def test_interval_is_scipys_bca_of_the_mean(n: int, level: float) -> None:
    values = np.random.default_rng(n).exponential(size=n)
    expected = stats.bootstrap(
        (values,), np.mean, confidence_level=level, method="BCa", random_state=np.random.default_rng(3)
    ).confidence_interval
    assert bootstrap_interval(values, seed=3, level=level) == Interval(
        pytest.approx(expected.low),  # type: ignore[arg-type]
        pytest.approx(expected.high),  # type: ignore[arg-type]
        level,
        "bca",
    )


def test_interval_of_many_values_takes_batches_and_comes_near_the_normal_one() -> None:
    values = draws(5, 3000)
    found = bootstrap_interval(values, seed=1)
    error = stats.sem(values)
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_interval_worked_by_hand() -> None:
    # Two values resample to means of 0, 1/2, 1/2 and 1, each as likely: the outer 2.5% are 0 and 1.
    assert bootstrap_interval([0.0, 1.0], seed=0) == Interval(0.0, 1.0, 0.95, "bca")


@pytest.mark.parametrize("values", [[0.3], [0.0] * 12, [1.0] * 12, [0.3 - 0.2, 0.2 - 0.1, 0.1 + 0.2 - 0.2]])
def test_interval_of_values_without_spread_is_degenerate(values: list[float]) -> None:
    assert bootstrap_interval(values, seed=0) == Interval(
        pytest.approx(values[0]),  # type: ignore[arg-type]
        pytest.approx(values[0]),  # type: ignore[arg-type]
        0.95,
        "degenerate",
    )


def test_interval_falls_back_to_percentiles_where_bca_is_not_defined() -> None:
    values, undefined = [1.0, 2.0, 3.0, 9.0], 0
    for seed in range(10):
        found = bootstrap_interval(values, seed=seed, resamples=2)
        # With two resamples both means are often on one side of the mean.
        pair = np.random.default_rng(seed).integers(0, 4, (2, 4))
        means = np.array(values)[pair].mean(axis=1)
        if (means < 3.75).all() or (means > 3.75).all():
            undefined += 1
            assert found.method == "percentile"
            assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))
        else:
            assert found.method == "bca"
    assert 0 < undefined < 10


def test_interval_draws_whole_clusters() -> None:
    sizes = np.array([6, 1, 3, 2, 1, 8, 2, 4, 1, 1])
    names = [None if size == 1 else f"article {place}" for place, size in enumerate(sizes)]
    values = draws(7, int(sizes.sum()))
    sums = np.add.reduceat(values, np.cumsum(sizes) - sizes)
    expected = stats.bootstrap(
        (np.arange(10),),
        lambda drawn, axis: sums[drawn].sum(axis=axis) / sizes[drawn].sum(axis=axis),
        vectorized=True,
        random_state=np.random.default_rng(4),
    ).confidence_interval
    clusters = [name for name, size in zip(names, sizes, strict=True) for _ in range(size)]
    found = bootstrap_interval(values, seed=4, clusters=clusters)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_interval_with_each_question_its_own_cluster_is_the_plain_one() -> None:
    values = draws(2, 25)
    plain = bootstrap_interval(values, seed=9)
    for clusters in (list(range(25)), [None] * 25):
        found = bootstrap_interval(values, seed=9, clusters=clusters)
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_interval_of_one_cluster_and_of_clusters_with_one_mean_is_degenerate() -> None:
    assert bootstrap_interval([0.0, 1.0], seed=0, clusters=["a", "a"]) == Interval(0.5, 0.5, 0.95, "degenerate")
    assert bootstrap_interval([0.0, 1.0, 1.0, 0.0], seed=0, clusters=["a", "a", "b", "b"]).method == "degenerate"


@settings(max_examples=60, deadline=None)
@given(graded, st.integers(0, 3))
def test_interval_lies_among_the_values_and_turns_with_them(values: list[float], seed: int) -> None:
    found = bootstrap_interval(values, seed=seed, resamples=199)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assume(found.method != "percentile")
    # Ties among resampled means are broken by rounding, alike on both sides.
    turned = bootstrap_interval([-value for value in values], seed=seed, resamples=199)
    assert (-turned.high, -turned.low) == pytest.approx((found.low, found.high), abs=1e-9)


@pytest.mark.parametrize(("right", "trials"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (700, 1_000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_is_scipys(right: int, trials: int, level: float) -> None:
    expected = binomtest(right, trials).proportion_ci(confidence_level=level, method="wilson")
    found = wilson_interval(right / trials, trials, level=level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.level, found.method) == (level, "wilson")
    assert 0.0 <= found.low <= right / trials <= found.high <= 1.0


@pytest.mark.parametrize(("share", "trials", "level"), [(1.1, 5, 0.95), (0.5, 0, 0.95), (0.5, 5, 1.0)])
def test_arguments_out_of_range(share: float, trials: int, level: float) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson_interval(share, trials, level=level)
