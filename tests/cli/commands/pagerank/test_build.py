"""``wikigr pagerank build``."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
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


@pytest.mark.parametrize("name", ["scores.json", "scores.parquet"])
def test_a_file_elsewhere(wikigr: Wikigr, pack: Path, tmp_path: Path, name: str) -> None:
    manifest = (pack / "manifest.json").read_bytes()
    result = wikigr("pagerank", "build", str(pack), "-o", name, "--json")
    (row,) = json.loads(result.out)["packs"]
    assert (row["file"], row["written"], row["articles"], row["links"]) == (name, True, 50, 456)
    assert not json.loads(wikigr("pagerank", "build", str(pack), "-o", name, "--json").out)["packs"][0]["written"]
    assert (pack / "manifest.json").read_bytes() == manifest
    if name.endswith("parquet"):
        table = pq.read_table(tmp_path / name)
        assert table.num_rows == 50
        assert sum(table["score"].to_pylist()) == pytest.approx(1.0)
    assert [path.name for path in tmp_path.glob(".scores*")] == []


def test_several_packs_print_a_line_each_and_the_first_failure_decides(
    wikigr: Wikigr, pack: Path, tmp_path: Path
) -> None:
    result = wikigr("pagerank", "build", "nowhere", str(pack))
    assert result.code == 4
    assert "nowhere" in result.err
    assert result.out.count("\n") == 1
    assert wikigr("pagerank", "build", str(pack), str(pack)).out.count("fresh") == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--damping", "1"), "--damping"),
        (("--damping", "nan"), "--damping"),
        (("--tol", "0"), "--tol"),
        (("--format", "parquet"), "JSON"),
        (("--tol", "0.5"), "--tol"),
        (("--max-iter", "0"), "max-iter"),
    ],
)
def test_wrong_usage(wikigr: Wikigr, pack: Path, options: tuple[str, ...], says: str) -> None:
    result = wikigr("pagerank", "build", str(pack), *options)
    assert (result.code, result.out, says in result.err) == (2, "", True)


def test_one_file_takes_one_pack(wikigr: Wikigr, pack: Path) -> None:
    assert wikigr("pagerank", "build", str(pack), str(pack), "-o", "x.json").code == 2


def test_failures_say_why(wikigr: Wikigr, pack: Path) -> None:
    slow = wikigr("pagerank", "build", str(pack), "--max-iter", "1", "--tol", "1e-12")
    assert (slow.code, "converge" in slow.err) == (3, True)
    folder = wikigr("pagerank", "build", str(pack), "-o", "no/such/folder.json")
    assert folder.code == 2
    assert folder.err == (
        "wikigr: Cannot write the cache no/such/folder.json: No such file or directory.\n"
        "Create its folder first: mkdir -p no/such\n"
    )


def test_the_packs_own_file_named_with_o_keeps_the_pack_valid(wikigr: Wikigr, pack: Path) -> None:
    target = str(pack / "pagerank_cache.json")
    assert wikigr("pagerank", "build", str(pack), "--damping", "0.3", "-o", target).code == 0
    assert wikigr("pack", "validate", str(pack)).code == 0
