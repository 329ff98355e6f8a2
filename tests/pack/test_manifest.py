"""The manifest: reading untrusted JSON, the files that it may list, and the order of versions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikigr.errors import PackError
from wikigr.pack.layout import MANIFEST
from wikigr.pack.manifest import (
    check_file,
    describe_file,
    describe_files,
    is_lower_version,
    is_pack_file,
    parse_manifest,
    parse_version,
    read_manifest,
)


def test_a_manifest_survives_a_round_trip(letters_pack: Path) -> None:
    manifest = read_manifest(letters_pack / MANIFEST)
    assert parse_manifest(manifest.to_json().encode()) == manifest
    assert json.loads(manifest.to_json()) == json.loads((letters_pack / MANIFEST).read_text(encoding="utf-8"))


def _set(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda fields: fields.update({name: value})


def test_a_malformed_field_is_refused(letters_pack: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[Callable[[dict[str, Any]], object], str]] = [
        (lambda fields: fields.pop("name"), "missing or malformed field: 'name'"),
        (_set("name", 7), "not of type str"),
        (_set("vector_index", 1), "not of type bool"),
        (_set("anchors", 1), "not of type bool"),
        (_set("counts", {"articles": -1}), "out of range"),
        (_set("counts", {"articles": 1 << 63}), "out of range"),
        (_set("counts", {"articles": True}), "not of type int"),
        (_set("digest", "0" * 63), "not a SHA-256"),
        (_set("files", {"pack.db": {"size": 1, "sha256": "X" * 64}}), "not a SHA-256"),
        *(
            (lambda fields, name=name: fields["encoder"].update(model_id=name), "which is no id of a model")
            for name in ("/etc/model", "../model", "a/../b", "~/model", ".", "a/b/c", "a\\b", "-x", "a\x9bb", "")
        ),
        (_set("format_version", 999), "format 999"),
        (lambda fields: fields.pop("format_version"), "not the manifest of a wikigr pack"),
    ]
    for change, message in cases:
        with subtests.test(change=change):
            fields = json.loads((letters_pack / MANIFEST).read_text())
            change(fields)
            with pytest.raises(PackError, match=message) as caught:
                parse_manifest(json.dumps(fields).encode())
            assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not valid"),
        (b"\xff", "is not valid"),
        (b"[]", "not the manifest"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "a number in it has too many digits"),
        (b'{"name": "a", "name": "b"}', "duplicate key"),
        (b'{"thresholds": NaN}', "NaN is not a number"),
        (b'{"name": "\\ud800"}', "is not valid"),
    ],
)
def test_content_that_is_not_a_manifest_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(PackError, match=message):
        parse_manifest(content, "The test's manifest")


@pytest.mark.parametrize(("length", "shown"), [(80, "x" * 80), (81, "x" * 80 + "…")], ids=["whole", "cut"])
def test_a_long_value_of_a_manifest_is_cut_in_the_message(letters_pack: Path, length: int, shown: str) -> None:
    fields = json.loads((letters_pack / MANIFEST).read_text()) | {"format_version": "x" * length}
    with pytest.raises(PackError, match=f"has format {shown}; this wikigr reads the formats"):
        parse_manifest(json.dumps(fields).encode())


def test_an_unreadable_manifest_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="Cannot read the manifest"):
        read_manifest(tmp_path / MANIFEST)


def test_files_of_a_pack() -> None:
    cases = {
        "pack.db": True,
        "lexical/meta.json": True,
        "encoder/model.onnx": True,
        "eval/questions.jsonl": True,
        "manifest.json": False,
        "lexical": False,
        "lexical/": False,
        "lexical/../pack.db": False,
        "/pack.db": False,
        "eval/other.jsonl": False,
        ".wikigr/commit": False,
        "pack.db\n": False,
        "lexical/" + "x" * 100: False,
    }
    assert {name: is_pack_file(name) for name in cases} == cases


def test_a_large_manifest_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Regression: a manifest of 600 MB took 2.3 GB."""
    (tmp_path / "manifest.json").write_text("{}")
    os.truncate(tmp_path / "manifest.json", 1 << 40)
    with pytest.raises(PackError, match="has more than 16,777,216 bytes"):
        read_manifest(tmp_path / "manifest.json")


def test_a_file_is_compared_with_its_record(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_bytes(b"abc")
    record = describe_file(path)
    assert check_file(path, record) is None
    assert describe_files(tmp_path) == {"part": record}
    path.write_bytes(b"abd")
    assert check_file(path, record) == "has changed since it was built"
    path.write_bytes(b"abcd")
    assert check_file(path, record) == "has 4 bytes instead of 3"
    path.unlink()
    assert check_file(path, record) == "is missing"


def test_a_lower_version() -> None:
    assert is_lower_version("1.2.0", "1.10.0") and is_lower_version("1.0.0-rc.1", "1.0.0")
    assert not is_lower_version("1.10.0", "1.2.0") and not is_lower_version("1.0.0+a", "1.0.0+b")
    assert parse_version("1.2.3-rc.1+build.5") is not None
    assert parse_version(f"1.0.0-{'a' * 251}") is None


@pytest.mark.parametrize(
    "version",
    ["x", "", "0.1", "1.0/../../zz", "01.0.0", "v1.0.0", " 1.0.0", "1.0.0\n", "1.0.\u0663", "1.0.0-01", "1.0.0-",
     "1.0.0+", f"{'9' * 5000}.0.0"],
    ids=lambda version: repr(version[:10]),
)  # fmt: skip
def test_an_invalid_version_precedes_every_other_one(version: str) -> None:
    assert parse_version(version) is None
    assert is_lower_version(version, "1.0.0") and is_lower_version(version, "y")
    assert not is_lower_version("1.0.0", version)
