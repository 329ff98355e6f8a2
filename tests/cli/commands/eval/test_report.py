"""``wikigr eval report`` and ``wikigr eval trec``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import ir_measures
import pytest

from ...conftest import Wikigr
from .conftest import TOTAL, Run


def test_reports_are_written_anew_from_the_samples(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    run("r")
    verdict = "enhanced against baseline in accuracy: "
    assert wikigr("eval", "report", "r").out.startswith(verdict)
    suites = {}
    for profile in ((), ("--profile", "baseline")):
        # The suite is that of the judged profile; the reference and its figure are properties.
        (suite,) = ElementTree.fromstring(wikigr("eval", "report", "r", "--format", "junit", *profile).out)
        assert suite.get("tests") == str(TOTAL)
        properties = {each.get("name", ""): each.get("value") for each in suite.iter("property")}
        suites[suite.get("name")] = sorted(properties.keys() & {"verdict", "reference", "accuracy of baseline"})
    own = ["accuracy of baseline"]
    assert suites == {"enhanced": [*own, "reference", "verdict"], "baseline": own}
    assert "enhanced" not in wikigr("eval", "report", "r", "--profile", "baseline", "--all").out
    assert wikigr("eval", "report", "r", "--profile", "other").code == 2
    refused = wikigr("eval", "report", "r", "-o", "r.txt")
    assert (refused.code, "--format html" in refused.err, (tmp_path / "r.txt").exists()) == (2, True, False)
    assert wikigr("eval", "report", "r", "--format", "html", "-o", "r.html").code == 0
    assert "<svg" in (tmp_path / "r.html").read_text(encoding="utf-8")
    document = json.loads(wikigr("eval", "report", "r", "--format", "json").out)
    assert len(document["questions"]) == TOTAL


def test_a_report_shows_abstention_repeats_and_latency(run: Run, wikigr: Wikigr) -> None:
    text = run("r", "--profile", "enhanced", "--repeat", "2", "--all").out
    (profile,) = json.loads(wikigr("eval", "report", "r", "--format", "json").out)["profiles"]
    found = profile["abstention"]
    assert (found["questions"], found["answerable"], found["unanswerable"]) == (TOTAL, 2 * (TOTAL - 2), 2 * 2)
    assert found["abstained"] == profile["abstained"]
    assert 0.0 <= found["auroc"]["low"] <= found["auroc"]["value"] <= found["auroc"]["high"] <= 1.0
    assert f"AUROC         {found['auroc']['value']:.3f}" in text
    # Offline nothing is drawn at random: asking again changes nothing.
    assert (profile["repeats"]["count"], profile["repeats"]["unstable"]) == (2, [])
    assert re.search(rf"^unstable questions +0 of {TOTAL} \(0\.0%\)$", text, re.MULTILINE)
    total = next(line for line in text.splitlines() if line.startswith("total, p95"))
    assert total.split()[-1] == f"{profile['latency']['total']['p95']:,.1f}"
    assert "hallucination ↓" in text


def test_trec_files_give_other_tools_our_figures(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    document = json.loads(run("r", "--json").out)
    result = wikigr("eval", "trec", "r", "-o", "trec")
    assert [Path(line).name for line in result.out.splitlines()] == ["qrels.txt", "baseline.run", "enhanced.run"]
    for profile in document["profiles"]:
        assert_same_figures(tmp_path / "trec", profile, "")


def assert_same_figures(folder: Path, profile: dict[str, Any], level: str) -> None:
    """Fail unless ir-measures finds the metrics of a profile, whose names begin with ``level``, in its TREC files."""
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))  # type: ignore[no-untyped-call]
    found = ir_measures.read_trec_run(str(folder / f"{profile['name']}.run"))  # type: ignore[no-untyped-call]
    measures = {"recall@5": ir_measures.R @ 5, "ndcg@10": ir_measures.nDCG @ 10, "mrr": ir_measures.RR}
    theirs = ir_measures.calc_aggregate(list(measures.values()), qrels, found)
    for metric, measure in measures.items():
        assert theirs[measure] == pytest.approx(profile["metrics"][level + metric]["mean"], abs=1e-6)


# Two records of one title are two passages of one article.
RECORDS = [
    {"id": "p1", "title": "Kiel", "text": "Kiel is a port on the Baltic Sea. Max Planck was born in Kiel in 1858."},
    {
        "id": "p2",
        "title": "Kiel",
        "text": "The harbor of Kiel has docks for ferries. Its largest shipyard has four cranes.",
    },
    {"id": "p3", "title": "Ulm", "text": "Ulm lies on the Danube. Albert Einstein was born in Ulm in 1879."},
]
PASSAGES = [
    {"id": "a", "question": "How many cranes does the shipyard of Planck's birthplace have?", "answers": ["four"],
     "gold": [{"title": "Kiel", "source_id": "p1"}, {"title": "Kiel", "source_id": "p2"}], "type": "two-hop"},
    {"id": "b", "question": "Where was Einstein born?", "answers": ["Ulm"],
     "gold": [{"title": "Ulm", "source_id": "p3"}], "type": "single"},
    {"id": "c", "question": "What is Kiel?", "answers": ["port"], "gold": [{"title": "Kiel"}], "type": "single"},
]  # fmt: skip


def test_gold_passages_have_figures_and_files_of_their_own(wikigr: Wikigr, tmp_path: Path) -> None:
    for name, rows in (("towns", RECORDS), ("gold", PASSAGES)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    wikigr("pack", "build", "towns.jsonl", "-o", "towns")
    assert wikigr("eval", "validate", "gold.jsonl", "--pack", "towns").code == 0
    options = ("--pack", "towns", "--questions", "gold.jsonl", "--profile", "enhanced", "--offline", "-o", "r")
    (profile,) = json.loads(wikigr("eval", "run", *options, "--json").out)["profiles"]
    metrics = profile["metrics"]
    # The article of question a is found with its first passage, its gold passages only with the second one.
    assert metrics["recall@1"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "questions": 3}
    assert (metrics["passage_recall@1"]["mean"], metrics["passage_recall@1"]["questions"]) == (0.75, 2)
    assert (metrics["passage_recall@5"]["mean"], metrics["passage_all_found@5"]["mean"]) == (1.0, 1.0)
    files = json.loads(wikigr("eval", "trec", "r", "-o", "trec", "--json").out)
    qrels, ranked = "trec/passages/qrels.txt", "trec/passages/enhanced.run"
    assert files["passages"] == {"qrels": qrels, "runs": {"enhanced": ranked}}
    assert (tmp_path / "trec/passages/qrels.txt").read_text() == "a 0 p1 1\na 0 p2 1\nb 0 p3 1\n"
    ranked_for = {line.split()[0] for line in (tmp_path / ranked).read_text().splitlines()}
    assert ranked_for == {"a", "b"}
    assert_same_figures(tmp_path / "trec", profile, "")
    assert_same_figures(tmp_path / "trec" / "passages", profile, "passage_")
    printed = wikigr("eval", "trec", "r", "-o", "trec").out.splitlines()
    assert [line for line in printed if "passages" in line] == [qrels, ranked]
