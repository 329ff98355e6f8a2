"""``wikigr graph neighbors``: the edges of a node, and how its name is resolved."""

from __future__ import annotations

from pathlib import Path

from ...conftest import Wikigr
from .conftest import MEGABYTE, article, document, entity


def test_neighbors(wikigr: Wikigr, films: Path) -> None:
    found = document(wikigr, "graph", "neighbors", "the_iron_bell", "-p", str(films))
    assert list(found) == ["schema_version", "node", "edges", "truncated", "warnings"]
    assert found["node"] == article("The Iron Bell")
    edges = {edge["relation"]: edge for edge in found["edges"]}
    assert list(edges["director"]) == ["source", "relation", "target", "section_id"]
    assert edges["director"]["section_id"] == "The Iron Bell#0"
    assert edges["releaseYear"]["target"] == entity("1961")
    assert edges["LINKS_TO"]["section_id"] is None


def test_neighbors_by_relation_and_direction(wikigr: Wikigr, films: Path) -> None:
    lines = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "Director").out.splitlines()
    assert lines == [
        "The Glass Door -> director -> Clara Voss  [The Glass Door#0]",
        "The Iron Bell -> director -> Clara Voss  [The Iron Bell#0]",
    ]
    none = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "director", "--direction", "out")
    assert (none.code, none.out) == (0, "") and "has no such edge" in none.err
    cut = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "director", "--top-k", "1")
    assert len(cut.out.splitlines()) == 1 and "Truncated" in cut.err
    unknown = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "directr")
    assert unknown.code == 2 and "director" in unknown.err
    assert wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "a -> b").code == 2


def test_a_typo_is_corrected_with_a_note(wikigr: Wikigr, films: Path) -> None:
    result = wikigr("graph", "neighbors", "Clara Vos", "-p", str(films))
    assert result.code == 0 and "Clara Voss" in result.out
    assert "using 'Clara Voss'" in result.err


def test_an_unknown_name_gets_suggestions(wikigr: Wikigr, films: Path) -> None:
    result = wikigr("graph", "neighbors", "Voss", "-p", str(films))
    assert result.code == 2 and "'Clara Voss'" in result.err
    for name in ("zzzzzzzz", "", "   ", "'; DROP", "\ud800", "\x00", "a" * 100_000):
        result = wikigr("graph", "neighbors", name, "-p", str(films))
        assert result.code == 2 and "Nothing in the pack is called" in result.err
        assert len(result.err) < 1000 and "\x1b" not in result.err


def test_names_from_a_pack_do_not_drive_the_terminal_or_fill_it(wikigr: Wikigr, films: Path) -> None:
    for command in (("neighbors", "Kelburg"), ("triplets", "What is the motto of Kelburg?"), ("schema",)):
        result = wikigr("graph", *command, "-p", str(films))
        assert result.code == 0
        assert "\x1b" not in result.out + result.err and "\u202e" not in result.out + result.err
        assert all(len(line) < 700 for line in result.out.splitlines())
    edges = document(wikigr, "graph", "neighbors", "Kelburg", "-p", str(films), "--relation", "motto")["edges"]
    assert edges[0]["target"]["name"] == MEGABYTE
