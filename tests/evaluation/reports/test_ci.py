"""Reports for CI systems."""

from __future__ import annotations

import io
from xml.etree import ElementTree

from tests.evaluation.reports.runs import document, printed, sample, stored, two_profiles

from wikigr.evaluation.gate import GateCheck, GateResult
from wikigr.evaluation.reports.ci import junit_report
from wikigr.evaluation.reports.document import report_document
from wikigr_cli.commands.eval.gate import print_gate as gate
from wikigr_cli.environment import Environment


def test_of_a_metric_of_which_less_is_better_more_is_worse_in_every_report() -> None:
    worse = [sample("one", "a1", 1.0), sample("one", "a2", 0.0), sample("two", "a1", 0.0), sample("two", "a2", 1.0)]
    made = document(worse, primary="hallucination")
    found = [(flip["question_id"], flip["worse"], flip["difference"]) for flip in made["flips"]["two"]]
    assert found == [("a1", True, 1.0), ("a2", False, -1.0)]
    assert "hallucination ↓ *" in printed(made) and "↓ lower is better" in printed(made)


def test_junit_takes_any_id_and_skips_what_has_no_grade() -> None:
    samples = [sample("p\x01", "a1", 1.0), sample("p\x01", "a2", 0.0), sample("p\x01", "a3", 0.0, metrics={})]
    suite = ElementTree.fromstring(junit_report(document(samples, id="id\x01"), {})).find("testsuite")
    assert suite is not None
    # Without a gate, a wrong answer is not a failure.
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "0", "0", "1"]
    assert suite.get("name") == "p\ufffd"


def test_a_gate_names_the_profile_that_it_judged() -> None:
    result = GateResult("two", (GateCheck("accuracy ≥ 0.8", False, "0.6000"),), (), ("another build",))
    made = report_document(stored(two_profiles()), resamples=199, gate=result)
    assert made["gate"] == {
        "profile": "two", "passed": False, "regressed": [], "caveats": ["another build"],
        "checks": [
            {"name": "accuracy ≥ 0.8", "passed": False, "outcome": "failed", "detail": "0.6000", "questions": []}
        ],
    }  # fmt: skip
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
    gate(environment, result, {})
    assert isinstance(environment.stdout, io.StringIO)
    assert environment.stdout.getvalue().startswith("The gate for two: failed\nFAILED accuracy")


def junit_cases(checks: tuple[GateCheck, ...]) -> tuple[list[str | None], dict[str | None, list[str]]]:
    """Return the counts of a JUnit report of a gate with these checks, and what each case has by its name."""
    failed = sample("two", "a3", 0.0, metrics={}, error="The model did not answer.")
    samples = [sample("two", "a1", 0.0), sample("two", "a2", 0.0), failed, sample("two", "u2", 1.0)]
    made = report_document(stored(samples), resamples=199, gate=GateResult("two", checks))
    suite = ElementTree.fromstring(junit_report(made, {"a1": 0.25})).find("testsuite")
    assert suite is not None
    found = {
        case.get("name"): [child.tag for child in case if child.tag != "system-out"] for case in suite.iter("testcase")
    }
    first = suite.find("testcase")
    assert first is not None and (first.get("time"), first.get("classname")) == ("0.250", "two")
    assert (first.findtext("system-out") or "").startswith("a1: accuracy 0.000, ")
    return [suite.get(name) for name in ("tests", "failures", "errors", "skipped")], found


def test_the_failures_of_junit_are_those_of_the_gate() -> None:
    names = [stored([]).questions[id_]["question"] for id_ in ("a1", "a2", "a3", "u2")]
    for passed in (False, True):
        counts, found = junit_cases(
            (
                GateCheck("errors", passed, "1 of 4 samples failed", questions=("a3",)),
                GateCheck("changed answers", passed, "1 of 4 answers changed from right to wrong", questions=("a1",)),
                GateCheck("accuracy ≥ 0.2", True, "0.2500"),
            )
        )
        # What was wrong before and still is does not fail; what the gate allows is said.
        worse, error = (["skipped"], ["skipped"]) if passed else (["failure"], ["error"])
        assert [found[name] for name in names] == [worse, [], error, []]
        assert found["changed answers"] == ([] if passed else ["failure"]) and found["accuracy ≥ 0.2"] == []
        assert counts == (["7", "0", "0", "2"] if passed else ["7", "3", "1", "0"])
