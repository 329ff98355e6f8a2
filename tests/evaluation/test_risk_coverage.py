from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.evaluation.answers import Row, sample, samples

from wikigr.evaluation.risk_coverage import COVERAGES, RiskCoverage, risk_coverage
from wikigr.evaluation.samples import Sample


def measured(found: list[Sample], **options: Any) -> RiskCoverage:
    result = risk_coverage(found, **{"seed": 0, "resamples": 199, **options})
    assert result is not None
    return result


def accuracies(found: RiskCoverage) -> list[float]:
    return [found.accuracy[coverage].value for coverage in COVERAGES]


def test_figures_worked_by_hand() -> None:
    rows = [(0.95, 1.0), (0.9, 1.0), (0.8, 0.0), (0.7, 1.0), (0.6, 1.0)]
    rows += [(0.5, 0.0), (0.4, 1.0), (0.3, 0.0), (0.2, 1.0), (0.1, 0.0)]
    found = measured(samples(rows[::-1]))
    assert accuracies(found) == pytest.approx([4 / 5, 5 / 7, 6 / 9])
    risks = [0, 0, 1 / 3, 1 / 4, 1 / 5, 2 / 6, 2 / 7, 3 / 8, 3 / 9, 4 / 10]
    assert found.aurc.value == pytest.approx(sum(risks) / 10)
    assert [coverage for coverage, _ in found.curve] == pytest.approx([n / 10 for n in range(1, 11)])
    assert [risk for _, risk in found.curve] == pytest.approx(risks)
    assert (found.questions, found.samples, found.answered, found.coverage) == (10, 10, 10, 1.0)


def test_a_part_of_a_question_is_covered_in_part() -> None:
    # Half of three questions: the first and half of the second.
    assert accuracies(measured(samples([(0.9, 1.0), (0.8, 0.0), (0.7, 1.0)])))[0] == pytest.approx(1 / 1.5)


def test_abstentions_are_covered_last_and_count_as_wrong() -> None:
    answered = [sample("a1", 0.4, 1.0), sample("u1", 0.3, 0.0)]
    # The confidence of an abstention, and that it was right, make no difference.
    withheld = [sample("a2", 0.9, 0.0, abstained=True), sample("u2", 0.1, 1.0, abstained=True)]
    found = measured([*withheld, *answered])
    assert accuracies(found) == pytest.approx([1 / 2, 1 / 2.8, 1 / 3.6])
    assert found.aurc.value == pytest.approx((0 + 1 / 2 + 2 / 3 + 3 / 4) / 4)
    assert (found.samples, found.answered, found.coverage) == (4, 2, 0.5)
    nothing = measured(withheld)
    assert (nothing.aurc.value, accuracies(nothing), nothing.coverage) == (1.0, [0.0] * 3, 0.0)


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_all_right_and_all_wrong(right: float) -> None:
    found = measured(samples([(n / 10, right) for n in range(10)]))
    assert accuracies(found) == [right] * 3
    assert found.aurc.value == pytest.approx(1.0 - right)
    assert found.aurc.interval.method == "degenerate"
    assert [risk for _, risk in found.curve] == [1.0 - right] * 10


def test_one_question() -> None:
    found = measured([sample("q", 0.5, 1.0)])
    assert (accuracies(found), found.aurc.value, found.curve) == ([1.0] * 3, 0.0, ((1.0, 0.0),))


def test_better_ranking_has_a_smaller_area() -> None:
    rights = [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    best, given_, worst = (
        measured(samples([(1.0 - n / 10, right) for n, right in enumerate(order)]))
        for order in (sorted(rights, reverse=True), rights, sorted(rights))
    )
    assert best.aurc.value < given_.aurc.value < worst.aurc.value
    # All questions are covered in the end.
    assert best.curve[-1] == given_.curve[-1] == worst.curve[-1] == (1.0, 0.5)


def in_order(rights: list[float], coverage: float) -> tuple[float, float]:
    """Return the area and the accuracy at ``coverage`` for answers that were covered one by one."""
    risks = [1.0 - sum(rights[:n]) / n for n in range(1, len(rights) + 1)]
    wanted = coverage * len(rights)
    covered = [min(1.0, max(0.0, wanted - n)) for n in range(len(rights))]
    return sum(risks) / len(risks), sum(c * r for c, r in zip(covered, rights, strict=True)) / wanted


@given(
    st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.8]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=6),
    st.sampled_from(COVERAGES),
)
def test_ties_are_covered_in_random_order(rows: list[Row], coverage: float) -> None:
    orders = [order for order in permutations(rows) if [c for c, _ in order] == sorted((c for c, _ in rows))[::-1]]
    expected = np.mean([in_order([right for _, right in order], coverage) for order in orders], axis=0)
    found = measured(samples(rows), resamples=9)
    assert (found.aurc.value, found.accuracy[coverage].value) == pytest.approx(tuple(expected))
    assert measured(samples(rows[::-1]), resamples=9).curve == pytest.approx(np.array(found.curve))


def test_what_is_left_out() -> None:
    assert risk_coverage([], seed=0) is None
    assert risk_coverage([Sample("p", "q", 0, error="down")], seed=0) is None
    ungraded = Sample("p", "q", 0, query_type="extractive", confidence=0.9)
    assert risk_coverage([ungraded], seed=0) is None
    assert measured([sample("a", 0.5, 1.0), Sample("p", "b", 0, error="down"), ungraded]).samples == 1


def draw(n: int, seed: int = 0) -> list[Sample]:
    random = np.random.default_rng(seed)
    confidence = np.round(random.random(n), 2)
    return [
        sample(f"q{k}", float(c), float(random.random() < c), abstained=bool(c < 0.2)) for k, c in enumerate(confidence)
    ]


def test_intervals_are_over_questions_not_over_repeats() -> None:
    once = draw(60)
    four = [
        sample(s.question_id, s.confidence, s.metrics["accuracy"], abstained=s.query_type == "abstained", repeat=r)
        for s in once
        for r in range(4)
    ]
    single, fourfold = measured(once), measured(four)
    assert (single.questions, fourfold.questions, fourfold.samples) == (60, 60, 240)
    for coverage in COVERAGES:
        one, other = single.accuracy[coverage], fourfold.accuracy[coverage]
        assert other.value == pytest.approx(one.value)
        assert (other.interval.low, other.interval.high) == pytest.approx((one.interval.low, one.interval.high))
    assert single.aurc.interval.low < single.aurc.value < single.aurc.interval.high
    assert measured(once) == single != measured(once, seed=1)
    clusters = {s.question_id: f"c{n // 10}" for n, s in enumerate(once)}
    assert measured(once, clusters=clusters).aurc.value == single.aurc.value
    assert measured(once, clusters=clusters).aurc.interval != single.aurc.interval


def test_intervals_are_scipys() -> None:
    found = draw(40, seed=3)
    confidence = np.array([-1.0 if s.query_type == "abstained" else s.confidence for s in found])
    right = np.array([0.0 if s.query_type == "abstained" else s.metrics["accuracy"] for s in found])

    def aurc(scores: Any, rights: Any) -> float:
        rows = [sample(str(n), s, r) for n, (s, r) in enumerate(zip(scores + 1.0, rights, strict=True))]
        result = risk_coverage(rows, seed=0, resamples=1)
        assert result is not None
        return result.aurc.value

    expected = stats.bootstrap(
        (confidence, right), aurc, paired=True, vectorized=False, n_resamples=99, method="BCa",
        random_state=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    interval = measured(found, resamples=99).aurc.interval
    assert interval.method == "bca"
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_a_long_run_has_a_short_curve() -> None:
    curve = measured(draw(250), resamples=9).curve
    assert [coverage for coverage, _ in curve] == [n / 100 for n in range(1, 101)]
