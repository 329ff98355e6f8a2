from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikigr.evaluation.statistics.significance import holm, mcnemar_p, permutation_p

grades = st.integers(min_value=-20, max_value=20).map(lambda tenths: tenths / 10)
graded = st.lists(grades, min_size=1, max_size=30)


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
    # Three clusters with sums of 2, 3 and 1, as in the example above, though eleven questions differ.
    differences = [0.5] * 4 + [1.0] * 3 + [0.25] * 4
    clusters = ["a"] * 4 + ["b"] * 3 + ["c"] * 4
    assert permutation_p(differences, seed=0, clusters=clusters) == 0.25
    assert permutation_p(differences, seed=0) == 2 / 2**11


@given(graded, st.integers(0, 3))
@example([0.1] * 15, 0)
def test_permutation_p_is_a_probability_and_the_same_for_swapped_arms(differences: list[float], seed: int) -> None:
    p = permutation_p(differences, seed=seed, resamples=199)
    assert 0.0 < p <= 1.0
    assert permutation_p([-value for value in differences], seed=seed, resamples=199) == p


def outcomes(both: int, wins: int, losses: int, neither: int) -> np.ndarray:
    """Return the outcomes of both arms, of shape ``(2, n)``."""
    first = [True] * both + [False] * wins + [True] * losses + [False] * neither
    second = [True] * both + [True] * wins + [False] * losses + [False] * neither
    return np.array([first, second], dtype=np.bool_)


def test_mcnemar_worked_by_hand() -> None:
    # 5 wins to 1 loss: 2 * (C(6,0) + C(6,1)) / 2**6 = 14 / 64.
    assert mcnemar_p(*outcomes(3, 5, 1, 4)) == mcnemar_p(*outcomes(3, 1, 5, 4)) == pytest.approx(14 / 64)
    assert mcnemar_p(*outcomes(3, 0, 0, 4)) == 1.0


def test_holm_worked_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.04, made monotone.
    found = holm({"d": 0.04, "a": 0.01, "c": 0.03, "b": 0.02})
    assert found == pytest.approx({"d": 0.06, "a": 0.04, "c": 0.06, "b": 0.06})
    assert list(found) == ["d", "a", "c", "b"]
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}
