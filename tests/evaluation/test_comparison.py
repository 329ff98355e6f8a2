from __future__ import annotations

import random
from dataclasses import replace

import pytest

from wikigr.errors import UsageError
from wikigr.evaluation.comparison import compare, flips, means_by_question
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.paired import Verdict


def arm(profile: str, values: dict[str, float], metric: str = "accuracy") -> list[Sample]:
    return [Sample(profile, question, 0, metrics={metric: value}) for question, value in values.items()]


def test_repeats_are_averaged_and_failures_left_out() -> None:
    samples = [
        Sample("p", "q1", 0, metrics={"accuracy": 1.0}),
        Sample("p", "q1", 1, metrics={"accuracy": 0.0}),
        Sample("p", "q2", 0, metrics={"accuracy": 1.0}),
        Sample("p", "q2", 1, error="down"),
        Sample("p", "q3", 0, error="down"),
    ]
    assert means_by_question(samples) == {"q1": {"accuracy": 0.5}, "q2": {"accuracy": 1.0}}


def test_only_shared_questions_are_paired_and_the_others_counted() -> None:
    first = arm("a", {f"q{n}": 0.0 for n in range(30)})
    second = arm("b", {f"q{n}": 1.0 for n in range(5, 35)})
    found = compare(first, second, names=("a", "b"), seed=0)
    assert (found.questions, found.unpaired) == (25, 10)
    result = found.results[0]
    assert (result.wins, result.losses, result.verdict, result.test) == (25, 0, Verdict.IMPROVED, "mcnemar")
    assert result.p == pytest.approx(2 * 0.5**25)


def test_the_primary_metric_is_not_corrected_and_the_others_are() -> None:
    draw = random.Random(0)
    names = ("accuracy", "f1", "mrr", "recall@5")
    first = [Sample("a", f"q{n}", 0, metrics={m: draw.random() for m in names}) for n in range(60)]
    second = [
        Sample("b", s.question_id, 0, metrics={m: v + draw.gauss(0.05, 0.2) for m, v in s.metrics.items()})
        for s in first
    ]
    found = compare(first, second, names=("a", "b"), seed=3, primary="mrr")
    assert found.results[0].metric == "mrr"
    assert found.results[0].p_adjusted is None
    assert {result.metric for result in found.results[1:]} == {"accuracy", "f1", "recall@5"}
    for result in found.results[1:]:
        assert result.p_adjusted is not None
        assert result.p_adjusted >= result.p
        assert result.p_adjusted <= 0.05 or result.verdict in (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
    assert found == compare(first, second, names=("a", "b"), seed=3, primary="mrr")


def test_arms_without_a_common_question_and_unknown_metrics() -> None:
    with pytest.raises(UsageError, match="no answered question in common"):
        compare(arm("a", {"q1": 1.0}), arm("b", {"q2": 1.0}), names=("a", "b"), seed=0)
    with pytest.raises(UsageError, match="no metric 'acuracy'"):
        compare(arm("a", {"q1": 1.0}), arm("b", {"q1": 1.0}), names=("a", "b"), seed=0, primary="acuracy")


def test_flips_are_what_changed_worse_ones_first() -> None:
    first = arm("a", {"q1": 1.0, "q2": 0.0, "q3": 1.0, "q4": 1.0})
    second = arm("b", {"q1": 0.0, "q2": 1.0, "q3": 1.0, "q5": 0.0})
    assert [(flip.question_id, flip.difference) for flip in flips(first, second)] == [("q1", -1.0), ("q2", 1.0)]


def test_a_flip_shows_the_repeats_that_differ() -> None:
    first = [Sample("a", "q", repeat, answer=str(repeat), metrics={"accuracy": 1.0}) for repeat in range(3)]
    second = [replace(sample, answer=f"other {sample.repeat}") for sample in first]
    second[1] = replace(second[1], metrics={"accuracy": 0.0})
    (flip,) = flips(first, second)
    assert (flip.second.answer, flip.second.metrics) == ("other 1", {"accuracy": 0.0})


def test_the_order_of_the_samples_changes_nothing() -> None:
    draw = random.Random(5)
    left = arm("a", {f"q{n}": draw.random() for n in range(40)}, "f1")
    right = arm("b", {f"q{n}": draw.random() for n in range(40)}, "f1")
    options = {"names": ("a", "b"), "seed": 1, "primary": "f1"}
    ordered = compare(left, right, **options)  # type: ignore[arg-type]
    assert ordered.results[0].test == "permutation"
    assert compare(left[::-1], draw.sample(right, 40), **options) == ordered  # type: ignore[arg-type]


def test_a_margin_is_a_number_and_a_metric_that_is_missing_has_no_result() -> None:
    left, right = arm("a", {"q": 1.0}), arm("b", {"q": 1.0})
    for margin in (float("nan"), float("inf"), -0.1):
        with pytest.raises(UsageError, match="margin"):
            compare(left, right, names=("a", "b"), seed=0, margin=margin)
    missing = compare(left, right, names=("a", "b"), seed=0, primary="f1")
    assert missing.primary_result is None
    assert missing.summary == "b against a in f1: it applies to no question that both answered"
