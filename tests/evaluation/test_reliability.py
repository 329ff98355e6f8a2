from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.evaluation.answers import sample, samples

from wikigr.evaluation.reliability import Reliability, level_precision, reliability
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.intervals import wilson_estimate


def measured(found: list[Sample], **options: Any) -> Reliability:
    result = reliability(found, **{"seed": 0, "resamples": 199, **options})
    assert result is not None
    return result


def test_figures_worked_by_hand() -> None:
    # Twenty answers make two bins of ten: 0.2 with 3 right, and 0.85 with 9 right.
    low = [(0.1 + 0.02 * n + 0.01, float(n < 3)) for n in range(10)]
    high = [(0.8 + 0.01 * n + 0.005, float(n > 0)) for n in range(10)]
    found = measured(samples([*high, *low]))
    assert found.answers == 20
    assert [each.answers for each in found.bins] == [10, 10]
    assert [each.confidence for each in found.bins] == pytest.approx([0.2, 0.85])
    assert [each.accuracy.value for each in found.bins] == pytest.approx([0.3, 0.9])
    assert [each.low for each in found.bins] == pytest.approx([0.11, 0.805])
    assert [each.high for each in found.bins] == pytest.approx([0.29, 0.895])
    assert found.ece.value == pytest.approx((10 * 0.1 + 10 * 0.05) / 20)


@pytest.mark.parametrize(("answers", "bins"), [(1, 1), (19, 1), (20, 2), (99, 9), (100, 10), (1_003, 10)])
def test_the_number_of_bins(answers: int, bins: int) -> None:
    found = measured(samples([((n + 0.5) / answers, 1.0) for n in range(answers)]), resamples=9).bins
    assert len(found) == bins
    assert max(each.answers for each in found) - min(each.answers for each in found) <= 1
    assert [each.low for each in found] == sorted(each.low for each in found)


def test_ties_share_a_bin() -> None:
    rows = [(0.3, float(n % 2)) for n in range(15)] + [(0.9, 1.0)] * 25
    found = measured(samples(rows))
    assert [(each.answers, each.low, each.high) for each in found.bins] == [(15, 0.3, 0.3), (25, 0.9, 0.9)]
    assert measured(samples(rows[::-1])).bins == found.bins
    # The middle of the twelve decides, although the first of them is among the lower ten.
    uneven = measured(samples([(n / 100, 0.0) for n in range(8)] + [(0.9, 1.0)] * 12))
    assert [each.answers for each in uneven.bins] == [8, 12]


def test_one_answer() -> None:
    found = measured(samples([(0.7, 1.0)]))
    assert (len(found.bins), found.answers) == (1, 1)
    assert found.ece.value == pytest.approx(0.3)
    # It is right with probability 0.7: 0.7 * 0.3 + 0.3 * 0.7.
    assert found.noise == pytest.approx(0.42, abs=0.03)


def test_only_answers_count() -> None:
    assert reliability([], seed=0) is None
    withheld = [sample("q", 0.4, 1.0, abstained=True), Sample("p", "r", 0, error="down")]
    assert reliability(withheld, seed=0) is None
    assert measured([*withheld, sample("a", 0.5, 1.0)]).answers == 1


def draw(n: int, probability: Any, seed: int = 0) -> list[Sample]:
    random = np.random.default_rng(seed)
    return [sample(f"q{k}", float(c), float(random.random() < probability(c))) for k, c in enumerate(random.random(n))]


def test_noise_is_the_error_of_calibrated_answers() -> None:
    calibrated = [measured(draw(200, lambda c: c, seed), resamples=9) for seed in range(40)]
    assert np.mean([each.ece.value for each in calibrated]) == pytest.approx(
        np.mean([each.noise for each in calibrated]), rel=0.1
    )
    sure = measured(draw(200, lambda c: c * c))
    assert sure.ece.value > 1.5 * sure.noise
    assert sure.ece.low < sure.ece.value < sure.ece.high


def test_repeats_and_clusters_are_no_new_questions() -> None:
    once = draw(100, lambda c: c)
    four = [sample(s.question_id, s.confidence, s.metrics["accuracy"], repeat=r) for s in once for r in range(4)]
    single, fourfold = measured(once), measured(four)
    assert fourfold.ece.value == pytest.approx(single.ece.value)
    assert fourfold.ece.low == pytest.approx(single.ece.low)
    assert fourfold.noise == pytest.approx(single.noise)
    assert [each.accuracy for each in fourfold.bins] == [each.accuracy for each in single.bins]
    clusters = {s.question_id: f"c{n // 10}" for n, s in enumerate(once)}
    clustered = measured(once, clusters=clusters)
    assert clustered.ece.value == single.ece.value
    assert clustered.bins[0].accuracy.high - clustered.bins[0].accuracy.low >= (
        single.bins[0].accuracy.high - single.bins[0].accuracy.low
    )
    assert measured(once) == single != measured(once, seed=1)


def answered(question: str, level: str, right: float, **fields: object) -> Sample:
    return replace(sample(question, 0.5, right), level=level, **fields)  # type: ignore[arg-type]


def test_each_level_has_its_number_and_its_share() -> None:
    rows = [answered(f"s{n}", "sure", float(n > 0)) for n in range(4)] + [answered("n", "not_sure", 0.0)]
    found = level_precision(rows)
    assert found is not None
    sure, likely, not_sure = found
    assert (sure.level, sure.answers, sure.precision and sure.precision.value) == ("sure", 4, 0.75)
    assert sure.precision == wilson_estimate(0.75, 4)
    assert (likely.level, likely.answers, likely.precision) == ("likely", 0, None)
    assert (not_sure.level, not_sure.answers, not_sure.precision and not_sure.precision.value) == ("not_sure", 1, 0.0)


def test_what_is_no_answer_does_not_count() -> None:
    good = answered("a", "sure", 1.0)
    left_out = [
        replace(good, query_type="abstained", level="not_covered"),
        replace(good, query_type="own_knowledge", level="not_covered", metrics={"accuracy": 0.0}),
        replace(good, error="failed"),
        replace(good, metrics={}),
    ]
    assert level_precision([good, *left_out]) == level_precision([good])
    # A run of an older version.
    assert level_precision([replace(good, level="")]) is None
    assert level_precision([]) is None


def test_repeats_and_clusters_are_one_trial() -> None:
    once = level_precision([answered("a", "sure", 1.0), answered("b", "sure", 0.0)])
    rows = [
        answered(question, "sure", right, repeat=r) for question, right in (("a", 1.0), ("b", 0.0)) for r in range(3)
    ]
    many = level_precision(rows)
    assert once is not None and many is not None
    assert (once[0].answers, many[0].answers) == (2, 6)
    assert many[0].precision == once[0].precision
    joined = level_precision(rows, clusters={"a": "x", "b": "x"})
    assert joined is not None
    assert joined[0].precision == wilson_estimate(0.5, 1)
