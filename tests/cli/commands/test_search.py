from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import Wikigr


@pytest.mark.parametrize("options", [(), ("--mode", "dense"), ("--mode", "lexical"), ("--fusion", "rrf")])
def test_every_mode_finds_the_article(wikigr: Wikigr, physics_pack: Path, options: tuple[str, ...]) -> None:
    result = wikigr("search", "superconductivity", "--pack", str(physics_pack), "--top-k", "3", "--json", *options)
    document = json.loads(result.out)
    assert document["schema_version"] == 1
    assert [r["rank"] for r in document["results"]] == [1, 2, 3]
    assert document["results"][0]["title"] == "Superconductivity"
    assert set(document["results"][0]) >= {"rank", "title", "section_id", "section", "source_id", "score", "content"}
    scores = [r["score"] for r in document["results"]]
    assert scores == sorted(scores, reverse=True)
    assert document["timings"]["total_ms"] > 0


def test_text_output_is_one_heading_and_one_snippet_a_result(wikigr: Wikigr, physics_pack: Path) -> None:
    lines = wikigr("search", "spin", "--pack", str(physics_pack), "-k", "2").out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("  1. ")
    assert lines[2].startswith("  2. ")


def test_a_batch_is_json_lines_in_order(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("search", "--batch", "-", "--pack", str(physics_pack), "-k", "1", stdin="laser\nspin\n")
    assert [json.loads(line)["question"] for line in result.out.splitlines()] == ["laser", "spin"]


def test_a_wrong_mode_is_wrong_usage(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("search", "x", "--pack", str(physics_pack), "--mode", "fuzzy")
    assert result.code == 2
    assert "hybrid" in result.err
