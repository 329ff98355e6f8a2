"""``wikigr pagerank`` on a copy of the demo pack."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from wikigr.pack.open import Pack

from ..conftest import Wikigr


@pytest.fixture
def pack(physics_pack: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(physics_pack, tmp_path / "physics"))


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


def test_force_replaces_the_cache_and_the_pack_stays_valid(wikigr: Wikigr, pack: Path) -> None:
    assert "fresh" in wikigr("pagerank", "build", str(pack)).out
    assert "written" in wikigr("pagerank", "build", str(pack), "--force").out
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
    assert wikigr("pagerank", "build", str(pack), "--force", "-o", target).code == 0
    assert wikigr("pack", "validate", str(pack)).code == 0


def test_several_packs_print_a_line_each_and_the_first_failure_decides(
    wikigr: Wikigr, pack: Path, tmp_path: Path
) -> None:
    result = wikigr("pagerank", "build", "nowhere", str(pack))
    assert result.code == 4
    assert "nowhere" in result.err
    assert result.out.count("\n") == 1
    assert wikigr("pagerank", "build", str(pack), str(pack)).out.count("fresh") == 2


def test_a_plain_mapping_is_read(pack: Path) -> None:
    titles = json.loads((pack / "pagerank_cache.json").read_text())["scores"]
    (pack / "pagerank_cache.json").write_text(json.dumps({**dict.fromkeys(titles, 0.01), "Spin": 0.51}))
    with Pack(pack) as opened:
        assert (opened.pagerank["Spin"], len(opened.pagerank)) == (0.51, 50)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"Totally": 0.5, "Foreign": 0.5}',
        '{"schema_version": 1, "digest": "", "damping": 2, "max_iter": 100, "tol": 1e-6, "scores": {}}',
        '{"schema_version": 9, "digest": "", "damping": 0.5, "max_iter": 1, "tol": 1e-6, "scores": {}}',
    ],
)
def test_an_unusable_cache_is_computed_again_with_a_note(wikigr: Wikigr, pack: Path, text: str) -> None:
    (pack / "pagerank_cache.json").write_text(text)
    asked = wikigr("ask", "What is spin?", "--pack", str(pack), "--offline")
    assert (asked.code, "recomputed" in asked.err) == (0, True)
    assert "written" in wikigr("pagerank", "build", str(pack)).out


def test_a_score_with_a_flipped_bit_is_not_used(wikigr: Wikigr, pack: Path) -> None:
    cache = pack / "pagerank_cache.json"
    whole, scores = cache.read_bytes(), json.loads(cache.read_text())["scores"]
    data = bytearray(whole)
    # The first digit after "0.0" of the score of Spin.
    data[data.index(b'"Spin": 0.0') + len(b'"Spin": 0.0')] ^= 1
    cache.write_bytes(data)
    assert json.loads(cache.read_text())["scores"]["Spin"] != scores["Spin"]
    asked = wikigr("ask", "What is spin?", "--pack", str(pack), "--offline", "--profile", "enhanced")
    assert (asked.code, "has changed since it was built. PageRank was recomputed." in asked.err) == (0, True)
    with Pack(pack) as opened:
        assert opened.pagerank == {}
    assert " written in " in wikigr("pagerank", "build", str(pack)).out
    assert cache.read_bytes() == whole
    with Pack(pack) as opened:
        assert opened.pagerank == scores
