from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from wikigr.evaluation.statistics.clusters import clustered_standard_error
from wikigr.evaluation.statistics.intervals import bootstrap_interval
from wikigr.evaluation.statistics.significance import mcnemar_p, permutation_p


def draws(seed: int, n: int, mean: float = 0.1) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


def test_clustered_error_is_that_of_statsmodels_regression_on_a_constant(subtests: pytest.Subtests) -> None:
    from statsmodels.regression.linear_model import OLS

    for seed in range(3):
        with subtests.test(seed=seed):
            generator = np.random.default_rng(seed)
            groups = generator.integers(0, 12, 80)
            differences = generator.normal(size=80) + generator.normal(size=12)[groups]
            fit = OLS(differences, np.ones(80)).fit(cov_type="cluster", cov_kwds={"groups": groups})
            assert clustered_standard_error(differences, groups.tolist()) == pytest.approx(fit.bse[0])


def test_clustered_error_worked_by_hand() -> None:
    # Residuals -1, -1, 1, 1 sum to -2 and 2: sqrt(2 / 1 * (4 + 4)) / 4 = 1.
    assert clustered_standard_error([0.0, 0.0, 2.0, 2.0], ["a", "a", "b", "b"]) == pytest.approx(1.0)
    assert math.isnan(clustered_standard_error([0.0, 1.0], ["a", "a"]))
    assert clustered_standard_error([0.1] * 4, ["a", "a", "b", "b"]) == 0.0


def test_clustered_error_of_clusters_of_one_is_the_ordinary_one() -> None:
    differences = draws(1, 40)
    for clusters in (list(range(40)), [None] * 40, [("q", place) for place in range(40)]):
        assert clustered_standard_error(differences, clusters) == pytest.approx(stats.sem(differences))


def test_a_question_without_a_cluster_is_not_mistaken_for_a_cluster_named_by_a_number() -> None:
    apart = clustered_standard_error([1.0, 2.0, 4.0], ["a", None, "b"])
    assert clustered_standard_error([1.0, 2.0, 4.0], [1, None, (None, 1)]) == pytest.approx(apart)
    assert clustered_standard_error([1.0, 2.0, 4.0], [0, 1, 0]) != pytest.approx(apart)


def test_other_functions_say_what_is_wrong() -> None:
    for wrong in ([], [math.nan], [math.inf], [[0.0]]):
        for call in (
            lambda values: bootstrap_interval(values, seed=0),
            lambda values: permutation_p(values, seed=0),
            lambda values: clustered_standard_error(values, values),
        ):
            with pytest.raises(ValueError, match="value"):
                call(wrong)
    with pytest.raises(ValueError, match="2 clusters do not fit 1 values"):
        clustered_standard_error([0.0], ["a", "b"])
    with pytest.raises(ValueError, match="1 outcomes do not pair with 2"):
        mcnemar_p([True], [True, False])
