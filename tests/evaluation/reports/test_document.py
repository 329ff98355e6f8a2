"""The report's document, and what the tables make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.evaluation.reports.runs import QUESTIONS, document, printed, sample, stored, two_profiles

from wikigr.evaluation.metrics import METRICS
from wikigr.evaluation.reports.ci import junit_report
from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.reports.html import html_report
from wikigr.evaluation.samples import Sample


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
    page = html_report(made)
    assert 'id="hops"' in page and 'href="#types"' in page and "2 hops" in page and "comparison" in page


def test_types_that_repeat_the_hops_are_not_printed() -> None:
    run = stored(two_profiles())
    for id_ in ("a1", "a2", "a3"):
        run.questions[id_].update(type="single" if id_ == "a1" else "two-hop")  # type: ignore[attr-defined]
    text = printed(report_document(run, resamples=199))
    assert "\nhops " in text and "\ntypes " not in text
    # Without a number of hops, only the types are left; a single type repeats the table of metrics.
    text = printed(document(two_profiles()))
    assert "\nhops " not in text and "\ntypes " not in text
    for id_ in ("a1", "a2", "a3"):
        run.questions[id_].update(type="single" if id_ == "a1" else "bridge")  # type: ignore[attr-defined]
    text = printed(report_document(run, resamples=199))
    # The table by hops leaves out the type without a number.
    assert "\nhops " in text and "\ntypes " in text and "bridge (2), accuracy" in text


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
    page = html_report(made)
    assert 'id="levels"' in page and "of 2</td>" in page
    # Runs of older versions have no levels.
    made = document(two_profiles())
    assert [profile["levels"] for profile in made["profiles"]] == [None, None]
    assert "levels" not in printed(made) + html_report(made)


def test_without_unanswerable_questions_there_is_no_abstention() -> None:
    made = document(two_profiles(), answerable=True)
    assert [profile["abstention"] for profile in made["profiles"]] == [None, None]
    assert "AUROC" not in printed(made) + html_report(made)


def test_repeats_are_in_every_report_when_there_are_some() -> None:
    once = document(two_profiles())
    assert [profile["repeats"] for profile in once["profiles"]] == [None, None]
    assert "unstable" not in printed(once) + html_report(once)
    # Under "one" a1 is right once in two; the means of the repeats are 1/5 and 0.
    again = [sample("one", id_, 0.0, 1) for id_ in QUESTIONS]
    again += [sample("two", id_, float(id_ in ("a1", "a2", "u1")), 1) for id_ in QUESTIONS]
    made = document([*two_profiles(), *again], repeat=2)
    one, two = (profile["repeats"] for profile in made["profiles"])
    assert one["deviations"]["accuracy"] == pytest.approx(0.2 / 2**0.5)
    assert (one["unstable"], one["unstable_share"]) == (("a1",), 0.2)
    assert (two["deviations"]["accuracy"], two["unstable_share"]) == (0.0, 0.0)
    text = printed(made)
    start = text.index("repeats ")
    assert cells(text[start:], "accuracy *") == ["0.1414", "0.0000"]
    assert cells(text, "unstable questions") == ["1", "of", "5", "(20.0%)", "0", "of", "5", "(0.0%)"]
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
    prose = ("Means with", "Precision:", "ECE:", "Standard dev", "enhanced-without-")
    wide = [line for line in text.splitlines() if len(line) > 80 and not line.startswith(prose)]
    assert not wide


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
    assert notice in html_report(made) and notice in printed(made)


def test_an_arm_that_failed_everywhere_is_reported_and_not_compared() -> None:
    failed = [sample("three", id_, 0.0, error="down", metrics={}) for id_ in QUESTIONS]
    made = document([*two_profiles(), *failed])
    assert [comparison["second"] for comparison in made["comparisons"]] == ["two"]
    assert made["notices"] == ["three is not compared with one: they have no answered question in common."]
    assert [(profile["name"], profile["errors"]) for profile in made["profiles"]][-1] == ("three", 5)
    every = document([replace(each, error="down", metrics={}) for each in two_profiles()])
    assert "There is nothing to compare." in html_report(every)
    assert "one: 5 samples failed" in printed(every)


def test_models_that_may_write_more_are_told_apart() -> None:
    made = stored(two_profiles())
    profiles = {"one": {"synthesis": {"max_tokens": 512}}, "two": {"synthesis": {"max_tokens": 1024}}}
    run = replace(made.run, profiles=profiles, offline=False)
    report = report_document(replace(made, run=run), resamples=99)
    assert report["notices"] == ["The profiles may write answers of different lengths (tokens: one 512, two 1024)."]


def test_of_several_repeats_the_first_answer_is_shown() -> None:
    samples = [sample("one", id_, 1.0, repeat, answer=f"answer {repeat}") for id_ in QUESTIONS for repeat in (0, 1)]
    made = document(samples, repeat=2)
    assert {row["by_profile"]["one"]["answer"] for row in made["questions"]} == {"answer 0"}


def test_leaks_are_in_every_report() -> None:
    leaks = tuple({"example": n, "question_id": f"a{n}", "similarity": 0.97, "same_words": False} for n in (1, 2, 3, 3))
    one = stored(two_profiles())
    held = replace(one, run=replace(one.run, leaks=leaks, margin=0.05))
    made = report_document(held, resamples=199)
    said = [
        "3 few-shot examples leak gold questions, and no prompt used them: example 1 (question a1), "
        "example 2 (question a2), example 3 (question a3) and others (run.json lists them all).",
    ]
    assert (made["notices"], made["margin"]) == (said, 0.05)
    for text in (printed(made), html_report(made), junit_report(made, {})):
        assert [text.count(notice) for notice in said] in ([1], [2]), text


def test_confidence_is_in_every_report() -> None:
    made = document(two_profiles())
    scored = made["profiles"][0]["reliability"]
    # a1, a2 and u2 have confidence 0.9, 0.8 and 0.5; one of them is right.
    assert scored["ece"]["value"] == pytest.approx(2.2 / 3 - 1 / 3)
    assert [(each["from"], each["to"], each["answers"]) for each in scored["bins"]] == [(0.5, 0.9, 3)]
    assert scored["bins"][0]["accuracy"]["method"] == "wilson"
    text = printed(made)
    assert cells(text, "ECE ↓")[0] == "0.400"
    assert cells(text, "ECE by chance")[0] == f"{scored['noise']:.3f}"
    assert 'id="confidence"' in html_report(made)
    # Abstentions state no confidence in an answer.
    silent = document([replace(each, query_type="abstained") for each in two_profiles()])
    assert silent["profiles"][0]["reliability"] is None
    assert "ECE" not in printed(silent) + html_report(silent)


def test_a_comparison_begins_with_its_summary() -> None:
    found = [Sample(name, f"a{n}", 0, metrics={"citation_precision": float(n % 7 > 0), "accuracy": float(n > wrong)})
             for name, wrong in (("one", 400), ("two", 0)) for n in range(1000)]  # fmt: skip
    made = document(found)
    text = printed(made)
    summary = made["comparisons"][0]["summary"]
    assert summary.startswith("two against one in accuracy: +40.0 points (95% interval ")
    assert summary.endswith(" points: improved") and text.startswith(summary)
    row = next(line for line in text[text.index("diff.") :].splitlines() if line.startswith("accuracy *"))
    assert len(row) <= 80
    assert row.split()[2] == "+0.400" and row.split()[-2:] == ["400/600/0", "improved"]
    nothing = document(two_profiles(), primary="mrr")
    said = "two against one in mrr: it applies to no question that both answered"
    assert nothing["comparisons"][0]["summary"] == said
    assert said in printed(nothing) and said in html_report(nothing)
