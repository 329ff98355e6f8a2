"""``wikigr eval report`` and ``wikigr eval trec``."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import ir_measures
import pytest

from ...conftest import Wikigr
from .conftest import TOTAL, Run


def test_reports_are_written_anew_from_the_samples(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    run("r")
    markdown = wikigr("eval", "report", "r", "--format", "md").out
    assert markdown.startswith(f"# physics: {TOTAL} questions") and "| accuracy * |" in markdown
    suites = ElementTree.fromstring(wikigr("eval", "report", "r", "--format", "junit").out)
    assert [suite.get("tests") for suite in suites] == [str(TOTAL)] * 2
    assert wikigr("eval", "report", "r", "--format", "html", "-o", "r.html").code == 0
    assert "<svg" in (tmp_path / "r.html").read_text(encoding="utf-8")
    github = wikigr("eval", "report", "r", "--format", "github").out
    assert github.startswith("::notice title=wikigr eval::enhanced ")
    document = json.loads(wikigr("eval", "report", "r", "--format", "json").out)
    worse = [flip for flip in document["flips"]["enhanced"] if flip["difference"] < 0]
    assert github.count("::warning file=") == len(worse)
    assert len(document["questions"]) == TOTAL


def test_a_report_shows_abstention_repeats_and_latency(run: Run, wikigr: Wikigr) -> None:
    text = run("r", "--profile", "enhanced", "--repeat", "2").out
    (profile,) = json.loads(wikigr("eval", "report", "r", "--format", "json").out)["profiles"]
    found = profile["abstention"]
    assert (found["questions"], found["answerable"], found["unanswerable"]) == (TOTAL, 2 * (TOTAL - 2), 2 * 2)
    assert found["abstained"] == profile["abstained"]
    assert 0.0 <= found["auroc"]["low"] <= found["auroc"]["value"] <= found["auroc"]["high"] <= 1.0
    assert f"AUROC         {found['auroc']['value']:.3f}" in text
    # Offline nothing is drawn at random: asking again changes nothing.
    assert (profile["repeats"]["count"], profile["repeats"]["unstable"]) == (2, [])
    assert f"unstable questions  0 of {TOTAL} (0.0 %)" in text
    total = next(line for line in text.splitlines() if line.startswith("total, p95"))
    assert total.split()[-1] == f"{profile['latency']['total']['p95']:,.1f}"
    assert "hallucination ↓" in text


def test_trec_files_give_other_tools_our_figures(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    document = json.loads(run("r", "--json").out)
    result = wikigr("eval", "trec", "r", "-o", "trec")
    assert [Path(line).name for line in result.out.splitlines()] == ["qrels.txt", "baseline.run", "enhanced.run"]
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "trec" / "qrels.txt")))  # type: ignore[no-untyped-call]
    for profile in document["profiles"]:
        path = tmp_path / "trec" / f"{profile['name']}.run"
        found = ir_measures.read_trec_run(str(path))  # type: ignore[no-untyped-call]
        measures = {"recall@5": ir_measures.R @ 5, "ndcg@10": ir_measures.nDCG @ 10, "mrr": ir_measures.RR}
        theirs = ir_measures.calc_aggregate(list(measures.values()), qrels, found)
        for metric, measure in measures.items():
            assert theirs[measure] == pytest.approx(profile["metrics"][metric]["mean"], abs=1e-6)
