"""``wikigr pack validate``, and how commands refuse a damaged pack."""

from __future__ import annotations

import json
from pathlib import Path

from ...conftest import Wikigr
from .conftest import change_manifest


def test_a_wrong_manifest_is_found(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    counts = json.loads((physics_pack / "manifest.json").read_text())["counts"]
    copy = change_manifest(physics_pack, tmp_path / "copy", "counts", {**counts, "sections": counts["sections"] + 1})
    result = wikigr("pack", "validate", str(copy))
    assert result.code == 4
    assert "FAILED sections" in result.out


def test_a_pack_with_an_invalid_version_answers_but_is_not_distributed(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path
) -> None:
    old = str(change_manifest(physics_pack, tmp_path / "old", "version", "1.0/../../zz"))
    assert wikigr("ask", "What is spin?", "--pack", old, "--offline").code == 0
    checked = wikigr("pack", "validate", old)
    assert (checked.code, "FAILED version: '1.0/../../zz' is not a semantic version" in checked.out) == (4, True)
    for command in (("export", old, "-o", "out.wikigr"), ("export", old), ("install", old)):
        refused = wikigr("pack", *command)
        assert (refused.code, refused.out, refused.err.count("semantic version")) == (4, "", 1)
    assert not list(tmp_path.glob("*.wikigr"))
