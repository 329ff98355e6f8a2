from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from wikigr.errors import UsageError
from wikigr.evaluation.gate import Baseline, GateResult, Requirements, check_gate, read_baseline, write_baseline
from wikigr.evaluation.run import Run, StoredRun
from wikigr.evaluation.samples import Sample


def values(metric: str, right: int, of: int) -> dict[str, dict[str, float]]:
    return {f"q{n:03}": {metric: float(n < right)} for n in range(of)}


def held(
    before: dict[str, dict[str, float]],
    after: dict[str, dict[str, float]],
    digest: str = "d",
    *,
    judges: tuple[str, str] = ("none", "none"),
    ungraded: int = 0,
    clusters: dict[str, str] | None = None,
    **wanted: Any,
) -> GateResult:
    run = Run(
        pack={"name": "pack", "version": "1", "digest": digest},
        questions={"path": "gold.jsonl", "split": None, "count": len(after), "hash": "h"},
        profiles={"p": {}},
        encoder={},
        seed=0,
        repeat=1,
        offline=True,
        judge=judges[1],
        primary=wanted.get("primary", "accuracy"),
        margin=wanted.get("margin", 0.02),
    )
    baseline = Baseline("p", "d", "h", run.wikigr_version, before, judges[0])
    failed = {"verdict": "error", "reason": "none came", "model": "m"}
    samples = [
        Sample("p", question, 0, metrics=metrics, judgment=failed if n < ungraded else None)
        for n, (question, metrics) in enumerate(after.items())
    ]
    questions = {question: {"cluster": (clusters or {}).get(question)} for question in after}
    stored = StoredRun(Path("run"), run, samples, questions)
    return check_gate(stored, "p", Requirements(**{"floors": {}, **wanted}), baseline)


def test_no_worse_than_the_margin_passes_however_unclear_the_rest_is() -> None:
    better = held(values("accuracy", 50, 100), values("accuracy", 53, 100), fail_on="inconclusive", margin=0.02)
    assert "inconclusive" in better.checks[2].detail
    assert better.passed
    worse = held(values("accuracy", 53, 100), values("accuracy", 50, 100), fail_on="inconclusive", margin=0.02)
    assert not worse.passed


def test_of_a_metric_of_which_less_is_better_more_is_inferior() -> None:
    options: dict[str, Any] = {"fail_on": "inconclusive", "margin": 0.02, "primary": "hallucination"}
    before, after = values("hallucination", 50, 100), values("hallucination", 53, 100)
    assert not held(before, after, **options).passed
    assert held(after, before, **options).passed


def test_questions_of_one_cluster_count_as_one() -> None:
    before, after = values("accuracy", 24, 24), values("accuracy", 12, 24)
    assert not held(before, after).passed
    assert held(before, after, clusters={question: str(int(question[1:]) // 8) for question in before}).passed


def test_a_judge_that_fails_counts_where_its_grades_decide() -> None:
    same = values("judged", 20, 24) | {"q023": {"judged": 0.0}}
    assert held(same, same, primary="judged", judges=("m", "m")).passed
    for wanted in ({"primary": "judged"}, {"floors": {"judged": 0.5}, "primary": "judged"}):
        failed = held(same, same, judges=("m", "m"), ungraded=3, **wanted)
        assert not failed.passed
        assert "3 of 24 samples failed" in failed.checks[0].detail
    assert held(same, same, primary="judged", judges=("m", "m"), ungraded=3, errors=0.2).passed
    with pytest.raises(UsageError, match="another judge: m, but this run by n"):
        held(same, same, primary="judged", judges=("m", "n"))
    both = {question: metrics | {"accuracy": 1.0} for question, metrics in same.items()}
    assert held(both, both, judges=("m", "n"), ungraded=3).passed


def test_so_few_questions_that_nothing_could_show_are_unclear() -> None:
    same = values("accuracy", 2, 5)
    assert not held(same, same, fail_on="inconclusive").passed
    assert held(same, same, fail_on="regression").passed
    # Neither are many questions of few clusters.
    whole = values("accuracy", 24, 24)
    clusters = {question: str(int(question[1:]) // 8) for question in whole}
    assert not held(whole, whole, fail_on="inconclusive", margin=1.0, clusters=clusters).passed


def decided(before: int, after: int, of: int, **wanted: Any) -> tuple[str, str]:
    """Return the outcome and the words of the check against the baseline."""
    checks = held(values("accuracy", before, of), values("accuracy", after, of), **wanted).checks
    return next((check.outcome, check.detail) for check in checks if check.name == "accuracy against the baseline")


@pytest.mark.parametrize(
    ("figures", "wanted", "outcome", "says"),
    [
        ((90, 50, 100), {}, "failed", "-40.0 points (95% interval -50.0 to -31.0), p < 0.0001, 100 questions"),
        ((90, 50, 100), {"fail_on": "never"}, "passed", ": regressed (--fail-on never does not fail for this)."),
        ((50, 90, 100), {}, "passed", ": improved."),
        ((50, 50, 100), {"margin": 0.05}, "passed", ": equivalent."),
        (
            (50, 53, 100),
            {"fail_on": "inconclusive"},
            "passed",
            ": inconclusive, but not a loss of more than the margin of 2.0 points.",
        ),
        (
            (53, 50, 100),
            {},
            "inconclusive",
            ": inconclusive; the data do not exclude a loss of more than the margin of 2.0 points (--fail-on "
            "regression does not fail for this).",
        ),
        ((53, 50, 100), {"fail_on": "inconclusive"}, "failed", "a loss of more than the margin of 2.0 points."),
        ((2, 2, 5), {}, "inconclusive", "+0.0 points (95% interval -52.2 to +52.2), p = 1.0000, 5 questions"),
        # The interval excludes 0, but the exact test does not confirm it.
        ((10, 6, 10), {}, "inconclusive", "-40.0 points (95% interval -70.0 to -10.0), p = 0.1250, 10 questions"),
    ],
)
def test_every_outcome_states_its_reason(
    figures: tuple[int, int, int], wanted: dict[str, Any], outcome: str, says: str
) -> None:
    outcome_found, said = decided(*figures, **wanted)
    assert outcome_found == outcome
    assert says in said


@pytest.mark.parametrize(
    ("figures", "wanted", "passed", "says"),
    [
        ((4, 0, 5), {}, True, "from right to wrong, 0 the other way: p = 0.0625 (exact sign test); 5 would fail."),
        # Too few questions for a verdict, but not for an exact test.
        ((5, 0, 5), {}, False, "5 of 5 answers changed from right to wrong, 0 the other way: p = 0.0312"),
        ((5, 0, 5), {"fail_on": "never"}, True, "5 would fail."),
        ((4, 0, 4), {}, True, "4 questions are too few to fail."),
        ((4, 0, 5), {"flips": 3}, False, "4 of 5 answers changed from right to wrong, 0 the other way; at most 3 may."),
        ((4, 0, 5), {"flips": 4}, True, "at most 4 may."),
        # A significant loss within the margin.
        ((100, 95, 100), {}, False, "5 would fail."),
        ((100, 95, 100), {"margin": 0.05}, True, "6 would fail."),
        ((0, 4, 5), {}, True, "0 of 5 answers changed from right to wrong, 4 the other way: p = 1.0000"),
    ],
)  # fmt: skip
def test_changed_answers_are_counted_against_a_limit_or_by_an_exact_test(
    figures: tuple[int, int, int], wanted: dict[str, Any], passed: bool, says: str
) -> None:
    before, after, of = figures
    result = held(values("accuracy", before, of), values("accuracy", after, of), **wanted)
    check = result.checks[-1]
    assert (check.name, check.passed) == ("changed answers", passed) and says in check.detail
    assert check.questions == result.regressed and len(result.regressed) == max(before - after, 0)
    if not passed:
        assert not result.passed


def test_a_primary_metric_that_applies_to_no_question_is_wrong_usage() -> None:
    same = values("accuracy", 50, 100)
    with pytest.raises(UsageError, match="judged applies to no question"):
        held(same, same, primary="judged")


@pytest.mark.parametrize("wanted", [{"floors": {"accuracy": math.nan}}, {"errors": math.nan}, {"margin": math.nan}])
def test_limits_that_are_no_numbers_are_wrong_usage(wanted: dict[str, Any]) -> None:
    same = values("accuracy", 5, 10)
    with pytest.raises(UsageError, match="must be a number from 0 to 1"):
        held(same, same, **wanted)


def test_a_baseline_that_lacks_questions_is_another_one() -> None:
    same = values("accuracy", 5, 10)
    with pytest.raises(UsageError, match="another question set"):
        held(dict(list(same.items())[:3]), same)


def test_another_pack_is_named_and_judged_all_the_same() -> None:
    same = values("accuracy", 5, 10)
    assert held(same, same).caveats == ()
    other = held(same, same, digest="e")
    assert (other.passed, other.caveats) == (True, ("the baseline was measured on another build of the pack",))


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "7", '"x"', "null", "true", "[]"])
def test_a_baseline_holds_figures_from_0_to_1(tmp_path: Path, value: str) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, Baseline("p", "d", "h", "1", {"q": {"accuracy": 0.25}}))
    assert read_baseline(path).means == {"q": {"accuracy": 0.25}}
    path.write_text(path.read_text().replace("0.25", value))
    with pytest.raises(UsageError, match="Cannot use the baseline"):
        read_baseline(path)
