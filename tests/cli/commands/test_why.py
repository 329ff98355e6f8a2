"""`wikigr why` on the demo pack; the ranks agree with what `search` and `ask --explain` say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..conftest import Wikigr

QUESTION = "Who measured the wavelength of the electron?"


def why(wikigr: Wikigr, pack: Path, question: str, title: str, *arguments: str) -> dict[str, Any]:
    result = wikigr("why", question, title, "-p", str(pack), "--offline", "--json", *arguments)
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    return found


def stages(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {stage["stage"]: stage for stage in document["stages"]}


def test_a_cited_article(wikigr: Wikigr, physics_pack: Path) -> None:
    found = why(wikigr, physics_pack, QUESTION, "louis_de_broglie")
    assert list(found) == [
        "schema_version", "question", "title", "section_id", "profile", "outcome", "reason", "dropped_at", "setting",
        "stages", "abstained", "degraded", "warnings",
    ]  # fmt: skip
    assert (found["schema_version"], found["title"], found["outcome"]) == (1, "Louis de Broglie", "cited")
    assert found["dropped_at"] is None and found["reason"] == "The answer quotes it: [1]."
    assert list(stages(found)) == [
        "dense", "lexical", "fuse", "unit_match", "graph_reranker", "graph_walk", "hops", "documents",
        "section_quality", "sentences", "reader", "answers", "citations",
    ]  # fmt: skip
    assert all(
        list(s) == ["stage", "rank", "article_rank", "of", "section_id", "score", "reason"] for s in found["stages"]
    )
    assert all(s["rank"] is not None and s["reason"] is None for s in found["stages"])
    shown = wikigr("why", QUESTION, "Louis de Broglie", "-p", str(physics_pack), "--offline").out.splitlines()
    assert shown[0] == "Louis de Broglie: The answer quotes it: [1]."
    assert shown[2].split() == ["stage", "section", "of", "article"]
    assert shown[-1].split()[:4] == ["citations", "1", "1", "1"]


@pytest.mark.parametrize("mode", ["dense", "lexical"])
def test_the_ranks_are_those_of_a_search(wikigr: Wikigr, physics_pack: Path, mode: str) -> None:
    search = (
        "search",
        QUESTION,
        "-p",
        str(physics_pack),
        "--mode",
        mode,
        "--profile",
        "baseline",
        "--json",
        "-k",
        "100",
    )
    results = json.loads(wikigr(*search).out)["results"]
    wanted = results[6]
    found = stages(why(wikigr, physics_pack, QUESTION, wanted["title"], "--section", wanted["section_id"]))[mode]
    assert (found["rank"], found["section_id"]) == (7, wanted["section_id"])
    assert found["score"] == pytest.approx(wanted["scores"][mode], abs=1e-5)
    titles = list(dict.fromkeys(result["title"] for result in results[:7]))
    assert found["article_rank"] == titles.index(wanted["title"]) + 1


def test_the_last_ranks_are_those_of_the_answer(wikigr: Wikigr, physics_pack: Path) -> None:
    answer = json.loads(wikigr("ask", QUESTION, "-p", str(physics_pack), "--offline", "--explain", "--json").out)
    read = [item["section_id"] for item in answer["explain"]["candidates"] if item["reason"] is None]
    dropped = {key: why for stage in answer["explain"]["stages"] for key, why in stage["dropped"].items()}
    titles = dict.fromkeys(section_id.partition("#")[0] for section_id in [*read, *dropped])
    outcomes = set()
    for title in (*list(titles)[:3], *list(titles)[-3:]):
        found = why(wikigr, physics_pack, QUESTION, title)
        last = stages(found)["section_quality"]
        of_title = [section_id for section_id in read if section_id.startswith(f"{title}#")]
        assert last["section_id"] == (of_title[0] if of_title else None)
        assert last["rank"] == (read.index(of_title[0]) + 1 if of_title else None)
        outcomes.add(found["outcome"])
        if found["outcome"] == "dropped":
            best = next(s["section_id"] for s in reversed(found["stages"]) if s["section_id"])
            if found["dropped_at"] == "reader":
                assert best in read and "sections that the reader read" in found["reason"]
            else:
                assert dropped[best] in found["reason"]
            assert found["dropped_at"] in ("documents", "section_quality", "reader") and found["setting"]
    assert "dropped" in outcomes and "cited" in outcomes


def test_what_was_read_and_not_quoted(wikigr: Wikigr, physics_pack: Path) -> None:
    Path("without.yaml").write_text("extends: enhanced\nreader: {enabled: false}\n")
    found = why(wikigr, physics_pack, QUESTION, "Double-slit experiment", "--profile", "without.yaml")
    assert found["outcome"] == "read"
    number = stages(found)["answers"]
    assert f"by its best answer, it is number {number['rank']} of {number['of']} sections" in found["reason"]
    assert number["score"] is None
    assert stages(found)["citations"]["rank"] is None and stages(found)["sentences"]["score"] > 0


def test_an_answer_that_was_withheld(wikigr: Wikigr, physics_pack: Path) -> None:
    found = why(wikigr, physics_pack, "How do I bake sourdough bread?", "Enrico Fermi", "--profile", "baseline")
    assert (found["abstained"], found["outcome"]) == (True, "read")
    assert "the pack does not cover the question" in found["reason"]


def test_an_article_that_nothing_found(wikigr: Wikigr, physics_pack: Path) -> None:
    found = why(wikigr, physics_pack, "How do I bake sourdough bread?", "Bell's theorem")
    assert (found["outcome"], found["dropped_at"]) == ("not_found", None)
    assert "not among the 100 sections nearest by vectors, and it shares no word with the question" in found["reason"]
    assert {"dense", "lexical", "fuse", "documents"} <= stages(found).keys()
    assert all(stage["rank"] is None and stage["reason"] for stage in found["stages"])
    baseline = why(wikigr, physics_pack, QUESTION, "Bell's theorem", "--profile", "baseline")
    assert list(stages(baseline)) == ["dense", "fuse", "documents", "sentences", "answers", "citations"]
    assert baseline["outcome"] == "not_found"


def test_only_the_best_article_is_read_by_baseline(wikigr: Wikigr, physics_pack: Path) -> None:
    found = why(wikigr, physics_pack, QUESTION, "Davisson–Germer experiment", "--profile", "baseline")
    assert (found["outcome"], found["dropped_at"], found["setting"]) == ("dropped", "documents", "multi_doc")
    assert "only sections of the best article, 'Louis de Broglie', are read (multi_doc is off)" in found["reason"]
    assert stages(found)["citations"]["reason"] == "it was dropped at documents"


def test_one_section_is_followed(wikigr: Wikigr, physics_pack: Path) -> None:
    found = why(wikigr, physics_pack, QUESTION, "Louis de Broglie", "--section", "proof and prize")
    assert found["section_id"] == "Louis de Broglie#3"
    other = why(wikigr, physics_pack, QUESTION, "Louis de Broglie", "--section", "Louis de Broglie#0")
    assert stages(other)["fuse"]["rank"] != stages(found)["fuse"]["rank"]
