"""The HTML report: everything is there, nothing that it is made from becomes markup, the same bytes every time."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tests.evaluation.reports.runs import document, sample, stored, two_profiles

from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.reports.html import html_report
from wikigr.evaluation.run import StoredRun
from wikigr.evaluation.samples import Sample

HOSTILE = (
    "</script></style></textarea></title></svg></pre><script>alert(1)</script><img src=x onerror=alert(1)>"
    "\"'><b onmouseover='x' id=pwned class=chip>&lt;i&gt;<!-- ]]>"
)
CITATION = {"section_id": "Atom#2", "title": "Atom", "quote": "Quoted.", "start": 10, "end": 31}
RANKINGS = {"one": ("Atom#2", "Ion#0"), "two": ("Atom#2", "Quark#1")}


def whole_run(text: str = "") -> StoredRun:
    """Return a run with something in every part of a report, and ``text`` at the end of every text from outside."""

    def spoil(found: Sample) -> Sample:
        ranking = tuple({"section_id": id_ + text, "score": 0.5} for id_ in RANKINGS[found.profile])
        return replace(
            found,
            profile=found.profile + text,
            answer=f"Answer of {found.profile}. [1]{text}",
            query_type=found.query_type if found.query_type == "abstained" else "extractive" + text,
            citations=({key: each + text if isinstance(each, str) else each for key, each in CITATION.items()},),
            ranking=ranking,
            timings={f"dense{text}_ms": 2.0, "total_ms": 10.0},
            usage={"calls": 1, "input_tokens": 1_200, "cost_usd": None if found.profile == "two" else 0.5},
            error=f"timed out{text}" if (found.profile, found.question_id) == ("two", "u2") else None,
        )

    repeats = [replace(each, repeat=1) for each in two_profiles()]
    made = stored(list(map(spoil, [*two_profiles(), *repeats])), repeat=2)
    run = replace(
        made.run,
        pack={key: value + text for key, value in made.run.pack.items()},
        questions={**made.run.questions, "path": "gold.jsonl" + text, "split": "dev" + text},
        profiles={name: {"mode": "hybrid" + text} for name in made.run.profiles},
        encoder={"model" + text: "MiniLM" + text},
        versions={"python" + text: "3" + text},
        argv=("eval", "run" + text),
        leaks=({"example": 1, "question_id": "a1" + text, "similarity": 0.97},),
        missing=("Nowhere" + text,),
        judge=f"m{text} rubric:x",
        dirty=True,
    )
    questions = {
        id_: {**row, "id": row["id"] + text, "question": row["question"] + text, "answers": ["x" + text], "hops": 1,
              "type": ("factoid", "bridge")[row["line"] % 2] + text}
        for id_, row in made.questions.items()
    }  # fmt: skip
    return replace(made, run=run, questions=questions)


def report(text: str = "", *, primary: str = "accuracy", **options: Any) -> LexborHTMLParser:
    made = whole_run(text)
    made = replace(made, run=replace(made.run, primary=primary))
    return LexborHTMLParser(html_report(report_document(made, resamples=199, **options)))


def first_match(node: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    found = node.css_first(selector)
    assert found is not None, selector
    return found


def text_of(tree: LexborHTMLParser | LexborNode, selector: str) -> str:
    return " ".join(" ".join(node.text(separator=" ") for node in tree.css(selector)).split())


def place(node: LexborNode | None, name: str) -> float:
    assert node is not None
    return float((node.attributes[name] or "").removesuffix("%"))


def test_all_parts_are_there() -> None:
    tree = report()
    links = [link.attributes["href"] or "" for link in tree.css("nav a")]
    assert links == [
        "#verdicts", "#metrics", "#differences", "#calibration", "#hops", "#types", "#abstention", "#confidence",
        "#repeats", "#latency", "#flips", "#questions", "#usage", "#making",
    ]  # fmt: skip
    assert ["#" + str(node.attributes["id"]) for node in tree.css("section")] == links
    head = text_of(tree, "header")
    for part in ("pack 1 dddd", "5 of gold.jsonl, split dev", "accuracy margin ±2.0%", "Seed 0 2 × each question"):
        assert part in head
    assert text_of(tree, ".sentence").startswith("two against one in accuracy: +")
    assert text_of(tree, "#metrics tbody tr.primary th") == "accuracy *"
    assert "one 10 0 0 4 0 10 12,000 0 5.0000 two 10 2 0 2 0 8 9,600 0 unknown" in text_of(tree, "#usage tbody")
    warnings = text_of(tree, "#warnings")
    for part in ("two: 2 of 10 answers failed", "1 × timed out", "'Nowhere'", "question a1", "uncommitted changes"):
        assert part in warnings


def test_a_quiet_run_has_no_warnings() -> None:
    tree = LexborHTMLParser(html_report(document(two_profiles())))
    assert not tree.css("#warnings, #repeats, #hops") and "No answer failed" in text_of(tree, ".calm")


def test_forest_plot_draws_to_scale_and_says_what_it_draws() -> None:
    made = report_document(whole_run(), resamples=199)
    tree = LexborHTMLParser(html_report(made))
    results = made["comparisons"][0]["results"]
    rows = tree.css("#differences tbody tr")
    assert len(rows) == len(results) == 2
    for row, result in zip(rows, results, strict=True):
        unit = place(row.css_first(".band rect"), "width") / 0.04
        line, interval = row.css_first(".interval > line"), result["interval"]
        assert place(row.css_first(".zero"), "x1") == 50.0
        assert place(line, "x1") == pytest.approx(50 + interval["low"] * unit, abs=0.5)
        assert place(line, "x2") == pytest.approx(50 + interval["high"] * unit, abs=0.5)
        assert place(row.css_first(".interval > circle"), "cx") == pytest.approx(
            50 + result["difference"] * unit, abs=0.5
        )
        said = f"{result['metric']}: {100 * result['difference']:+.1f} points, {result['verdict']}"
        assert first_match(row, "svg.row > title").text() == said
        ends = f"{100 * interval['low']:+.1f} to {100 * interval['high']:+.1f}"
        assert text_of(row, "svg.row > desc") == f"two minus one, 95% interval {ends} points"
    assert ("primary" in (rows[0].attributes["class"] or ""), text_of(rows[1], ".tag")) == (True, "lower is better")


def test_reliability_diagram_draws_to_scale_and_says_what_it_draws() -> None:
    made = report_document(whole_run(), resamples=199)
    tree = LexborHTMLParser(html_report(made))
    bins = made["profiles"][0]["reliability"]["bins"]
    svg = first_match(tree, "#calibration svg")
    assert first_match(svg, "title").text() == "Reliability diagram of one"
    assert "Accuracy against mean confidence in 1 bins of 6 answers." in text_of(svg, "desc")
    diagonal = first_match(svg, "line.zero")
    left, bottom, right, top = (place(diagonal, name) for name in ("x1", "y1", "x2", "y2"))
    assert right - left == bottom - top > 0
    for mark, each in zip(svg.css("g.interval"), bins, strict=True):
        circle, line = mark.css_first("circle"), mark.css_first("line")
        assert (place(circle, "cx") - left) / (right - left) == pytest.approx(each["confidence"], abs=0.001)
        for node, name, value in ((circle, "cy", "value"), (line, "y1", "low"), (line, "y2", "high")):
            assert (bottom - place(node, name)) / (right - left) == pytest.approx(each["accuracy"][value], abs=0.001)
    row = [cell.text() for cell in tree.css("#calibration tbody tr")[0].iter()]
    assert row[:4] == ["50.0% to 90.0%", "6", "73.3%", "33.3%"]


def test_flips_show_both_sides_and_what_reproduces_them() -> None:
    tree = report()
    entries = tree.css(".flips > details")
    assert [text_of(entry, "summary") for entry in entries] == [
        "wrong → right What is a2?",
        "wrong → right What is u1?",
    ]
    assert "Better on accuracy: 2; worse: 0." in text_of(tree, ".flips > p")
    for side, name, only in zip(entries[0].css(".side"), ("one", "two"), ("Ion#0", "Quark#1"), strict=True):
        words = " ".join(side.text(separator=" ").split())
        for part in (f"Answer of {name}.", "Quoted.", "Atom#2 [10:31]", f"{only} only here", f"--profile {name} --off"):
            assert part in words
        assert "Atom#2 only here" not in words
    worse = report(primary="hallucination")
    assert text_of(worse, ".flips .chip") == "wrong → right wrong → right"
    assert text_of(worse, "table.questions tbody tr:first-child td.state .words") == "right right"


def test_questions_and_what_the_filters_work_on() -> None:
    samples = [sample("one", id_, 1.0) for id_ in ("a1", "a2", "u1")]
    samples += [sample("two", "a1", 0.0, metrics={"accuracy": 0.5}), sample("two", "a2", 0.0, metrics={})]
    samples += [sample("two", "a3", 0.0, error="down", metrics={}), sample("two", "u1", 1.0)]
    tree = LexborHTMLParser(html_report(document(samples)))
    rows = tree.css("table.questions > tbody > tr")
    states = [[(cell.attributes["class"] or "").split()[1] for cell in row.css("td.state")] for row in rows]
    assert states == [["right", "partly"], ["right", "none"], ["none", "error"], ["right", "right"], ["none", "none"]]
    assert "down" in rows[2].text() and "line 1" in rows[0].text()
    data = json.loads(first_match(tree, "#data").text())
    assert (data["profiles"], data["types"]) == (["one", "two"], ["t"])
    assert data["rows"] == [[0, changed, row] for changed, row in zip((1, 0, 0, 0, 0), states, strict=True)]
    assert "hidden" in first_match(tree, "form#filters").attributes


def shape(node: LexborNode | None) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
    """Return the elements with their attributes, but for the places where a name may be broken."""
    assert node is not None
    found = [(str(each.tag), tuple(sorted(each.attributes.items()))) for each in node.traverse()]
    return [each for each in found if each[0] not in ("wbr", "-text")]


def test_hostile_values_become_no_markup() -> None:
    """The same elements with the same attributes, whatever the text of every field says."""
    plain, attacked = report("X"), report(HOSTILE)
    assert shape(attacked.root) == shape(plain.root)
    assert attacked.body is not None and attacked.body.text().count("alert(1)") > 100
    assert len(attacked.css("script")) == 2 and len(attacked.css("style")) == 1
    assert not attacked.css("img, b, i, iframe, link, base, object, embed, #pwned")
    assert json.loads(first_match(attacked, "#data").text())["profiles"][0] == f"one{HOSTILE}"
    assert not [name for node in attacked.css("*") for name in node.attributes if name.startswith("on")]


def test_half_a_surrogate_pair_can_be_written_and_a_long_answer_is_cut() -> None:
    samples = [sample("one", "a1", 1.0, answer="broken \ud800 text" + "x" * 50_000)]
    page = html_report(document(samples)).encode("utf-8").decode("utf-8")
    assert "broken ? text" in page and "… (48,013 more characters)" in page


def test_same_document_same_bytes() -> None:
    made = report_document(whole_run(), resamples=199)
    assert html_report(made) == html_report(json.loads(json.dumps(made)))


def test_nothing_is_loaded_from_anywhere() -> None:
    tree = report()
    page = tree.html or ""
    assert not [text for text in ("http://", "https://", "url(", "@import") if text in page]
    policy = first_match(tree, "meta[http-equiv='Content-Security-Policy']").attributes["content"] or ""
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:")
    assert not tree.css("[src], link, iframe, object, embed, image, use")
    assert [node for node in tree.css("[href]") if not (node.attributes["href"] or "").startswith("#")] == []
    assert not [name for node in tree.css("*") for name in node.attributes if name.startswith("on") or name == "style"]


def test_ids_are_unique_and_columns_agree() -> None:
    tree = report()
    assert max(Counter(node.attributes["id"] for node in tree.css("[id]")).values()) == 1
    for table in tree.css("table"):
        widths = {len([c for c in row.iter() if c.tag in ("td", "th")]) for row in table.css("tr")}
        assert len(widths) == 1, table.attributes


def test_a_single_profile() -> None:
    tree = LexborHTMLParser(html_report(document([each for each in two_profiles() if each.profile == "one"])))
    assert text_of(tree, "#verdicts p") == text_of(tree, "#differences p") == "There is nothing to compare."
    assert len(tree.css("table.questions tbody tr")) == 5 and not tree.css("#differences svg")
