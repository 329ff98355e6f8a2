"""``wikigr pagerank verify``."""

from __future__ import annotations

import json
from pathlib import Path

from ...conftest import Wikigr


def test_verify_finds_a_cache_that_is_wrong(wikigr: Wikigr, pack: Path) -> None:
    assert wikigr("pagerank", "verify", str(pack)).code == 0
    cache = pack / "pagerank_cache.json"
    document = json.loads(cache.read_text())
    document["scores"]["Spin"] += 0.001
    cache.write_text(json.dumps(document))
    result = wikigr("pagerank", "verify", str(pack))
    assert (result.code, "DIFFERS" in result.out) == (1, True)
    cache.write_text("[]")
    assert wikigr("pagerank", "verify", str(pack)).code == 1
    several = wikigr("pagerank", "verify", str(pack), "nowhere", "--json")
    assert (several.code, [row["passed"] for row in json.loads(several.out)["packs"]]) == (4, [False, False])
    shown = wikigr("pagerank", "top", "--pack", str(pack), "-k", "1")
    assert (shown.code, "computed again" in shown.err) == (0, True)
