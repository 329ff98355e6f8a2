from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from wikigr.errors import PackError
from wikigr.graph.pagerank_cache import PageRankCache, Parameters, read_pack_cache, write_cache


def test_a_pack_has_as_many_scores_as_articles(tmp_path: Path) -> None:
    """Regression: the cache of a pack of 16 articles could hold three million titles, which took 820 MB."""
    path = tmp_path / "pagerank_cache.json"
    cache = PageRankCache({"Alpha": 0.5, "Beta": 0.5}, "d", Parameters())
    write_cache(path, cache)
    assert read_pack_cache(path, "d", _counts(2)) == cache
    with pytest.raises(PackError, match="2 titles for 1 articles"):
        read_pack_cache(path, "d", _counts(1))
    with pytest.raises(PackError, match="belongs to other content"):
        read_pack_cache(path, "e", _counts(2))
    path.write_text('{"Alpha": 1.0}')
    assert read_pack_cache(path, "d", _counts(1)).scores == {"Alpha": 1.0}


def test_a_damaged_file_is_not_used_unless_it_is_a_plain_mapping(tmp_path: Path) -> None:
    path = tmp_path / "pagerank_cache.json"
    write_cache(path, PageRankCache({"Alpha": 1.0}, "d", Parameters()))
    with pytest.raises(PackError, match="is damaged: it has changed"):
        read_pack_cache(path, "d", _counts(1), "it has changed")
    path.write_text('{"Alpha": 1.0}')
    assert read_pack_cache(path, "d", _counts(1), "it has changed").scores == {"Alpha": 1.0}


def _counts(articles: int) -> dict[str, int]:
    return {"articles": articles, "links": 1}


def test_the_longest_titles_fit(tmp_path: Path) -> None:
    path = tmp_path / "pagerank_cache.json"
    scores = {f"{n}" + "\U0001f600" * 999: 0.001 for n in range(9)}
    path.write_text(json.dumps({**scores}))
    assert b"\\ud83d" in path.read_bytes()
    assert len(read_pack_cache(path, "d", _counts(9)).scores) == 9


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pagerank_cache.json"
    path.write_text("{}")
    os.truncate(path, 1 << 40)
    with pytest.raises(PackError, match=r"pagerank_cache\.json has more than .* bytes, the limit"):
        read_pack_cache(path, "d", _counts(1_000))
