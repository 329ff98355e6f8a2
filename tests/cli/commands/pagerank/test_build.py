"""``wikigr pagerank build``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...conftest import Wikigr


def test_a_fresh_cache_is_kept_and_a_stale_one_replaced(wikigr: Wikigr, pack: Path) -> None:
    cache = pack / "pagerank_cache.json"
    built = cache.read_bytes()
    fresh = wikigr("pagerank", "build", str(pack))
    assert (fresh.code, fresh.out.endswith("fresh\n"), cache.read_bytes() == built) == (0, True, True)
    cache.write_text('{"Spin": 1.0}')
    mended = wikigr("pagerank", "build", str(pack))
    assert "written" in mended.out
    assert cache.read_bytes() == built
    assert wikigr("pack", "validate", str(pack)).code == 0


def test_other_parameters_replace_the_cache_and_the_pack_stays_valid(wikigr: Wikigr, pack: Path) -> None:
    before = (pack / "pagerank_cache.json").read_bytes()
    assert "written" in wikigr("pagerank", "build", str(pack), "--damping", "0.5").out
    assert (pack / "pagerank_cache.json").read_bytes() != before
    assert "fresh" in wikigr("pagerank", "build", str(pack), "--damping", "0.5").out
    assert "written" in wikigr("pagerank", "build", str(pack), "--damping", "0.5", "--force").out
    assert wikigr("pack", "validate", str(pack)).code == 0
    asked = wikigr("ask", "What is spin?", "--pack", str(pack), "--offline")
    assert (asked.code, asked.err) == (0, "")


def test_a_file_elsewhere(wikigr: Wikigr, pack: Path, tmp_path: Path) -> None:
    name = "scores.json"
    manifest = (pack / "manifest.json").read_bytes()
    result = wikigr("pagerank", "build", str(pack), "-o", name, "--json")
    (row,) = json.loads(result.out)["packs"]
    assert (row["file"], row["written"], row["articles"], row["links"]) == (name, True, 50, 456)
    assert not json.loads(wikigr("pagerank", "build", str(pack), "-o", name, "--json").out)["packs"][0]["written"]
    assert (pack / "manifest.json").read_bytes() == manifest
    assert sum(json.loads((tmp_path / name).read_text())["scores"].values()) == pytest.approx(1.0)
    assert [path.name for path in tmp_path.glob(".scores*")] == []


def test_the_packs_own_file_named_with_o_keeps_the_pack_valid(wikigr: Wikigr, pack: Path) -> None:
    target = str(pack / "pagerank_cache.json")
    assert wikigr("pagerank", "build", str(pack), "--damping", "0.3", "-o", target).code == 0
    assert wikigr("pack", "validate", str(pack)).code == 0


def test_several_packs_print_a_line_each_and_the_first_failure_decides(
    wikigr: Wikigr, pack: Path, tmp_path: Path
) -> None:
    result = wikigr("pagerank", "build", "nowhere", str(pack))
    assert result.code == 4
    assert "nowhere" in result.err
    assert result.out.count("\n") == 1
    assert wikigr("pagerank", "build", str(pack), str(pack)).out.count("fresh") == 2
