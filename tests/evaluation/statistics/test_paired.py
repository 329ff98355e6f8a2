from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from wikigr.evaluation.statistics.intervals import bootstrap_mean
from wikigr.evaluation.statistics.paired import (
    Interval,
    PairedResult,
    Verdict,
    clustered_standard_error,
    compare_paired,
    correct_secondary,
    verdict,
)

grades = st.integers(min_value=-20, max_value=20).map(lambda tenths: tenths / 10)


def draws(seed: int, n: int, mean: float = 0.1) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1.0, n)


def compared(first: Any, second: Any, **options: Any) -> PairedResult:
    settled: dict[str, Any] = {"binary": False, "seed": 0, "margin": 0.02, "resamples": 499} | options
    return compare_paired("accuracy", first, second, **settled)


def outcomes(both: int, wins: int, losses: int, neither: int) -> tuple[list[bool], list[bool]]:
    first = [True] * both + [False] * wins + [True] * losses + [False] * neither
    second = [True] * both + [True] * wins + [False] * losses + [False] * neither
    return first, second


def detectable_effect(differences: Any) -> float:
    return compared([0.0] * len(differences), differences).mde


def test_detectable_effect_worked_by_hand() -> None:
    # 25 differences of ±1 (13 to 12): s = sqrt(24.96 / 24); t(0.975; 24) = 2.0639, t(0.8; 24) = 0.8569.
    found = detectable_effect([1.0] * 13 + [-1.0] * 12)
    assert found == pytest.approx((2.0639 + 0.8569) * math.sqrt(24.96 / 24) / 5, rel=1e-4)


def test_detectable_effect_of_one_pair_or_of_equal_pairs_is_nan() -> None:
    assert math.isnan(detectable_effect([0.4]))
    assert math.isnan(detectable_effect([0.1] * 9))


def test_verdict_of_an_interval() -> None:
    cases = {
        (0.01, 0.09): Verdict.IMPROVED,
        (-0.09, -0.01): Verdict.REGRESSED,
        (-0.01, 0.02): Verdict.EQUIVALENT,
        (0.005, 0.015): Verdict.EQUIVALENT,
        (-0.015, -0.005): Verdict.EQUIVALENT,
        (0.0, 0.0): Verdict.EQUIVALENT,
        (0.0, 0.09): Verdict.INCONCLUSIVE,
        (-0.09, 0.0): Verdict.INCONCLUSIVE,
        (-0.01, 0.021): Verdict.INCONCLUSIVE,
    }
    assert {(low, high): verdict(Interval(low, high), 0.02) for low, high in cases} == cases


def test_verdict_needs_the_test_to_agree_where_it_is_given() -> None:
    above, below, within = Interval(0.01, 0.09), Interval(-0.09, -0.01), Interval(0.001, 0.002)
    assert verdict(above, 0.0, p=0.05) is Verdict.IMPROVED
    assert verdict(above, 0.0, p=0.051) is Verdict.INCONCLUSIVE
    assert verdict(below, 0.0, p=0.051) is Verdict.INCONCLUSIVE
    assert verdict(within, 0.02, p=0.051) is Verdict.EQUIVALENT


def test_comparison_worked_by_hand() -> None:
    first, second = outcomes(30, 12, 2, 6)
    found = compared(first, second, binary=True)
    assert (found.metric, found.n, found.test) == ("accuracy", 50, "mcnemar")
    assert (found.wins, found.ties, found.losses) == (12, 36, 2)
    assert (found.mean_first, found.mean_second, found.difference) == pytest.approx((0.64, 0.84, 0.2))
    # 2 * (1 + 14 + 91) / 2**14
    assert found.p == pytest.approx(2 * 106 / 2**14)
    assert found.p_adjusted is None
    assert found.clusters is None
    differences = np.array(second, dtype=float) - np.array(first, dtype=float)
    assert found.standard_error == pytest.approx(stats.sem(differences))
    quantiles = stats.t.ppf(0.975, len(differences) - 1) + stats.t.ppf(0.8, len(differences) - 1)
    assert found.mde == pytest.approx(quantiles * stats.sem(differences))
    drawn = bootstrap_mean(differences, seed=0, resamples=499)
    assert (found.interval.low, found.interval.high) == (drawn.low, drawn.high)
    assert found.verdict is Verdict.IMPROVED
    assert found.summary == (
        f"+20.0 points (95% interval {100 * drawn.low:+.1f} to {100 * drawn.high:+.1f}), p = 0.0129, 50 questions, "
        f"detectable {100 * found.mde:.1f} points: improved"
    )


def test_comparison_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first, second = draws(1, 70, 0.0), draws(2, 70, 0.2)
    for clusters in (None, [place // 2 for place in range(70)]):
        found = compared(first, second, seed=5, clusters=clusters)
        assert repr(compared(first, second, seed=5, clusters=clusters)) == repr(found)
        other = compared(first, second, seed=6, clusters=clusters)
        assert other.interval != found.interval
        assert other.p != found.p
        assert replace(other, interval=found.interval, p=found.p, verdict=found.verdict) == found


@given(st.lists(st.tuples(grades, grades), min_size=1, max_size=30), st.booleans())
def test_comparison_turns_when_the_arms_are_swapped(pairs: list[tuple[float, float]], together: bool) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    clusters = [place // 3 for place in range(len(pairs))] if together else None
    one = compared(first, second, clusters=clusters)
    other = compared(second, first, clusters=clusters)
    assert (one.p, one.ties, one.wins, one.losses) == (other.p, other.ties, other.losses, other.wins)
    assert one.difference == pytest.approx(-other.difference)
    assert one.standard_error == pytest.approx(other.standard_error, nan_ok=True)
    turned = {Verdict.IMPROVED: Verdict.REGRESSED, Verdict.REGRESSED: Verdict.IMPROVED}
    # An end of an interval may come to lie on 0 or the margin, give or take the last bit.
    ends = np.abs([one.interval.low, one.interval.high])
    assume(not np.isclose(ends, 0.0).any() and not np.isclose(ends, 0.02).any())
    assert other.verdict is turned.get(one.verdict, one.verdict)


def test_an_arm_against_itself_is_equivalent_where_there_are_enough_questions() -> None:
    scores = draws(0, 200)
    found = compared(scores, scores)
    assert (found.p, found.ties, found.difference, found.standard_error) == (1.0, 200, 0.0, 0.0)
    assert math.isnan(found.mde)
    # Clopper and Pearson's limit for none of 200.
    assert found.interval.high == -found.interval.low == pytest.approx(stats.beta.ppf(0.975, 1, 200))
    assert (found.interval.method, found.verdict) == ("exact", Verdict.EQUIVALENT)
    assert compared(scores[:40], scores[:40]).verdict is Verdict.INCONCLUSIVE
    assert compared(scores, scores, clusters=[place // 10 for place in range(200)]).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("n", "worse"), [(6, 0.10), (24, 0.05), (150, 0.03)])
def test_an_arm_that_is_worse_is_seldom_called_as_good(n: int, worse: float) -> None:
    """Of as few as six questions, most samples show no difference at all, whatever there is."""
    generator = np.random.default_rng(n)
    called = 0
    for _ in range(200):
        right = generator.random(n) < 0.7
        wrong = right & (generator.random(n) >= worse / 0.7)
        called += compared(right * 1.0, wrong * 1.0, binary=True, resamples=99).verdict is Verdict.EQUIVALENT
    assert called <= 0.05 * 200


def test_five_questions_decide_nothing_and_six_may() -> None:
    assert compared([0.0] * 5, [1.0] * 5).verdict is Verdict.INCONCLUSIVE
    assert compared([0.0] * 5, [0.0] * 5).verdict is Verdict.INCONCLUSIVE
    assert compared([0.0] * 6, [1.0] * 6).verdict is Verdict.IMPROVED
    assert compared([1.0] * 6, [0.0] * 6, binary=True).verdict is Verdict.REGRESSED
    assert compared([0.0] * 6, [0.0] * 6).verdict is Verdict.INCONCLUSIVE
    # Sixty questions of five articles.
    clusters = [place % 5 for place in range(60)]
    assert compared([0.0] * 60, [1.0] * 60, clusters=clusters).verdict is Verdict.INCONCLUSIVE
    assert compared([0.0] * 60, [0.0] * 60, clusters=clusters).verdict is Verdict.INCONCLUSIVE


def test_three_wins_among_a_hundred_ties_are_no_improvement() -> None:
    found = compared([0.0] * 100, [1.0] * 3 + [0.0] * 97, binary=True)
    assert found.interval.low > 0.0
    assert found.p == 0.25
    assert found.verdict is Verdict.INCONCLUSIVE


def test_clusters_count_as_one_vote_each_in_a_binary_metric_too() -> None:
    first, second = outcomes(20, 12, 0, 8)
    alone = compared(first, second, binary=True)
    own = compared(first, second, binary=True, clusters=list(range(40)))
    assert (alone.test, own.test) == ("mcnemar", "mcnemar")
    assert own.p == alone.p < 0.001
    # All twelve wins are of three articles.
    together = [*range(20), *(f"article {place % 3}" for place in range(12)), *range(32, 40)]
    found = compared(first, second, binary=True, clusters=together)
    assert (found.test, found.clusters, found.p) == ("permutation", 31, 0.25)
    assert found.standard_error > alone.standard_error
    differences = np.array(second, dtype=float) - np.array(first, dtype=float)
    assert found.standard_error == clustered_standard_error(differences, together)
    spread = stats.t.ppf(0.975, 30) + stats.t.ppf(0.8, 30)
    assert found.mde == pytest.approx(spread * found.standard_error)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_holm_is_applied_to_the_secondary_metrics_only_and_takes_back_verdicts() -> None:
    clear = compared([0.0] * 40, [1.0] * 20 + [0.0] * 20, binary=True)
    slight = compared(*outcomes(20, 9, 1, 10), binary=True)
    assert 0.02 < slight.p < 0.025
    assert slight.verdict is Verdict.IMPROVED
    same = compared([0.0] * 200, [0.0] * 200, binary=True)
    named = [
        replace(slight, metric="accuracy"),
        replace(clear, metric="recall"),
        replace(slight, metric="f1"),
        replace(slight, metric="mrr"),
        replace(same, metric="ndcg"),
    ]
    found = correct_secondary(named, primary="accuracy")
    assert found[0] == named[0]
    assert [result.metric for result in found] == ["accuracy", "recall", "f1", "mrr", "ndcg"]
    # Of four secondary metrics: the smallest times 4, the two next times 3, the last times 1.
    assert [result.p_adjusted for result in found[1:]] == pytest.approx([4 * clear.p, 3 * slight.p, 3 * slight.p, 1.0])
    assert [result.verdict for result in found[1:]] == [
        Verdict.IMPROVED,
        Verdict.INCONCLUSIVE,
        Verdict.INCONCLUSIVE,
        Verdict.EQUIVALENT,
    ]


def test_clustered_error_worked_by_hand() -> None:
    # Residuals -1, -1, 1, 1 sum to -2 and 2: sqrt(2 / 1 * (4 + 4)) / 4 = 1.
    assert clustered_standard_error([0.0, 0.0, 2.0, 2.0], ["a", "a", "b", "b"]) == pytest.approx(1.0)
    assert math.isnan(clustered_standard_error([0.0, 1.0], ["a", "a"]))
    assert clustered_standard_error([0.1] * 4, ["a", "a", "b", "b"]) == 0.0
