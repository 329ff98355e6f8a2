from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

from wikigr.evaluation.statistics.significance import holm, mcnemar_p, permutation_p

grades = st.integers(min_value=-20, max_value=20).map(lambda tenths: tenths / 10)
graded = st.lists(grades, min_size=1, max_size=30)


def draws(seed: int, n: int, mean: float = 0.1) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


@pytest.mark.parametrize("n", [2, 3, 10, 14])
def test_permutation_of_few_is_scipys_exact_one(n: int) -> None:
    differences = draws(n, n, mean=0.5)
    expected = stats.permutation_test(
        (differences, np.zeros(n)),
        lambda one, other, axis: np.mean(one - other, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    ).pvalue
    assert permutation_p(differences, seed=0) == pytest.approx(expected)
    assert permutation_p(differences, seed=1) == permutation_p(differences, seed=0, resamples=1)


def test_permutation_of_many_comes_near_scipys() -> None:
    differences = draws(6, 80, mean=0.15)
    expected = stats.permutation_test(
        (differences, np.zeros(80)),
        lambda one, other, axis: np.mean(one - other, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        random_state=np.random.default_rng(8),
    ).pvalue
    assert 0.02 < expected < 0.5
    assert permutation_p(differences, seed=0) == pytest.approx(expected, abs=0.02)


def test_permutation_worked_by_hand() -> None:
    # Of the 8 patterns of signs of 1, 2, 3 those with a sum of 6 or -6 are two; for 1, 2, -3 all sums reach 0.
    assert permutation_p([1.0, 2.0, 3.0], seed=0) == 0.25
    assert permutation_p([1.0, 2.0, -3.0], seed=0) == 1.0
    # 1 + 2 - 1: sums of 4, 2, 2, 0 and their opposites; six of eight reach 2. Zeros change nothing.
    assert permutation_p([1.0, 0.0, 2.0, -1.0, 0.0], seed=0) == 0.75
    assert permutation_p([0.0, 0.0], seed=0) == 1.0


def test_permutation_takes_equal_sums_for_equal_however_they_were_rounded() -> None:
    assert permutation_p([0.1, 0.2, -0.3], seed=0) == 1.0
    assert permutation_p([0.1] * 20 + [-0.1] * 20, seed=0) == 1.0
    assert permutation_p([0.1, 0.2, 0.3 - 0.6], seed=0, clusters=["a", "a", "a"]) == 1.0


def test_permutation_is_never_zero() -> None:
    assert permutation_p([1.0] * 100, seed=0, resamples=999) == 1 / 1000


def test_permutation_of_binary_differences_is_mcnemars_test() -> None:
    differences = np.array([1.0] * 9 + [-1.0] * 3 + [0.0] * 20)
    exact = mcnemar_p(differences < 0, differences > 0)
    assert permutation_p(differences, seed=0) == pytest.approx(exact)
    assert permutation_p(np.repeat(differences, 3), seed=0, resamples=20_000) == pytest.approx(
        mcnemar_p(np.repeat(differences, 3) < 0, np.repeat(differences, 3) > 0), abs=0.002
    )


def test_permutation_flips_whole_clusters() -> None:
    # Three clusters with sums of 2, 3 and 1, as in the example above, though ten questions differ.
    differences = [0.5] * 4 + [1.0] * 3 + [0.25] * 4
    clusters = ["a"] * 4 + ["b"] * 3 + ["c"] * 4
    assert permutation_p(differences, seed=0, clusters=clusters) == 0.25
    assert permutation_p(differences, seed=0) == 2 / 2**11
    assert permutation_p(differences, seed=0, clusters=[None] * 11) == 2 / 2**11


@settings(max_examples=100, deadline=None)
@given(graded, st.integers(0, 3))
@example([0.1] * 15, 0)
def test_permutation_p_is_a_probability_and_the_same_for_swapped_arms(differences: list[float], seed: int) -> None:
    p = permutation_p(differences, seed=seed, resamples=199)
    assert 0.0 < p <= 1.0
    assert permutation_p([-value for value in differences], seed=seed, resamples=199) == p


def outcomes(both: int, wins: int, losses: int, neither: int) -> tuple[list[bool], list[bool]]:
    first = [True] * both + [False] * wins + [True] * losses + [False] * neither
    second = [True] * both + [True] * wins + [False] * losses + [False] * neither
    return first, second


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (9, 2), (15, 15), (121, 59)])
def test_mcnemar_agrees_with_scipy_and_statsmodels(wins: int, losses: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    found = mcnemar_p(*outcomes(7, wins, losses, 5))
    assert found == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)
    assert found == pytest.approx(mcnemar([[7, losses], [wins, 5]], exact=True).pvalue)


def test_mcnemar_worked_by_hand() -> None:
    # 5 wins to 1 loss: 2 * (C(6,0) + C(6,1)) / 2**6 = 14 / 64.
    assert mcnemar_p(*outcomes(3, 5, 1, 4)) == pytest.approx(14 / 64)
    assert mcnemar_p(*outcomes(3, 0, 0, 4)) == 1.0
    assert mcnemar_p([], []) == 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
def test_mcnemar_p_is_a_probability_and_the_same_for_swapped_arms(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    p = mcnemar_p(first, second)
    assert 0.0 < p <= 1.0
    assert mcnemar_p(second, first) == p


several = st.dictionaries(st.text(max_size=3), st.floats(0.0, 1.0), max_size=12)


def test_holm_worked_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.04, made monotone.
    found = holm({"d": 0.04, "a": 0.01, "c": 0.03, "b": 0.02})
    assert found == pytest.approx({"d": 0.06, "a": 0.04, "c": 0.06, "b": 0.06})
    assert list(found) == ["d", "a", "c", "b"]
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


@pytest.mark.usefixtures("quick_garbage_collection")  # Every call of theirs collects all garbage.
@settings(max_examples=50, deadline=None)
@given(several)
def test_holm_agrees_with_statsmodels(p_values: dict[str, float]) -> None:
    from statsmodels.stats.multitest import multipletests

    assume(p_values)
    expected = multipletests(list(p_values.values()), method="holm")[1]
    assert list(holm(p_values).values()) == pytest.approx(list(expected))


@given(several)
def test_holm_raises_p_values_and_keeps_their_order(p_values: dict[str, float]) -> None:
    found = holm(p_values)
    assert all(p <= found[name] <= 1.0 for name, p in p_values.items())
    for one, p in p_values.items():
        assert all(found[one] <= found[other] for other, q in p_values.items() if p < q)


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_holm_refuses_what_is_no_probability(p: float) -> None:
    with pytest.raises(ValueError, match=r"recall: a p-value must lie in \[0, 1\]"):
        holm({"mrr": 0.5, "recall": p})
