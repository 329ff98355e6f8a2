"""Reports for CI systems."""

from __future__ import annotations

import io
from xml.etree import ElementTree

from tests.evaluation.reports.runs import document, printed, sample, stored, two_profiles

from wikigr.evaluation.gate import GateCheck, GateResult
from wikigr.evaluation.reports.ci import github_annotations, junit_report
from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.reports.text import markdown_gate
from wikigr_cli.environment import Environment
from wikigr_cli.render.evaluation import gate


def test_of_a_metric_of_which_less_is_better_more_is_worse_in_every_report() -> None:
    worse = [sample("one", "a1", 1.0), sample("one", "a2", 0.0), sample("two", "a1", 0.0), sample("two", "a2", 1.0)]
    made = document(worse, primary="hallucination")
    found = [(flip["question_id"], flip["worse"], flip["difference"]) for flip in made["flips"]["two"]]
    assert found == [("a1", True, 1.0), ("a2", False, -1.0)]
    failed = [
        (case.get("classname"), case.get("name"))
        for case in ElementTree.fromstring(junit_report(made)).iter("testcase")
        if case.find("failure") is not None
    ]
    assert failed == [("two", "a1")]
    assert "hallucination ↓ *" in printed(made) and "↓ lower is better" in printed(made)


def test_junit_takes_any_id_and_skips_what_has_no_grade() -> None:
    samples = [sample("p\x01", "a1", 1.0), sample("p\x01", "a2", 0.0), sample("p\x01", "a3", 0.0, metrics={})]
    suite = ElementTree.fromstring(junit_report(document(samples, id="id\x01"))).find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "1"]
    assert suite.get("name") == "p\ufffd"


def test_a_gate_names_the_profile_that_it_judged() -> None:
    result = GateResult("two", (GateCheck("accuracy ≥ 0.8", False, "0.6000"),), None, (), ("another build",))
    assert markdown_gate(result, {}).startswith("# Failed: two\n")
    assert github_annotations(result, {}, "gold.jsonl") == (
        "::error title=wikigr eval gate::two: accuracy ≥ 0.8: 0.6000\n"
    )
    made = report_document(stored(two_profiles()), resamples=199, gate=result)
    assert made["gate"] == {
        "profile": "two", "passed": False, "regressed": [], "caveats": ["another build"],
        "checks": [{"name": "accuracy ≥ 0.8", "passed": False, "outcome": "failed", "detail": "0.6000"}],
    }  # fmt: skip
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
    gate(environment, result, {})
    assert isinstance(environment.stdout, io.StringIO)
    assert environment.stdout.getvalue().startswith("The gate for two: failed\nFAILED accuracy")
