"""``wikigr pagerank top`` and ``wikigr pagerank show``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...conftest import Wikigr


def test_top_and_show(wikigr: Wikigr, pack: Path) -> None:
    lines = wikigr("pagerank", "top", "--pack", str(pack), "-k", "3").out.splitlines()
    assert [line.split()[0] for line in lines] == ["1.", "2.", "3."]
    rows = json.loads(wikigr("pagerank", "top", "--pack", str(pack), "-k", "50", "--json").out)["articles"]
    assert sum(row["score"] for row in rows) == pytest.approx(1.0)
    first = json.loads(wikigr("pagerank", "show", rows[0]["title"].upper(), "--pack", str(pack), "--json").out)
    assert (first["rank"], first["articles"], first["score"]) == (1, 50, rows[0]["score"])
    wrong = wikigr("pagerank", "show", "Albert Einstien", "--pack", str(pack))
    assert (wrong.code, "Did you mean 'Albert Einstein'?" in wrong.err) == (2, True)


def test_a_plain_mapping_is_read(wikigr: Wikigr, pack: Path) -> None:
    titles = json.loads((pack / "pagerank_cache.json").read_text())["scores"]
    (pack / "pagerank_cache.json").write_text(json.dumps({**dict.fromkeys(titles, 0.01), "Spin": 0.51}))
    result = wikigr("pagerank", "top", "--pack", str(pack), "-k", "1")
    assert (result.out, result.err) == ("   1. 0.510000  Spin\n", "")


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
    whole = wikigr("pagerank", "top", "--pack", str(pack), "-k", "1").out
    (pack / "pagerank_cache.json").write_text(text)
    result = wikigr("pagerank", "top", "--pack", str(pack), "-k", "1")
    assert (result.code, result.out, "computed again" in result.err) == (0, whole, True)
    asked = wikigr("ask", "What is spin?", "--pack", str(pack), "--offline")
    assert (asked.code, "recomputed" in asked.err) == (0, True)
