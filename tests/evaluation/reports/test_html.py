"""The HTML report: everything is there, nothing that it is made from becomes markup, the same bytes every time."""

from __future__ import annotations

import copy
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from wikigr.evaluation.reports.html import html_report

Values = dict[str, Any]

HOSTILE = (
    "</script></style></textarea></title></svg></pre><script>alert(1)</script><img src=x onerror=alert(1)>"
    "\"'><b onmouseover='x' id=pwned class=chip>&lt;i&gt;<!-- ]]>"
)
METRICS = ("recall@5", "accuracy", "token_f1", "hallucination_rate")


def result(metric: str, difference: float, half: float, verdict: str, *, primary: bool = False) -> Values:
    return {
        "metric": metric,
        "n": 84,
        "mean_first": 0.6190476,
        "mean_second": 0.6190476 + difference,
        "difference": difference,
        "interval": {"low": difference - half, "high": difference + half, "level": 0.95, "method": "bca"},
        "p": 0.00042,
        "p_adjusted": None if primary else 0.0375,
        "test": "mcnemar",
        "wins": 20,
        "ties": 58,
        "losses": 6,
        "mde": 0.112,
        "standard_error": 0.04,
        "clusters": None,
        "verdict": verdict,
    }


def comparison(second: str, verdict: str = "improved", difference: float = 0.16666) -> Values:
    return {
        "first": "baseline",
        "second": second,
        "primary": "accuracy",
        "margin": 0.02,
        "seed": 7,
        "questions": 84,
        "unpaired": 0,
        "results": [
            result("accuracy", difference, 0.08, verdict, primary=True),
            result("recall@5", 0.05, 0.06, "inconclusive"),
            result("token_f1", 0.002, 0.012, "equivalent"),
            result("hallucination_rate", -0.21, 0.1, "improved"),
        ],
    }


def profile(name: str, mean: float) -> Values:
    return {
        "name": name,
        "samples": 84,
        "errors": 0,
        "degraded": 0,
        "abstained": 3,
        "metrics": {
            metric: {"mean": mean, "low": mean - 0.1, "high": mean + 0.08, "questions": 84} for metric in METRICS
        },
        "abstention": {
            "questions": 84,
            "answerable": 80,
            "unanswerable": 4,
            "abstained": 3,
            "abstained_rightly": 2,
            "precision": {"value": 0.6667, "low": 0.25, "high": 0.9, "method": "bca"},
            "recall": {"value": 0.5, "low": 0.2, "high": 0.8, "method": "percentile"},
            "auroc": {"value": 0.7345, "low": 0.55, "high": 0.863, "method": "bca"},
        },
        "risk_coverage": {
            "questions": 84,
            "samples": 84,
            "answered": 63,
            "coverage": 0.75,
            "accuracy": [
                {"coverage": 0.5, "value": 0.81, "low": 0.7, "high": 0.9, "method": "bca"},
                {"coverage": 0.7, "value": 0.72, "low": 0.6, "high": 0.8, "method": "bca"},
                {"coverage": 0.9, "value": 0.61, "low": 0.5, "high": 0.7, "method": "bca"},
            ],
            "aurc": {"value": 0.2345, "low": 0.2, "high": 0.301, "method": "bca"},
            "curve": [{"coverage": n / 20, "risk": n / 50} for n in range(1, 21)],
        },
        "reliability": {
            "answers": 63,
            "ece": {"value": 0.0812, "low": 0.03, "high": 0.11, "method": "percentile"},
            "noise": 0.0567,
            "bins": [
                {
                    "from": 0.5,
                    "to": 0.58,
                    "answers": 31,
                    "confidence": 0.55,
                    "accuracy": {"value": 0.25, "low": 0.1, "high": 0.4, "method": "wilson"},
                },
                {
                    "from": 0.6,
                    "to": 0.99,
                    "answers": 32,
                    "confidence": 0.8,
                    "accuracy": {"value": 1.0, "low": 0.9, "high": 1.0, "method": "wilson"},
                },
            ],
        },
        "repeats": {
            "count": 3,
            "questions": 84,
            "deviations": {"accuracy": 0.0123, "recall@5": 0.0},
            "judged": 80,
            "unstable": ["q0001", "q0003"],
            "unstable_share": 0.025,
        },
        "usage": {"calls": 84, "input_tokens": 120_400, "output_tokens": 9_000, "cost_usd": 0.4962, "cached": 0},
        "latency": {"dense": {"p50": 2.04, "p95": 4.4}, "total": {"p50": 48.25, "p95": 131.7}},
        "latency_cached": {},
    }


def question(number: int, profiles: tuple[str, ...]) -> Values:
    def sample(name: str) -> Values:
        right = float((number + len(name)) % 3 != 0)
        return {
            "answer": f"Answer {number} of {name}. [1]",
            "query_type": "extractive",
            "confidence": 0.71,
            "metrics": {"accuracy": right, "token_f1": 0.3333},
            "error": None,
        }

    return {
        "id": f"q{number:04}",
        "question": f"What is asked by number {number}?",
        "answers": [f"gold {number}"],
        "type": ("factoid", "multi-hop")[number % 2],
        "answerable": True,
        "line": number + 1,
        "by_profile": {name: sample(name) for name in profiles},
    }


def flip(number: int, second: str, difference: float) -> Values:
    def side(name: str, ranking: list[str]) -> Values:
        return {
            "profile": name,
            "answer": f"Evidence of {name}",
            "query_type": "extractive",
            "confidence": 0.5,
            "citations": [
                {"section_id": "Atom#2", "title": "Atom", "quote": f"Quoted by {name}.", "start": 10, "end": 31}
            ],
            "ranking": ranking,
            "command": f'wikigr ask "What?" --pack physics --profile {name} --explain',
        }

    return {
        "question_id": f"q{number:04}",
        "question": f"What is asked by number {number}?",
        "answers": [f"gold {number}"],
        "worse": difference < 0,
        "difference": difference,
        "sides": [side("baseline", ["Atom#2", "Ion#0"]), side(second, ["Atom#2", "Quark#1"])],
    }


def document(seconds: tuple[str, ...] = ("enhanced",), questions: int = 6) -> Values:
    names = ("baseline", *seconds)
    return {
        "schema_version": 1,
        "run": {
            "pack": {"name": "physics", "version": "1.2.0", "digest": "sha256:" + "ab12" * 16},
            "questions": {
                "path": "packs/physics/eval/questions.jsonl",
                "split": "dev",
                "count": questions,
                "hash": "cd34" * 16,
            },
            "profiles": {name: {"name": name, "retrieval": {"mode": "hybrid"}} for name in names},
            "encoder": {"name": "all-MiniLM-L6-v2", "dimensions": 384},
            "seed": 7,
            "repeat": 1,
            "offline": True,
            "leaks": [],
            "judge": "none",
            "commit": "d70d76c",
            "dirty": False,
            "argv": ["eval", "run", "--pack", "physics"],
            "versions": {"python": "3.11.2", "numpy": "2.1.0"},
            "wikigr_version": "0.1.0",
            "schema_version": 1,
        },
        "primary": "accuracy",
        "margin": 0.02,
        "metrics": {
            metric: {
                "higher_is_better": metric != "hallucination_rate",
                "binary": False,
                "description": f"What {metric} is",
            }
            for metric in METRICS
        },
        "profiles": [profile(name, 0.62 + 0.05 * place) for place, name in enumerate(names)],
        "comparisons": [comparison(name) for name in seconds],
        "flips": {name: [flip(1, name, -1.0), flip(2, name, 1.0), flip(3, name, 0.5)] for name in seconds},
        "questions": [question(number, names) for number in range(questions)],
    }


def parse(made: str) -> LexborHTMLParser:
    return LexborHTMLParser(made)


def first_match(node: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    found = node.css_first(selector)
    assert found is not None, selector
    return found


def text_of(tree: LexborHTMLParser, selector: str) -> str:
    return " ".join(" ".join(node.text(separator=" ") for node in tree.css(selector)).split())


def shape(node: LexborNode) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
    return [(str(each.tag), tuple(sorted(each.attributes.items()))) for each in node.traverse()]


def everywhere(value: Any, change: Callable[[Any], Any], kept: tuple[str, ...] = ()) -> Any:
    """Return a copy of a document with every leaf changed, but for those under a key that is ``kept``."""
    if isinstance(value, dict):
        return {key: item if key in kept else everywhere(item, change, kept) for key, item in value.items()}
    if isinstance(value, list):
        return [everywhere(item, change, kept) for item in value]
    return change(value)


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a copy with the names of profiles, metrics and stages changed, as keys and as values."""
    if isinstance(value, dict):
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def test_all_parts_are_there() -> None:
    tree = parse(html_report(document(("enhanced", "enhanced-without-dense"))))
    assert text_of(tree, "h1") == "physics"
    assert [node.text() for node in tree.css("section > h2")] == [
        "Verdicts",
        "Metrics",
        "Differences",
        "Confidence",
        "Abstention",
        "Repeats",
        "Flips",
        "Questions",
        "Latency",
        "Usage and cost",
        "Making",
    ]
    head = text_of(tree, "header")
    for part in (
        "1.2.0",
        "sha256:ab12",
        "6 of packs/physics/eval/questions.jsonl, split dev",
        "cd34",
        "0.1.0",
        "d70d76c",
    ):
        assert part in head
    assert "accuracy margin ±2 points" in head
    assert "Seed 7 1 × each question" in head
    links = [link.attributes["href"] or "" for link in tree.css("nav a")]
    assert {"#metrics", "#differences"} <= set(links)
    assert [link for link in links if not tree.css_first(link)] == []


@pytest.mark.parametrize(
    ("verdict", "difference", "expected"),
    [
        (
            "improved",
            0.16666,
            "enhanced is better than baseline in accuracy: +16.7 points (95% interval +8.7 to +24.7), p = 0.0004, "
            "84 questions.",
        ),
        (
            "regressed",
            -0.17,
            "enhanced is worse than baseline in accuracy: -17.0 points (95% interval -25.0 to -9.0), p = 0.0004, "
            "84 questions.",
        ),
        (
            "equivalent",
            0.0,
            "enhanced is as good as baseline in accuracy, within 2.0 points: +0.0 points (95% interval -8.0 to +8.0), "
            "p = 0.0004, 84 questions.",
        ),
        (
            "inconclusive",
            0.01,
            "enhanced scored higher than baseline in accuracy, but that may be chance: +1.0 points (95% interval -7.0 "
            "to +9.0), p = 0.0004, 84 questions. p is at most 0.05, but the interval contains 0: both have to agree.",
        ),
    ],
)
def test_verdict_in_plain_words(verdict: str, difference: float, expected: str) -> None:
    made = document()
    made["comparisons"] = [comparison("enhanced", verdict, difference)]
    tree = parse(html_report(made))
    assert text_of(tree, ".sentence") == expected
    assert tree.css_first(f"article.{verdict}")


def test_metrics_start_with_the_primary_one() -> None:
    tree = parse(html_report(document()))
    rows = [" ".join(row.text(separator=" ").split()) for row in tree.css("#metrics tbody tr")]
    assert rows[0] == "accuracy primary 62.0% 52.0 to 70.0 67.0% 57.0 to 75.0 84"
    names = [node.text() for node in tree.css("#metrics tbody th > .name")]
    assert names == ["accuracy", "recall@5", "token_f1", "hallucination_rate"]
    assert "lower is better" in rows[3]
    assert not any("lower is better" in row for row in rows[:3])


def test_forest_plot_says_in_text_what_it_draws() -> None:
    tree = parse(html_report(document()))
    rows = tree.css("#differences tbody tr")
    assert len(rows) == 4
    first = rows[0]
    assert "primary" in (first.attributes["class"] or "")
    drawing = first_match(first, "svg.row")
    assert drawing.attributes["role"] == "img"
    assert first_match(drawing, "title").text() == "accuracy: +16.7 points, improved"
    assert first_match(drawing, "desc").text() == "enhanced minus baseline, 95% interval +8.7 to +24.7 points"
    assert first.css(".interval path[d*=Z]") and not rows[1].css(".interval path[d*=Z]")
    assert rows[1].css(".interval circle")
    words = " ".join(first.text(separator=" ").split())
    for part in ("61.9% → 78.6%, n = 84", "+16.7", "+8.7 to +24.7", "0.0004", "20 / 58 / 6", "11.2", "improved"):
        assert part in words
    assert "lower is better" in rows[3].text() and "0.037" in rows[3].text()


def place(node: LexborNode | None, name: str) -> float:
    assert node is not None
    return float((node.attributes[name] or "").removesuffix("%"))


def test_forest_plot_draws_to_scale() -> None:
    tree = parse(html_report(document()))
    for row, (difference, half) in zip(
        tree.css("#differences tbody tr"), [(0.16666, 0.08), (0.05, 0.06), (0.002, 0.012), (-0.21, 0.1)], strict=True
    ):
        unit = (place(row.css_first(".band rect"), "width")) / 0.04
        assert place(row.css_first(".zero"), "x1") == 50.0
        assert place(row.css_first(".interval > line"), "x1") == pytest.approx(50 + (difference - half) * unit, abs=0.1)
        assert place(row.css_first(".interval > line"), "x2") == pytest.approx(50 + (difference + half) * unit, abs=0.1)
        assert place(row.css(".interval > svg")[-1], "x") == pytest.approx(50 + difference * unit, abs=0.1)
        assert place(row.css_first(".band rect"), "x") == pytest.approx(50 - 0.02 * unit, abs=0.1)


def test_flips_show_both_sides_and_what_reproduces_them() -> None:
    tree = parse(html_report(document()))
    entries = tree.css(".flips > details")
    assert [" ".join(first_match(entry, "summary .chip").text().split()) for entry in entries] == [
        "right → wrong",
        "wrong → right",
        "accuracy +50 points",
    ]
    assert "2 questions got better, 1 got worse on accuracy." in text_of(tree, ".flips > p")
    sides = entries[0].css(".side")
    assert len(sides) == 2
    for side, name, only in zip(sides, ("baseline", "enhanced"), ("Ion#0", "Quark#1"), strict=True):
        words = " ".join(side.text(separator=" ").split())
        for part in (f"Evidence of {name}", f"Quoted by {name}.", "Atom#2 [10:31]", f"{only} only here"):
            assert part in words
        assert first_match(side, "pre").text() == f'wikigr ask "What?" --pack physics --profile {name} --explain'


def test_flips_of_a_metric_of_which_less_is_better() -> None:
    # It is what the document says, whatever a metric is called.
    made = document()
    made["metrics"]["accuracy"]["higher_is_better"] = False
    for each in made["flips"]["enhanced"]:
        each["worse"] = not each["worse"]
    tree = parse(html_report(made))
    assert [entry.text() for entry in tree.css(".flips > details > summary > .chip")] == [
        "wrong → right",
        "right → wrong",
        "accuracy +50 points",
    ]


def test_which_way_is_better_is_not_guessed_from_names() -> None:
    made = document()
    made["metrics"]["hallucination_rate"]["higher_is_better"] = True
    made["metrics"]["token_f1"]["higher_is_better"] = False
    tree = parse(html_report(made))
    for part in ("#metrics", "#differences"):
        tagged = [
            first_match(row, "th > .name").text() for row in tree.css(f"{part} tbody tr") if "lower is" in row.text()
        ]
        assert tagged == ["token_f1"]
    assert '"higher_is_better"' not in html_report(made)


def test_abstention() -> None:
    tree = parse(html_report(document()))
    rows = [" ".join(row.text(separator=" ").split()) for row in tree.css("#abstention tbody tr")]
    assert rows[:3] == [
        "Precision 66.7% 25.0 to 90.0 66.7% 25.0 to 90.0",
        "Recall 50.0% 20.0 to 80.0 50.0% 20.0 to 80.0",
        "AUROC 0.735 0.550 to 0.863 0.735 0.550 to 0.863",
    ]
    assert rows[3].endswith("3, 2 3, 2") and rows[4].endswith("80, 4 80, 4")
    made = document()
    made["profiles"][0]["abstention"]["precision"] = None
    assert "Precision – 66.7%" in text_of(parse(html_report(made)), "#abstention tbody")
    made["profiles"] = [each | {"abstention": None} for each in made["profiles"]]
    assert not parse(html_report(made)).css("#abstention, nav a[href='#abstention']")


def test_confidence() -> None:
    made = document()
    made["profiles"][1]["risk_coverage"] |= {"answered": 84, "coverage": 1.0}
    tree = parse(html_report(made))
    assert text_of(tree, "nav a[href='#confidence']") == "Confidence"
    rows = [" ".join(row.text(separator=" ").split()) for row in tree.css("#confidence table.metrics tbody tr")]
    assert rows == [
        "Accuracy at 50% 81.0% 70.0 to 90.0 81.0% 70.0 to 90.0",
        "Accuracy at 70% 72.0% 60.0 to 80.0 72.0% 60.0 to 80.0",
        # The first profile abstained from a quarter of the questions.
        "Accuracy at 90% ≥ 61.0% 50.0 to 70.0 61.0% 50.0 to 70.0",
        "AURC 0.234 0.200 to 0.301 0.234 0.200 to 0.301",
        "ECE 0.081 0.030 to 0.110 0.081 0.030 to 0.110",
        "ECE by chance 0.057 0.057",
        "Answered 63 of 84 84 of 84",
    ]
    assert [heading.text() for heading in tree.css("#confidence h3")] == ["baseline", "enhanced"]
    assert len(tree.css("#confidence svg")) == 4
    for missing in ("risk_coverage", "reliability"):
        made["profiles"][0] |= {missing: None}
        tree = parse(html_report(made))
        assert len(tree.css("#confidence svg")) == (3 if missing == "risk_coverage" else 2)
    made["profiles"] = [each | {"risk_coverage": None, "reliability": None} for each in made["profiles"]]
    assert not parse(html_report(made)).css("#confidence, nav a[href='#confidence']")


def test_reliability_diagram_draws_to_scale_and_says_in_text_what_it_draws() -> None:
    tree = parse(html_report(document(())))
    svg = first_match(tree, "#confidence svg")
    assert svg.attributes["role"] == "img"
    assert first_match(svg, "title").text() == "Reliability diagram of baseline"
    described = "Accuracy against mean confidence in 2 bins of 63 answers. The expected calibration error is 0.081."
    assert first_match(svg, "desc").text() == described
    diagonal = first_match(svg, "line.zero")
    left, bottom, right, top = (place(diagonal, name) for name in ("x1", "y1", "x2", "y2"))
    assert right - left == bottom - top > 0
    marks = svg.css("g.interval")
    assert len(marks) == 2
    for mark, (confidence, accuracy, low, high) in zip(
        marks, [(0.55, 0.25, 0.1, 0.4), (0.8, 1.0, 0.9, 1.0)], strict=True
    ):
        circle, line = first_match(mark, "circle"), first_match(mark, "line")
        size = right - left
        assert (place(circle, "cx") - left) / size == pytest.approx(confidence, abs=0.001)
        assert (bottom - place(circle, "cy")) / size == pytest.approx(accuracy, abs=0.001)
        assert place(line, "x1") == place(line, "x2") == place(circle, "cx")
        assert (bottom - place(line, "y1")) / size == pytest.approx(low, abs=0.001)
        assert (bottom - place(line, "y2")) / size == pytest.approx(high, abs=0.001)
    assert first_match(marks[0], "title").text() == (
        "31 answers with a mean confidence of 55.0%: 25.0% right (10.0% to 40.0%)"
    )
    table = first_match(tree, "#confidence details table")
    rows = [[cell.text() for cell in row.iter()] for row in table.css("tbody tr")]
    assert rows == [
        ["50.0% to 58.0%", "31", "55.0%", "25.0%", "10.0% to 40.0%"],
        ["60.0% to 99.0%", "32", "80.0%", "100.0%", "90.0% to 100.0%"],
    ]


def test_risk_coverage_curve_draws_to_scale_and_says_in_text_what_it_draws() -> None:
    tree = parse(html_report(document(())))
    svg = tree.css("#confidence svg")[1]
    assert first_match(svg, "title").text() == "Risk–coverage curve of baseline"
    assert "84 questions" in first_match(svg, "desc").text() and "is 0.234." in first_match(svg, "desc").text()
    withheld, answered = (
        [tuple(map(float, pair.split(","))) for pair in (line.attributes["points"] or "").split()]
        for line in svg.css("polyline")
    )
    # Fifteen of the twenty points belong to answers; the dashed line begins at the last of them.
    assert (len(answered), len(withheld), answered[-1]) == (15, 6, withheld[0])
    ticks = [place(line, "x1") for line in svg.css("line.tick")]
    left, size = min(ticks), max(ticks) - min(ticks)
    bottom = max(place(line, "y1") for line in svg.css("line.tick"))
    for n, (x, y) in enumerate([*answered, *withheld[1:]], start=1):
        assert ((x - left) / size, (bottom - y) / size) == pytest.approx((n / 20, n / 50), abs=0.001)
    table = tree.css("#confidence details table")[1]
    rows = [" ".join(row.text(separator=" ").split()) for row in table.css("tbody tr")]
    assert (len(rows), rows[0], rows[6], rows[7], rows[9]) == (
        10, "10.0% 4.0%", "70.0% 28.0%", "80.0% ≤ 32.0%", "100.0% ≤ 40.0%",
    )  # fmt: skip


@pytest.mark.parametrize("points", [0, 1, 3])
def test_a_short_risk_coverage_curve(points: int) -> None:
    made = document(())
    curve = [{"coverage": n / points, "risk": 0.5} for n in range(1, points + 1)]
    made["profiles"][0]["risk_coverage"] |= {"coverage": 1.0, "answered": 84, "curve": curve}
    tree = parse(html_report(made))
    assert len(tree.css("#confidence details table")[1].css("tbody tr")) == points
    assert [len((line.attributes["points"] or "").split()) for line in tree.css("#confidence polyline")] == (
        [max(points, 2)] if points else []
    )


def test_repeats() -> None:
    made = document()
    made["run"]["repeat"] = 3
    tree = parse(html_report(made))
    assert "asking 3 times" in text_of(tree, "#repeats > p")
    rows = [" ".join(row.text(separator=" ").split()) for row in tree.css("#repeats tbody tr")]
    assert rows == [
        "accuracy primary 1.23 1.23",
        "recall@5 0.00 0.00",
        "Unstable questions 2 of 80 (2.5%) 2 of 80 (2.5%)",
    ]
    assert [node.text() for node in tree.css("#repeats details")[0].css("code")] == ["q0001", "q0003"]
    made["profiles"] = [each | {"repeats": None} for each in made["profiles"]]
    assert not parse(html_report(made)).css("#repeats, nav a[href='#repeats']")


def test_questions_and_what_the_filters_work_on() -> None:
    made = document()
    made["questions"][0]["by_profile"]["enhanced"] |= {"error": "the model said no", "metrics": {}, "answer": ""}
    made["questions"][1]["by_profile"]["baseline"]["metrics"] = {"accuracy": 0.5}
    made["questions"][2]["by_profile"]["baseline"]["metrics"] = {"token_f1": 1.0}
    del made["questions"][3]["by_profile"]["enhanced"]
    tree = parse(html_report(made))
    rows = tree.css("table.questions > tbody > tr")
    assert len(rows) == 6
    states = [[(cell.attributes["class"] or "").split()[1] for cell in row.css("td.state")] for row in rows]
    assert states[:4] == [["right", "error"], ["partly", "wrong"], ["none", "right"], ["right", "none"]]
    words = " ".join(rows[1].text(separator=" ").split())
    for part in ("What is asked by number 1?", "gold 1", "q0001", "line 2", "Answer 1 of enhanced. [1]", "multi-hop"):
        assert part in words
    assert "the model said no" in rows[0].text()
    data = json.loads(first_match(tree, "#data").text())
    assert data["profiles"] == ["baseline", "enhanced"]
    assert data["types"] == ["factoid", "multi-hop"]
    assert [row[0] for row in data["rows"]] == [0, 1, 0, 1, 0, 1]
    assert [row[2] for row in data["rows"]] == states
    assert [row[1] for row in data["rows"]][:4] == [0, 1, 0, 0]
    assert first_match(tree, "form#filters").attributes.get("hidden", "missing") != "missing"


def test_latency_usage_and_cost() -> None:
    made = document()
    made["profiles"][1]["usage"]["cost_usd"] = None
    tree = parse(html_report(made))
    assert "dense 2.0 / 4.4" in text_of(tree, "#latency")
    assert "total 48.2 / 132" in text_of(tree, "#latency")
    usage = text_of(tree, "#usage tbody")
    assert "baseline 84 0 0 3 0 84 120,400 9,000 0.4962" in usage
    assert usage.endswith("9,000 unknown")
    assert "cache" not in text_of(tree, "#latency")
    made["profiles"][1]["latency_cached"] = {"total": {"p50": 1.5, "p95": 2.5}}
    tree = parse(html_report(made))
    assert [" ".join(cell.text(separator=" ").split()) for cell in tree.css("#latency th[scope=col]")] == [
        "Stage", "baseline p50 / p95", "enhanced p50 / p95", "enhanced cached, p50 / p95",
    ]  # fmt: skip
    assert text_of(tree, "#latency tbody tr.primary") == "total 48.2 / 132 48.2 / 132 1.5 / 2.5"
    made["profiles"] = [profile | {"latency": {}, "latency_cached": {}} for profile in made["profiles"]]
    assert "No answer was timed" in text_of(parse(html_report(made)), "#latency")


def test_warnings() -> None:
    made = document()
    assert not parse(html_report(made)).css("#warnings")
    made["run"] |= {
        "dirty": True,
        "leaks": [{"example": 3, "question_id": "q0001", "similarity": 0.9312, "same_words": False}],
    }
    made["profiles"][1] |= {"errors": 2, "degraded": 5}
    made["comparisons"][0]["unpaired"] = 2
    for number in (0, 1):
        made["questions"][number]["by_profile"]["enhanced"]["error"] = "the model timed out"
    tree = parse(html_report(made))
    words = text_of(tree, "#warnings")
    for part in (
        "enhanced: 2 of 84 answers failed",
        "2 × the model timed out",
        "5 of 84 answers were made without a stage",
        "2 questions that only one of them answered",
        "example 3 leaks the question q0001 (similarity 0.93)",
        "uncommitted changes",
    ):
        assert part in words
    assert "d70d76c + uncommitted changes" in text_of(tree, "header")


def test_hostile_values_become_no_markup() -> None:
    """The same elements with the same attributes, whatever the text of every field says."""
    made = document()
    harmless, hostile = ({name: f"{name}{text}" for name in _names(made)} for text in ("X", HOSTILE))
    kept = ("verdict",)

    def spoilt(names: dict[str, str], text: str) -> LexborHTMLParser:
        changed = everywhere(made, lambda leaf: f"{leaf}{text}" if isinstance(leaf, str) else leaf, kept)
        # Keys and references between parts still have to agree.
        for metric_holder in changed["profiles"]:
            metric_holder["metrics"] = renamed(metric_holder["metrics"], names)
            metric_holder["latency"] = renamed(metric_holder["latency"], names)
            metric_holder["repeats"]["deviations"] = renamed(metric_holder["repeats"]["deviations"], names)
        changed["metrics"] = renamed(changed["metrics"], names)
        changed["flips"] = renamed(changed["flips"], names)
        changed["run"]["profiles"] = renamed(changed["run"]["profiles"], names)
        changed["run"]["versions"] = {f"{key}{text}": value for key, value in changed["run"]["versions"].items()}
        for each in changed["questions"]:
            each["by_profile"] = renamed(each["by_profile"], names)
            for sample in each["by_profile"].values():
                sample["metrics"] = renamed(sample["metrics"], names)
        changed["run"]["leaks"] = [{"example": text, "question_id": text, "similarity": text, "same_words": False}]
        changed["questions"][0]["by_profile"][names["enhanced"]]["error"] = text
        changed["profiles"][1]["errors"] = 1
        return parse(html_report(changed))

    plain, attacked = spoilt(harmless, "X"), spoilt(hostile, HOSTILE)
    assert plain.root is not None and attacked.root is not None
    # A hostile name has hyphens and underscores of its own, after which it may be broken.
    assert [s for s in shape(attacked.root) if s[0] not in ("wbr", "-text")] == [
        s for s in shape(plain.root) if s[0] not in ("wbr", "-text")
    ]
    assert attacked.body is not None and attacked.body.text().count("alert(1)") > 100
    assert len(attacked.css("script")) == 2 and len(attacked.css("style")) == 1
    assert not attacked.css("img, b, i, iframe, link, base, object, embed, #pwned")
    data = json.loads(first_match(attacked, "#data").text())
    assert data["profiles"][0] == f"baseline{HOSTILE}"
    assert not [name for node in attacked.css("*") for name in node.attributes if name.startswith("on")]


def _names(made: Values) -> list[str]:
    return [*made["run"]["profiles"], *METRICS, "dense", "total"]


@pytest.mark.parametrize("leaf", [HOSTILE, None, math.nan, math.inf, -math.inf, 10**400, True])
def test_every_number_may_be_anything(leaf: Any) -> None:
    made = everywhere(document(), lambda value: leaf if isinstance(value, int | float) else value)
    tree = parse(html_report(made))
    assert not tree.css("img, b")
    assert text_of(tree, ".sentence").startswith("enhanced is better than baseline")
    figures = text_of(tree, "#verdicts, #metrics, #differences, #confidence, #flips summary, #latency, #usage")
    assert not re.search(r"\b(nan|inf|None)\b", figures)


def test_unknown_verdict_is_no_class() -> None:
    made = document()
    made["comparisons"][0]["results"][0]["verdict"] = HOSTILE
    tree = parse(html_report(made))
    assert "but that may be chance" in text_of(tree, ".sentence")
    assert {name for node in tree.css("article") for name in (node.attributes["class"] or "").split()} == {
        "card",
        "inconclusive",
    }


def test_half_a_surrogate_pair_can_be_written() -> None:
    made = document()
    made["questions"][0]["question"] = "broken \ud800 text"
    assert "broken ? text" in html_report(made).encode("utf-8").decode("utf-8")


def test_same_document_same_bytes() -> None:
    made = document(("enhanced", "other"))
    before = copy.deepcopy(made)
    assert html_report(made) == html_report(json.loads(json.dumps(made)))
    assert made == before


def test_nothing_is_loaded_from_anywhere() -> None:
    made = html_report(document())
    assert "http://" not in made and "https://" not in made and "url(" not in made and "@import" not in made
    tree = parse(made)
    policy = first_match(tree, "meta[http-equiv='Content-Security-Policy']").attributes["content"] or ""
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:")
    assert not tree.css("[src], link, iframe, object, embed, image, use")
    links = [node.attributes["href"] or "" for node in tree.css("[href]")]
    assert links and [link for link in links if not link.startswith("#")] == []
    assert not [name for node in tree.css("*") for name in node.attributes if name.startswith("on") or name == "style"]


def test_ids_are_unique_and_columns_agree() -> None:
    tree = parse(html_report(document(("enhanced", "other"))))
    assert not [id_ for id_, n in Counter(node.attributes["id"] for node in tree.css("[id]")).items() if n > 1]
    tables = tree.css("table")
    assert len(tables) >= 3
    for table in tables:
        widths = {len([c for c in row.iter() if c.tag in ("td", "th")]) for row in table.css("tr")}
        assert len(widths) == 1, table.attributes


def test_a_single_profile() -> None:
    tree = parse(html_report(document(())))
    assert "Only baseline was run: there is nothing to compare." in text_of(tree, "#verdicts")
    assert "One profile, no differences." in text_of(tree, "#differences")
    assert len(tree.css("table.questions tbody tr")) == 6
    assert not tree.css("#differences svg")


def test_nothing_at_all() -> None:
    made = document(())
    made |= {"profiles": [], "questions": [], "flips": {}}
    assert "No profile has samples." in text_of(parse(html_report(made)), "#verdicts")


def test_a_primary_metric_that_applies_to_nothing() -> None:
    made = document()
    made["comparisons"][0]["results"].pop(0)
    tree = parse(html_report(made))
    assert text_of(tree, ".sentence") == (
        "enhanced cannot be compared with baseline: accuracy applies to no question that both answered."
    )
    assert len(tree.css("#differences tbody tr")) == 3


def test_a_long_answer_is_cut() -> None:
    made = document()
    made["questions"][0]["by_profile"]["baseline"]["answer"] = "x" * 50_000
    assert "… (48,000 more characters)" in html_report(made)


def test_a_thousand_questions() -> None:
    made = document(("enhanced",), questions=1_000)
    made["flips"]["enhanced"] = [flip(number, "enhanced", -1.0) for number in range(300)]
    text = html_report(made)
    assert len(text.encode()) < 4_000_000
    assert len(parse(text).css("table.questions > tbody > tr")) == 1_000
