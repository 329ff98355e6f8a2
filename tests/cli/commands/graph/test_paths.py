"""``wikigr graph paths``: shortest paths and metapaths."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...conftest import Wikigr
from .conftest import article, document


def test_shortest_paths(wikigr: Wikigr, films: Path) -> None:
    found = document(wikigr, "graph", "paths", "The Iron Bell", "Zorland", "-p", str(films))
    assert list(found) == ["schema_version", "from", "to", "metapath", "paths", "truncated", "warnings"]
    (path,) = found["paths"]
    assert list(path) == ["text", "nodes", "edges"]
    assert path["text"] == "The Iron Bell -> director -> Clara Voss -> born_in -> Kelburg -> located_in -> Zorland"
    assert path["nodes"][0] == article("The Iron Bell") and len(path["edges"]) == 3
    assert found["metapath"] is None and found["truncated"] is False
    assert wikigr("graph", "paths", "The Iron Bell", "Zorland", "-p", str(films)).out == path["text"] + "\n"
    back = wikigr("graph", "paths", "Clara Voss", "The Iron Bell", "-p", str(films))
    assert back.out == "Clara Voss -> ~director -> The Iron Bell\n"
    none = wikigr("graph", "paths", "The Iron Bell", "Zorland", "-p", str(films), "--max-hops", "1")
    assert (none.code, none.out) == (0, "") and "No path" in none.err


def test_a_metapath(wikigr: Wikigr, films: Path) -> None:
    ahead = document(wikigr, "graph", "paths", "The Iron Bell", "-p", str(films), "--metapath", "director->Born in")
    assert [path["text"] for path in ahead["paths"]] == [
        "The Iron Bell -> director -> Clara Voss -> born_in -> Kelburg"
    ]
    assert (ahead["metapath"], ahead["to"]) == ("director -> born_in", None)
    to = ("graph", "paths", "The Iron Bell", "The Glass Door", "-p", str(films), "--metapath", "director -> ~director")
    assert wikigr(*to).out == "The Iron Bell -> director -> Clara Voss -> ~director -> The Glass Door\n"
    cut = wikigr("graph", "paths", "Zorland", "-p", str(films), "--metapath", "~located_in", "--top-k", "1")
    assert len(cut.out.splitlines()) == 1 and "Truncated" in cut.err


def test_no_path_when_the_search_stops_at_its_limit(
    wikigr: Wikigr, films: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = ("graph", "paths", "The Iron Bell", "The Glass Door", "-p", str(films), "--metapath", "director -> ~director")
    nowhere = wikigr(*to[:-1], "director -> director")
    assert nowhere.err == "No path from The Iron Bell to The Glass Door along director -> director.\n"
    monkeypatch.setattr("wikigr.graph_search.explore.metapath._MAX_TRAVERSED", 0)
    stopped = wikigr(*to)
    assert (stopped.code, stopped.out) == (0, "")
    assert "along director -> ~director was found before the search stopped at its limit." in stopped.err
    assert "Truncated: a shorter metapath can be searched completely." in stopped.err
