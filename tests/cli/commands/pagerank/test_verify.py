"""``wikigr pagerank verify``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.tampering import accept_changes

from wikigr.pack.open import Pack
from wikigr.server.web.article_page import ranks_of

from ...conftest import Wikigr


def test_verify_finds_a_cache_that_is_wrong(wikigr: Wikigr, pack: Path) -> None:
    assert wikigr("pagerank", "verify", str(pack)).code == 0
    cache = pack / "pagerank_cache.json"
    document = json.loads(cache.read_text())
    document["scores"]["Spin"] += 0.001
    cache.write_text(json.dumps(document))
    accept_changes(pack)
    result = wikigr("pagerank", "verify", str(pack))
    assert (result.code, "DIFFERS" in result.out) == (1, True)
    cache.write_text("[]")
    assert wikigr("pagerank", "verify", str(pack)).code == 1
    several = wikigr("pagerank", "verify", str(pack), "nowhere", "--json")
    assert (several.code, [row["passed"] for row in json.loads(several.out)["packs"]]) == (4, [False, False])
    shown = wikigr("pagerank", "top", "--pack", str(pack), "-k", "1")
    assert (shown.code, "computed again" in shown.err) == (0, True)


def test_a_score_with_a_flipped_bit_is_not_used(wikigr: Wikigr, pack: Path) -> None:
    cache = pack / "pagerank_cache.json"
    whole, scores = cache.read_bytes(), json.loads(cache.read_text())["scores"]
    data = bytearray(whole)
    # The first digit after "0.0" of the score of Spin.
    data[data.index(b'"Spin": 0.0') + len(b'"Spin": 0.0')] ^= 1
    cache.write_bytes(data)
    assert json.loads(cache.read_text())["scores"]["Spin"] != scores["Spin"]
    verified = wikigr("pagerank", "verify", str(pack))
    assert (verified.code, "pagerank_cache.json has changed since it was built" in verified.out) == (1, True)
    shown = wikigr("pagerank", "show", "Spin", "--pack", str(pack), "--json")
    assert json.loads(shown.out)["score"] == scores["Spin"]
    assert "pagerank_cache.json has changed since it was built. PageRank is computed again." in shown.err
    asked = wikigr("ask", "What is spin?", "--pack", str(pack), "--offline", "--profile", "enhanced")
    assert (asked.code, "has changed since it was built. PageRank was recomputed." in asked.err) == (0, True)
    with Pack(pack) as opened:
        assert opened.pagerank == {}
        assert ranks_of(opened).of("Spin") is None
    assert " written in " in wikigr("pagerank", "build", str(pack)).out
    assert cache.read_bytes() == whole
    with Pack(pack) as opened:
        assert opened.pagerank == scores
