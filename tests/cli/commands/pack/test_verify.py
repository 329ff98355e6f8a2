"""``wikigr pack validate``, and how commands refuse a damaged pack."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ...conftest import Wikigr
from .conftest import change_manifest


def test_a_wrong_manifest_is_found(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    counts = json.loads((physics_pack / "manifest.json").read_text())["counts"]
    copy = change_manifest(physics_pack, tmp_path / "copy", "counts", {**counts, "sections": counts["sections"] + 1})
    result = wikigr("pack", "validate", str(copy))
    assert result.code == 4
    assert "FAILED sections" in result.out


@pytest.mark.parametrize("place", [0, 400_000])
def test_a_damaged_database_is_found_before_the_engine_reads_it(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, place: int
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    with (copy / "pack.db").open("r+b") as database:
        database.seek(place)
        database.write(b"\xa5" * 64)
    result = wikigr("pack", "validate", str(copy))
    assert result.code == 4
    assert "FAILED pack.db" in result.out


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda pack: (pack / "manifest.json").write_text("{"), "is not valid"),
        (lambda pack: (pack / "manifest.json").write_text('{"format_version": 99}'), "format 99"),
        (lambda pack: (pack / "pack.db").unlink(), "is damaged: pack.db is missing"),
        (lambda pack: shutil.rmtree(pack / "lexical"), "is damaged: lexical/"),
    ],
)
def test_a_damaged_pack_is_a_clear_error(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, damage: object, message: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    assert callable(damage)
    damage(copy)
    result = wikigr("ask", "What is spin?", "--pack", str(copy))
    assert result.code == 4
    assert message in result.err
    assert "Traceback" not in result.err


def test_another_encoder_is_refused(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["encoder"]["weights_sha256"] = "0" * 64
    (copy / "manifest.json").write_text(json.dumps(manifest))
    result = wikigr("ask", "What is spin?", "--pack", str(copy))
    assert result.code == 4
    assert "cannot be compared" in result.err


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
