"""The report's document, and what text makes of it."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from wikigr.evaluation.statistics.wording import headline

from wikigr.errors import UsageError
from wikigr.evaluation.gate import GateCheck, GateResult
from wikigr.evaluation.metrics import METRICS, Metric
from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.reports.html import html_report
from wikigr.evaluation.reports.text import (
    github_annotations,
    github_report,
    junit_report,
    markdown_gate,
    markdown_report,
)
from wikigr.evaluation.run import Run, StoredRun
from wikigr.evaluation.samples import Sample
from wikigr_cli.environment import Environment
from wikigr_cli.render.evaluation import evaluation, gate

QUESTIONS = {"a1": True, "a2": True, "a3": True, "u1": False, "u2": False}


def sample(profile: str, question: str, value: float, repeat: int = 0, **fields: Any) -> Sample:
    abstains = question == "u1" or (profile == "one" and question == "a3")
    values = {
        "query_type": "abstained" if abstains else "extractive",
        "confidence": {"a1": 0.9, "a2": 0.8, "a3": 0.2, "u1": 0.1, "u2": 0.5}[question],
        "metrics": {"accuracy": value, "hallucination": 1.0 - value},
        "timings": {"dense_ms": 2.0, "total_ms": 10.0 * (repeat + 1)},
    }
    return Sample(profile, question, repeat, **{**values, **fields})


def stored(samples: list[Sample], *, repeat: int = 1, **rows: Any) -> StoredRun:
    run = Run(
        pack={"name": "pack", "version": "1", "digest": "d" * 64},
        questions={"path": "gold.jsonl", "split": None, "count": len(QUESTIONS), "hash": "h" * 64},
        profiles={name: {} for name in dict.fromkeys(each.profile for each in samples)},
        encoder={},
        seed=0,
        repeat=repeat,
        offline=True,
    )
    questions = {
        id_: {"id": id_, "question": f"What is {id_}?", "answers": ["x"] if answerable else [], "gold": [], "type": "t",
              "answerable": answerable, "line": line, **rows}
        for line, (id_, answerable) in enumerate(QUESTIONS.items(), start=1)
    }  # fmt: skip
    return StoredRun(Path("run"), run, samples, questions)


def two_profiles(**fields: Any) -> list[Sample]:
    right = {"one": {"a1"}, "two": {"a1", "a2", "u1"}}
    return [sample(name, id_, float(id_ in right[name]), **fields) for name in right for id_ in QUESTIONS]


def document(samples: list[Sample], *, primary: str = "accuracy", repeat: int = 1, **rows: Any) -> dict[str, Any]:
    return report_document(stored(samples, repeat=repeat, **rows), primary=primary, margin=0.02, resamples=199)


def printed(made: dict[str, Any]) -> str:
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
    evaluation(environment, made)
    assert isinstance(environment.stdout, io.StringIO)
    return environment.stdout.getvalue()


def cells(text: str, start: str) -> list[str]:
    """Return the words of the first line that starts so."""
    return next(line.removeprefix(start).split() for line in text.splitlines() if line.startswith(start))


def test_which_way_is_better_stands_in_the_document() -> None:
    made = document(two_profiles())
    assert set(made["metrics"]) == set(METRICS)
    assert made["metrics"]["hallucination"]["higher_is_better"] is False
    assert made["metrics"]["accuracy"] == {
        "higher_is_better": True, "binary": True, "description": METRICS["accuracy"].description,
    }  # fmt: skip
    ways = {result["metric"]: result["higher_is_better"] for result in made["comparisons"][0]["results"]}
    assert ways == {"accuracy": True, "hallucination": False}


def test_a_new_metric_takes_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Metric("brevity", lambda asked: 1.0 / len(asked.text), "one divided by the length of the text")
    assert isinstance(METRICS, dict)
    monkeypatch.setitem(METRICS, "brevity", row)
    values = {"one": 0.25, "two": 0.75}
    made = document(
        [replace(each, metrics={**each.metrics, "brevity": values[each.profile]}) for each in two_profiles()],
        primary="brevity",
    )
    assert made["metrics"]["brevity"] == {
        "higher_is_better": True, "binary": False, "description": row.description,
    }  # fmt: skip
    (result,) = [result for result in made["comparisons"][0]["results"] if result["metric"] == "brevity"]
    assert result["difference"] == 0.5
    assert {flip["difference"] for flip in made["flips"]["two"]} == {0.5}
    assert "brevity" in printed(made) and "brevity" in markdown_report(made)


def test_of_a_metric_of_which_less_is_better_more_is_worse_in_every_report() -> None:
    worse = [sample("one", "a1", 1.0), sample("one", "a2", 0.0), sample("two", "a1", 0.0), sample("two", "a2", 1.0)]
    made = document(worse, primary="hallucination")
    found = [(flip["question_id"], flip["worse"], flip["difference"]) for flip in made["flips"]["two"]]
    assert found == [("a1", True, 1.0), ("a2", False, -1.0)]
    warnings = [line for line in github_report(made).splitlines() if line.startswith("::warning")]
    assert len(warnings) == 1 and "line=1," in warnings[0] and "a1: What is a1?" in warnings[0]
    failed = [
        (case.get("classname"), case.get("name"))
        for case in ElementTree.fromstring(junit_report(made)).iter("testcase")
        if case.find("failure") is not None
    ]
    assert failed == [("two", "a1")]
    assert "hallucination ↓ *" in printed(made) and "↓ lower is better" in printed(made)


def test_abstention_is_in_every_report() -> None:
    made = document(two_profiles())
    one, two = (profile["abstention"] for profile in made["profiles"])
    assert (one["precision"]["value"], one["recall"]["value"]) == (0.5, 0.5)
    assert (two["precision"]["value"], two["recall"]["value"]) == (1.0, 0.5)
    # a1 and a2 above both, a3 above u1 only: 5 of 6 pairs.
    assert one["auroc"]["value"] == two["auroc"]["value"] == pytest.approx(5 / 6)
    assert one["auroc"]["low"] < 5 / 6 < one["auroc"]["high"] <= 1.0
    assert (one["answerable"], one["unanswerable"], one["abstained"], one["abstained_rightly"]) == (3, 2, 2, 1)
    text = printed(made)
    assert cells(text, "precision")[0] == "0.500"
    assert "1.000" in cells(text, "precision")
    assert cells(text, "AUROC")[0] == "0.833"
    assert cells(text, "abstained  ") == ["2,", "1", "rightly", "1,", "1", "rightly"]
    assert cells(text, "unanswerable") == ["2", "of", "5", "2", "of", "5"]
    assert "## Abstention" in markdown_report(made) and "| AUROC | 0.833 [" in markdown_report(made)
    assert 'id="abstention"' in html_report(made)


def test_figures_by_hops_and_type_are_in_every_report() -> None:
    run = stored([
        replace(each, metrics={
            **each.metrics,
            "all_found@5": float(each.question_id != "a2"),
            **({"section_all_found@5": 1.0} if each.question_id == "a2" else {}),
        })
        for each in two_profiles()
    ])  # fmt: skip
    kinds = {"a1": ("single", None), "a2": ("two-hop", None), "a3": ("comparison", 2)}
    for id_, (kind, hops) in kinds.items():
        run.questions[id_].update(type=kind, hops=hops)  # type: ignore[attr-defined]
    made = report_document(run, resamples=199)
    one, two = (profile["by_hops"] for profile in made["profiles"])
    assert [(group["hops"], group["questions"]) for group in one] == [(1, 1), (2, 2)]
    assert [group["metrics"]["accuracy"]["mean"] for group in one] == [1.0, 0.0]
    assert [group["metrics"]["accuracy"]["mean"] for group in two] == [1.0, 0.5]
    assert two[1]["metrics"]["all_found@5"]["mean"] == 0.5
    assert [group["type"] for group in made["profiles"][0]["by_type"]] == ["comparison", "single", "t", "two-hop"]
    assert [question["hops"] for question in made["questions"]] == [1, 2, 2, None, None]
    text = printed(made)
    assert cells(text, "2 hops (2), accuracy")[0] == "0.000" and "0.500" in cells(text, "2 hops (2), accuracy")
    assert cells(text, "2 hops (2), all_found@5")[0] == "0.500"
    # One of the two questions names a section.
    assert cells(text, "2 hops (1), section_all_found@5")[0] == "1.000"
    assert cells(text, "comparison (1), accuracy")[0] == "0.000"
    markdown = markdown_report(made)
    assert "## Hops" in markdown and "| 2 hops (2), all_found@5 | 0.500 [" in markdown and "## Types" in markdown
    page = html_report(made)
    assert 'id="groups"' in page and 'href="#groups"' in page and "2 hops" in page and "comparison" in page


def test_types_that_repeat_the_hops_are_not_printed() -> None:
    run = stored(two_profiles())
    for id_ in ("a1", "a2", "a3"):
        run.questions[id_].update(type="single" if id_ == "a1" else "two-hop")  # type: ignore[attr-defined]
    text = printed(report_document(run, resamples=199))
    assert "by hops" in text and "by type" not in text
    # Without a number of hops, only the types are left; a single type repeats the table of metrics.
    text = printed(document(two_profiles()))
    assert "by hops" not in text and "by type" not in text
    for id_ in ("a1", "a2", "a3"):
        run.questions[id_].update(type="single" if id_ == "a1" else "bridge")  # type: ignore[attr-defined]
    text = printed(report_document(run, resamples=199))
    # The table by hops leaves out the type without a number.
    assert "by hops" in text and "by type" in text and "bridge (2), accuracy" in text


def test_confidence_is_in_every_report() -> None:
    made = document(two_profiles())
    one, two = (profile["risk_coverage"] for profile in made["profiles"])
    # By confidence: a1 right, a2 wrong, u2 wrong, then the abstentions from a3 and u1.
    assert (one["samples"], one["answered"], one["coverage"]) == (5, 3, 0.6)
    assert [each["coverage"] for each in one["accuracy"]] == [0.5, 0.7, 0.9]
    assert [each["value"] for each in one["accuracy"]] == pytest.approx([1 / 2.5, 1 / 3.5, 1 / 4.5])
    assert one["aurc"]["value"] == pytest.approx((0 + 1 / 2 + 2 / 3 + 3 / 4 + 4 / 5) / 5)
    assert one["curve"][1] == {"coverage": 0.4, "risk": 0.5}
    # Its abstention from u1 was right, and is no answer all the same.
    assert [each["value"] for each in two["accuracy"]] == pytest.approx([2 / 2.5, 2 / 3.5, 2 / 4.5])
    scored = made["profiles"][0]["reliability"]
    # a1, a2 and u2 have confidence 0.9, 0.8 and 0.5; one of them is right.
    assert scored["ece"]["value"] == pytest.approx(2.2 / 3 - 1 / 3)
    assert [(each["from"], each["to"], each["answers"]) for each in scored["bins"]] == [(0.5, 0.9, 3)]
    assert scored["bins"][0]["accuracy"]["method"] == "wilson"
    text = printed(made)
    assert cells(text, "accuracy at 50%")[0] == "0.400"
    # Three of five questions are answered, so an accuracy at 70% is a lower bound.
    assert cells(text, "accuracy at 70%")[:2] == ["≥", "0.286"]
    assert cells(text, "AURC ↓")[0] == f"{one['aurc']['value']:.3f}"
    assert cells(text, "ECE ↓")[0] == "0.400"
    assert cells(text, "ECE by chance")[0] == f"{scored['noise']:.3f}"
    assert cells(text, "answered")[:3] == ["3", "of", "5"]
    assert "## Confidence" in markdown_report(made) and "| ECE ↓ | 0.400 [" in markdown_report(made)
    assert 'id="confidence"' in html_report(made)


def test_the_precision_of_each_level_is_in_every_report() -> None:
    levels = {"a1": "sure", "a2": "sure", "a3": "likely", "u2": "not_sure"}
    rows = [
        replace(each, level="not_covered" if each.query_type == "abstained" else levels[each.question_id])
        for each in two_profiles()
    ]
    made = document(rows)
    one, two = (profile["levels"] for profile in made["profiles"])
    # The first profile abstains from a3.
    assert [(each["level"], each["answers"]) for each in one] == [("sure", 2), ("likely", 0), ("not_sure", 1)]
    assert [each["precision"] and each["precision"]["value"] for each in one] == [0.5, None, 0.0]
    assert one[0]["precision"]["method"] == "wilson"
    assert [each["precision"] and each["precision"]["value"] for each in two] == [1.0, 0.0, 0.0]
    assert made["questions"][0]["by_profile"]["one"]["level"] == "sure"
    text = printed(made)
    assert cells(text, "sure")[0] == "0.500" and cells(text, "sure")[3:5] == ["of", "2"]
    assert cells(text, "likely")[0] == "—"
    assert "## Levels" in markdown_report(made) and "| not sure | 0.000 [" in markdown_report(made)
    page = html_report(made)
    assert "Right if “sure”" in page and "50.0% of 2" in page
    # Runs of older versions have no levels.
    made = document(two_profiles())
    assert [profile["levels"] for profile in made["profiles"]] == [None, None]
    assert "by level" not in printed(made) and "Right if" not in html_report(made)


def test_without_answers_there_is_no_reliability() -> None:
    rows = [replace(each, query_type="abstained") for each in two_profiles() if each.profile == "one"]
    made = document(rows)
    (profile,) = made["profiles"]
    assert profile["reliability"] is None
    assert profile["risk_coverage"]["aurc"]["value"] == 1.0
    assert cells(printed(made), "ECE ↓") == ["—"]
    assert "ECE –" in " ".join(re.sub("<[^>]*>", " ", html_report(made)).split())
    ungraded = document([replace(each, metrics={"mrr": 1.0}) for each in rows], primary="mrr")
    assert ungraded["profiles"][0]["risk_coverage"] is None
    assert "AURC" not in printed(ungraded) + markdown_report(ungraded) + html_report(ungraded)


def test_without_unanswerable_questions_there_is_no_abstention() -> None:
    made = document(two_profiles(), answerable=True)
    assert [profile["abstention"] for profile in made["profiles"]] == [None, None]
    assert "AUROC" not in printed(made) + markdown_report(made) + html_report(made)


def test_repeats_are_in_every_report_when_there_are_some() -> None:
    once = document(two_profiles())
    assert [profile["repeats"] for profile in once["profiles"]] == [None, None]
    assert "unstable" not in printed(once) + markdown_report(once)
    # Under "one" a1 is right once in two; the means of the repeats are 1/5 and 0.
    again = [sample("one", id_, 0.0, 1) for id_ in QUESTIONS]
    again += [sample("two", id_, float(id_ in ("a1", "a2", "u1")), 1) for id_ in QUESTIONS]
    made = document([*two_profiles(), *again], repeat=2)
    one, two = (profile["repeats"] for profile in made["profiles"])
    assert one["deviations"]["accuracy"] == pytest.approx(0.2 / 2**0.5)
    assert (one["unstable"], one["unstable_share"]) == (("a1",), 0.2)
    assert (two["deviations"]["accuracy"], two["unstable_share"]) == (0.0, 0.0)
    text = printed(made)
    start = text.index("between repeats")
    assert cells(text[start:], "accuracy *") == ["0.1414", "0.0000"]
    assert cells(text, "unstable questions") == ["1", "of", "5", "(20.0%)", "0", "of", "5", "(0.0%)"]
    assert "| unstable questions | 1 of 5 (20.0%) | 0 of 5 (0.0%) |" in markdown_report(made)
    assert "1 of 5 (20.0%)" in html_report(made)


def test_cached_and_fresh_answers_are_timed_apart() -> None:
    fresh = [sample("one", id_, 1.0, timings={"llm_ms": n * 100.0, "total_ms": n * 100.0 + 7})
             for n, id_ in enumerate(QUESTIONS)]  # fmt: skip
    cached = [sample("one", id_, 1.0, 1, cached=True, timings={"llm_ms": 0.5, "total_ms": 3.0}) for id_ in QUESTIONS]
    failed = [sample("one", "a1", 1.0, 2, error="down", timings={"total_ms": 1e6})]
    made = document([*fresh, *cached, *failed], repeat=3)
    (profile,) = made["profiles"]
    assert profile["latency"] == {
        "llm": {"p50": 200.0, "p95": pytest.approx(380.0)}, "total": {"p50": 207.0, "p95": pytest.approx(387.0)},
    }  # fmt: skip
    assert profile["latency_cached"] == {"llm": {"p50": 0.5, "p95": 0.5}, "total": {"p50": 3.0, "p95": 3.0}}
    text = printed(made)
    assert cells(text, "total, p50") == ["207.0", "3.0"]
    assert cells(text, "total, p95") == ["387.0", "3.0"]
    assert cells(text, "llm, p50") == ["200.0", "0.5"]
    assert "| milliseconds | one | one (cached) |" in markdown_report(made)
    none_cached = document(fresh)
    assert none_cached["profiles"][0]["latency_cached"] == {}
    assert "cached" not in printed(none_cached)


def test_every_metric_that_applies_is_shown_within_80_columns() -> None:
    names = ["enhanced", *(f"enhanced-without-{part}" for part in ("lexical", "section_quality", "graph_reranker"))]
    samples = [
        Sample(name, f"a{n}", 0, metrics=dict.fromkeys(METRICS, float(n % 2)), timings={"section_quality_ms": 12345.6})
        for name in names
        for n in (1, 2, 3)
    ]
    made = document(samples)
    text = printed(made)
    table = text[: text.index("Means with")]
    for metric in METRICS:
        # Four profiles stand two by two.
        assert sum(line.split()[0] == metric for line in table.splitlines() if line) == 2
    for name in ("section_quality", "graph_reranker", "lexical"):
        assert name in table
    prose = ("Means with", "This many questions", "Precision:", "Accuracy at", "Standard dev", "No difference shown")
    wide = [line for line in text.splitlines() if len(line) > 80 and not line.startswith(prose)]
    assert not wide


def test_a_comparison_has_its_verdict_on_the_same_line() -> None:
    found = [Sample(name, f"a{n}", 0, metrics={"citation_precision": float(n % 7 > 0), "accuracy": float(n > wrong)})
             for name, wrong in (("one", 400), ("two", 0)) for n in range(1000)]  # fmt: skip
    made = document(found)
    text = printed(made)
    # The verdict comes before all figures.
    assert text.startswith("two is better than one in accuracy: +40.0 points")
    compared = text[text.index("two against one") :]
    row = next(line for line in compared.splitlines() if line.startswith("accuracy *"))
    assert len(row) <= 80
    assert row.split()[2] == "+0.400" and row.split()[-2:] == ["400/600/0", "improved"]
    result = next(r for r in made["comparisons"][0]["results"] if r["metric"] == "accuracy")
    points = f"{100 * result['mde']:.1f} points"
    assert f"This many questions detect a difference of {points} or more with 80% power." in compared


def test_a_primary_metric_that_applies_to_nothing_is_no_crash() -> None:
    made = document(two_profiles(), primary="mrr")
    assert (
        headline(made["comparisons"][0])
        == "two cannot be compared with one: mrr applies to no question that both answered."
    )
    assert "applies to no question" in printed(made)


def test_intervals_of_means_respect_clusters() -> None:
    alone = document(two_profiles())["profiles"][1]["metrics"]["accuracy"]
    together = document(two_profiles(), cluster="c")["profiles"][1]["metrics"]["accuracy"]
    assert alone["low"] < alone["mean"] < alone["high"]
    assert together["low"] == together["mean"] == together["high"] == alone["mean"]


def test_a_run_that_is_not_whole_says_so_in_every_report() -> None:
    assert document(two_profiles())["notices"] == []
    made = document([each for each in two_profiles() if (each.profile, each.question_id) != ("two", "a3")])
    notice = "two: the run is incomplete, with 4 of 5 samples."
    assert made["notices"] == [notice]
    for report in (markdown_report, github_report, html_report):
        assert notice in report(made)
    assert notice in _printed(made)


def test_an_arm_that_failed_everywhere_is_reported_and_not_compared() -> None:
    failed = [sample("three", id_, 0.0, error="down", metrics={}) for id_ in QUESTIONS]
    made = document([*two_profiles(), *failed])
    assert [comparison["second"] for comparison in made["comparisons"]] == ["two"]
    assert made["notices"] == ["three is not compared with one: they have no answered question in common."]
    assert [(profile["name"], profile["errors"]) for profile in made["profiles"]][-1] == ("three", 5)
    every = document([replace(each, error="down", metrics={}) for each in two_profiles()])
    assert "No question was answered by two profiles" in html_report(every)
    assert "one: 5 samples failed" in _printed(every)


def test_models_that_may_write_more_are_told_apart() -> None:
    made = stored(two_profiles())
    profiles = {"one": {"synthesis": {"max_tokens": 512}}, "two": {"synthesis": {"max_tokens": 1024}}}
    run = replace(made.run, profiles=profiles, offline=False)
    report = report_document(replace(made, run=run), primary="accuracy", margin=0.02, resamples=99)
    assert report["notices"] == ["The profiles may write answers of different lengths (tokens: one 512, two 1024)."]


def test_junit_takes_any_id_and_skips_what_has_no_grade() -> None:
    samples = [sample("p\x01", "a1", 1.0), sample("p\x01", "a2", 0.0), sample("p\x01", "a3", 0.0, metrics={})]
    suite = ElementTree.fromstring(junit_report(document(samples, id="id\x01"))).find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "1"]
    assert suite.get("name") == "p\ufffd"


def test_a_name_is_no_markdown() -> None:
    made = document(two_profiles())
    made["run"]["pack"]["name"] = "a\n# <b>x</b>"
    assert markdown_report(made).splitlines()[0] == "# a # \\<b\\>x\\</b\\>: 5 questions"


def test_of_several_repeats_the_first_answer_is_shown() -> None:
    samples = [sample("one", id_, 1.0, repeat, answer=f"answer {repeat}") for id_ in QUESTIONS for repeat in (0, 1)]
    made = document(samples, repeat=2)
    assert {row["by_profile"]["one"]["answer"] for row in made["questions"]} == {"answer 0"}


def _printed(made: dict[str, Any]) -> str:
    out = io.StringIO()
    evaluation(Environment(stdout=out, variables={}), made)
    return out.getvalue()


def test_leaks_and_what_was_chosen_after_the_run_are_in_every_report() -> None:
    leaks = tuple({"example": n, "question_id": f"a{n}", "similarity": 0.97, "same_words": False} for n in (1, 2, 3, 3))
    one = stored(two_profiles())
    held = replace(one, run=replace(one.run, leaks=leaks, margin=0.05))
    made = report_document(held, primary="hallucination", resamples=199)
    said = [
        "accuracy was declared as the primary metric before the run; hallucination was chosen after it.",
        "3 few-shot examples leak gold questions, and no prompt used them: example 1 (question a1), "
        "example 2 (question a2), example 3 (question a3) and others (run.json lists them all).",
    ]
    assert (made["notices"], made["margin"]) == (said, 0.05)
    for text in (printed(made), markdown_report(made), html_report(made), junit_report(made), github_report(made)):
        assert [text.count(notice) for notice in said] in ([1, 1], [2, 2]), text
    assert "The primary metric was chosen after the run" in html_report(made)
    assert report_document(held, resamples=199)["primary"] == "accuracy"
    assert "The primary metric was declared before the run" in html_report(document(two_profiles()))
    with pytest.raises(UsageError, match="no metric 'acuracy'") as refused:
        report_document(held, primary="acuracy")
    assert "'accuracy'" in (refused.value.hint or "")


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
