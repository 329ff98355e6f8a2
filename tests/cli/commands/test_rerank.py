from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ..conftest import Wikigr

QUESTION = "What is the exclusion principle?"


@pytest.fixture
def found(wikigr: Wikigr, physics_pack: Path) -> str:
    return wikigr("search", QUESTION, "--pack", str(physics_pack), "--mode", "dense", "-k", "8", "--json").out


def test_what_search_prints_goes_in_and_the_same_shape_comes_out(
    wikigr: Wikigr, physics_pack: Path, found: str
) -> None:
    result = wikigr("rerank", "--pack", str(physics_pack), "--alpha", "0.5", "--json", stdin=found)
    assert result.code == 0
    before, after = json.loads(found), json.loads(result.out)
    assert after["question"] == QUESTION
    assert [r["rank"] for r in after["results"]] == list(range(1, 9))
    assert sorted(r["old_rank"] for r in after["results"]) == list(range(1, 9))
    assert [r["old_rank"] for r in after["results"]] != list(range(1, 9))
    for r in after["results"]:
        old = before["results"][r["old_rank"] - 1]
        assert (r["section_id"], r["content"]) == (old["section_id"], old["content"])
        assert r.keys() == old.keys() | {"old_rank"}
    scores = [r["score"] for r in after["results"]]
    assert scores == sorted(scores, reverse=True)


def test_a_plain_list_of_titles_and_scores(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    rows = [{"title": "Satyendra Nath Bose", "score": 0.90}, {"title": "Albert_Einstein", "score": 0.89}]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    result = wikigr("rerank", "rows.json", "--pack", str(physics_pack), "--beta", "0.2")
    assert [line.split(". ")[1].split("  ")[0] for line in result.out.splitlines()] == [
        "Albert_Einstein",
        "Satyendra Nath Bose",
    ]
    assert "was 2" in result.out


def test_quality_orders_by_what_sections_say(wikigr: Wikigr, physics_pack: Path) -> None:
    rows = [{"title": "x", "score": 1, "content": "too short"}, {"title": "y", "score": 0.1, "content": "spin " * 200}]
    arguments = ("rerank", "--pack", str(physics_pack), "--method", "quality", "--json")
    result = json.loads(wikigr(*arguments, "--query", "spin", stdin=json.dumps(rows)).out)
    assert [(r["title"], r["score"]) for r in result["results"]] == [("y", 1.0), ("x", 0.0)]
    missing = wikigr(*arguments, stdin=json.dumps(rows))
    assert (missing.code, "--query" in missing.err) == (2, True)


def test_content_that_is_missing_comes_from_the_pack(wikigr: Wikigr, physics_pack: Path) -> None:
    rows = [{"title": "spin", "score": 1}, {"title": "Spin", "score": 1}, {"title": "?", "score": 1}]
    arguments = ("rerank", "--pack", str(physics_pack), "--method", "quality", "--query", "spin", "--json")
    result = json.loads(wikigr(*arguments, stdin=json.dumps(rows)).out)["results"]
    by_title = {r["title"]: r for r in result}
    assert len(by_title["Spin"]["content"]) > 100
    assert by_title["?"]["content"] == "?"


def test_nothing_found_is_nothing_reranked(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = str(physics_pack)
    found = wikigr("search", "zzqqxx", "--mode", "lexical", "--pack", pack, "--json").out
    result = wikigr("rerank", "--pack", pack, "--json", stdin=found)
    assert (result.code, json.loads(result.out)["results"]) == (0, [])


def test_reranking_what_the_graph_has_ranked_already_changes_nothing(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path
) -> None:
    pack = str(physics_pack)
    profile = tmp_path / "still.yaml"
    profile.write_text("extends: enhanced\ngraph_walk: {enabled: false}\n")
    found = wikigr("search", QUESTION, "--pack", pack, "-k", "8", "--json", "--profile", str(profile)).out
    document = json.loads(wikigr("rerank", "--pack", pack, "--json", stdin=found).out)
    assert [r["score"] for r in document["results"]] == pytest.approx(
        [r["score"] for r in json.loads(found)["results"]], abs=1e-5
    )


@pytest.mark.parametrize("title", ['"\\ud800"', '"x"'])
def test_odd_text_does_not_crash(wikigr: Wikigr, physics_pack: Path, title: str) -> None:
    rows = f'\ufeff[{{"title": {title}, "score": 1}}]'
    for method in ("graph", "quality"):
        result = wikigr("rerank", "--pack", str(physics_pack), "--method", method, "--query", "x", "--json", stdin=rows)
        assert result.code == 0, result.err


def test_json_lines_stay_json_lines(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = str(physics_pack)
    lines = wikigr("search", "--batch", "-", "--pack", pack, "-k", "3", stdin="laser\nspin\n").out
    result = wikigr("rerank", "--pack", pack, stdin=lines)
    documents = [json.loads(line) for line in result.out.splitlines()]
    assert [(d["question"], d["id"], len(d["results"])) for d in documents] == [("laser", "1", 3), ("spin", "2", 3)]


def test_a_cross_encoder_that_cannot_be_loaded_degrades_loudly(
    wikigr: Wikigr, physics_pack: Path, found: str, tmp_path: Path
) -> None:
    (tmp_path / "p.yaml").write_text(f"cross_encoder: {{model: {tmp_path}/nowhere}}\n")
    result = wikigr(
        "rerank", "--pack", str(physics_pack), "--profile", "p.yaml", "--method", "cross-encoder", "--json", stdin=found
    )
    document = json.loads(result.out)
    assert result.code == 0
    assert document["degraded"]
    assert "could not be loaded" in result.err
    assert [r["old_rank"] for r in document["results"]] == list(range(1, 9))


def test_the_graph_stage_warns_of_a_foreign_cache(
    wikigr: Wikigr, physics_pack: Path, found: str, tmp_path: Path
) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    cache = copy / "pagerank_cache.json"
    changes: dict[str, Any] = {"another content": {**json.loads(cache.read_text()), "digest": "0" * 64}}
    cache.write_text(json.dumps(changes["another content"]))
    result = wikigr("rerank", "--pack", str(copy), "--json", stdin=found)
    assert "belongs to other content" in result.err
    assert not json.loads(result.out)["degraded"]
    whole = wikigr("rerank", "--pack", str(physics_pack), "--json", stdin=found)
    assert json.loads(result.out)["results"] == json.loads(whole.out)["results"]
    cache.write_text('{"scores": {"Spin": 0.')
    truncated = wikigr("rerank", "--pack", str(copy), "--json", stdin=found)
    assert (truncated.code, "Cannot use the PageRank cache" in truncated.err) == (0, True)


def test_scores_have_the_digits_that_mean_something(wikigr: Wikigr, physics_pack: Path, found: str) -> None:
    text = wikigr("rerank", "--pack", str(physics_pack), stdin=found).out
    assert all(re.search(r"  \d\.\d{4}(  was \d+)?$", line) for line in text.splitlines())
    document = json.loads(wikigr("rerank", "--pack", str(physics_pack), "--json", stdin=found).out)
    assert all(r["score"] == round(r["score"], 6) for r in document["results"])


def test_reranking_keeps_what_a_walk_found(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = str(physics_pack)
    found = wikigr("search", QUESTION, "--pack", pack, "-k", "8", "--json").out
    document = json.loads(wikigr("rerank", "--pack", pack, "--json", stdin=found).out)
    before = {r["section_id"]: r["score"] for r in json.loads(found)["results"]}
    assert {r["section_id"] for r in document["results"]} == set(before) and len(before) == 8
    # With the documented weights for so small a pack, four fifths of a score are the walk's.
    assert all(r["score"] >= 0.8 * before[r["section_id"]] - 1e-6 for r in document["results"])
