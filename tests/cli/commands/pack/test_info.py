"""``wikigr pack info``, and what a build shows in it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.pack.older import build_without_anchors

from wikigr.embeddings.embedder import Embedder

from ...conftest import Wikigr
from .conftest import change_manifest


def test_a_garbled_manifest_is_a_clear_error(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    copy = change_manifest(physics_pack, tmp_path / "copy", "counts", {"articles": "x"})
    for command in (("pack", "info", str(copy)), ("ask", "What is spin?", "--pack", str(copy))):
        result = wikigr(*command)
        assert (result.code, "missing or malformed field" in result.err) == (4, True)


def test_a_pack_without_anchors_says_so_where_it_is_described(
    wikigr: Wikigr, tmp_path: Path, encoder: Embedder
) -> None:
    source = tmp_path / "valve.md"
    source.write_text("# Valve\n\nIt is red.\n\n## Opening it\n\nTurn the lever.\n")
    build_without_anchors(source, tmp_path / "p", encoder)
    note = "none, so citations open at the top of the page"
    assert note in wikigr("pack", "info", "p").out
    assert json.loads(wikigr("pack", "info", "p", "--json").out)["anchors"] is False
    checked = wikigr("pack", "validate", "p")
    assert (checked.code, f"note   anchors: {note}\n" in checked.out) == (0, True)
    asked = wikigr("ask", "What color is the valve?", "--pack", "p")
    assert (asked.code, note in asked.out + asked.err) == (0, False)

    assert wikigr("pack", "build", str(source), "-o", "p").code == 0
    assert "anchors" not in wikigr("pack", "info", "p").out
    assert json.loads(wikigr("pack", "info", "p", "--json").out)["anchors"] is True
    assert "ok     anchors: " in wikigr("pack", "validate", "p").out
