"""Checks that find every part of a pack that disagrees with the others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.distribution.letters import list_encoder

from wikigr.errors import PackError
from wikigr.graph.engine import Graph
from wikigr.pack.layout import DATABASE, MANIFEST, PAGERANK
from wikigr.pack.manifest import describe_file, read_manifest
from wikigr.pack.validate import validate_pack

BUNDLED = "Get the pack again, or build it again with --bundle-encoder."


def failed(pack: Path) -> dict[str, str]:
    return {check.name: check.detail for check in validate_pack(pack) if not check.passed}


def execute(pack: Path, statement: str) -> None:
    """Change the database, and the manifest's record of it, so that only the content gives the change away."""
    with Graph(pack / DATABASE, read_only=False) as graph:
        graph.execute(statement)
    manifest = read_manifest(pack / MANIFEST)
    files = {**manifest.files, DATABASE: describe_file(pack / DATABASE)}
    (pack / MANIFEST).write_text(replace(manifest, files=files).to_json(), encoding="utf-8")


def test_a_new_pack_passes_every_check(letters_pack: Path) -> None:
    checks = validate_pack(letters_pack)
    assert all(check.passed for check in checks)
    assert [check.name for check in checks] == [
        "files", "articles", "sections", "links", "mentions", "entities", "triples", "lexical index",
        "sections of articles", "offsets", "blocks", "vectors", "encoder", "anchors", "version",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("CREATE (:Entity {entity_id: 'x', name: 'x', type: 'x', aliases: []})", "entities"),
        ("MATCH (a:Article {title: 'Alpha'}), (b:Article {title: 'Gamma'}) CREATE (a)-[:LINKS_TO]->(b)", "links"),
        ("MATCH (:Article {title: 'Alpha'})-[h:HAS_SECTION]->() DELETE h", "sections of articles"),
        ("MATCH (s:Section {section_id: 'Beta#0'}) SET s.content = 'Other text'", "offsets"),
        ("MATCH (s:Section) SET s.embedding = CAST(range(1, 384) AS FLOAT[384])", "vectors"),
    ],
)
def test_content_that_disagrees_is_found(letters_copy: Path, statement: str, check: str) -> None:
    execute(letters_copy, statement)
    assert list(failed(letters_copy)) == [check]


def test_a_changed_or_unlisted_file_is_found_before_the_database_is_opened(letters_copy: Path) -> None:
    with (letters_copy / DATABASE).open("r+b") as database:
        database.write(b"\xa5" * 4096)
    manifest = read_manifest(letters_copy / MANIFEST)
    files = {name: record for name, record in manifest.files.items() if name != PAGERANK}
    (letters_copy / MANIFEST).write_text(replace(manifest, files=files).to_json(), encoding="utf-8")
    assert failed(letters_copy) == {
        DATABASE: "has changed since it was built",
        PAGERANK: "is not listed in the manifest",
    }


def flip_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_a_bundled_reader_is_checked(bundled_letters: Path) -> None:
    checks = {check.name: check for check in validate_pack(bundled_letters)}
    assert all(check.passed for check in checks.values())
    assert checks["reader"].detail.startswith("adapter ")
    flip_last_byte(bundled_letters / "encoder" / "reader.onnx.data")
    (changed,) = (check for check in validate_pack(bundled_letters) if not check.passed)
    assert (changed.name, changed.fix) == ("encoder/reader.onnx.data", BUNDLED)
    # If the manifest was written again, only the reader's own digests give the change away.
    list_encoder(bundled_letters)
    (damaged,) = (check for check in validate_pack(bundled_letters) if not check.passed)
    assert (damaged.name, damaged.fix) == ("reader", BUNDLED)
    assert "reader.onnx.data does not have its recorded sha256" in damaged.detail


def test_a_bundled_encoder_needs_no_reader(bundled_letters: Path) -> None:
    for path in (bundled_letters / "encoder").glob("reader.*"):
        path.unlink()
    list_encoder(bundled_letters)
    checks = {check.name: check for check in validate_pack(bundled_letters)}
    assert all(check.passed for check in checks.values())
    assert checks["reader"].detail == "none, so answers have no short answer"


def test_a_version_that_is_not_semantic_fails(letters_copy: Path) -> None:
    fields = json.loads((letters_copy / MANIFEST).read_text())
    (letters_copy / MANIFEST).write_text(json.dumps({**fields, "version": "2026-11"}))
    assert failed(letters_copy) == {"version": "'2026-11' is not a semantic version"}


def test_a_pack_without_a_readable_manifest_cannot_be_validated(letters_copy: Path) -> None:
    (letters_copy / MANIFEST).write_text("{")
    with pytest.raises(PackError, match="is not valid"):
        validate_pack(letters_copy)
