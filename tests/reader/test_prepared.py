"""A missing, damaged or foreign adapter or reader is a clear error that says what to do."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from wikigr.embeddings import prepared as encoders
from wikigr.embeddings.prepared import PreparedModel
from wikigr.errors import ModelError
from wikigr.reader import prepared
from wikigr.reader.adapter import ADAPTER, Adapter, AdapterDescription
from wikigr.reader.prepared import (
    NoReaderError,
    PreparedReader,
    copy_prepared,
    find_reader,
    prepare_reader,
)

MEGABYTE = 1_000_000


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """A copy of the adapter that ships."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    for path in (ADAPTER, ADAPTER.with_suffix(".json")):
        shutil.copy(path, folder)
    return folder / ADAPTER.name


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


def test_the_adapter_that_ships_is_small_and_described() -> None:
    assert ADAPTER.stat().st_size <= 8 * MEGABYTE
    assert Adapter().description.ranges is not None
    described = json.loads(ADAPTER.with_suffix(".json").read_text(encoding="utf-8"))
    assert "training" in described["command"]
    licenses = {name for value in described["data"].values() for name in value.split("; ")}
    assert licenses <= {
        "CC BY-SA 3.0", "CC BY-SA 4.0", "CC BY 4.0", "MIT", "Apache-2.0", "the passages: GFDL or CC BY-SA",
        "written for this project", "the pages: as the packages of training/asked/sources.json",
    }  # fmt: skip


def test_preparing_again_gives_the_same_bytes_and_shares_the_embeddings(copy: PreparedModel) -> None:
    # What was prepared earlier may have other last digits: another version of wikigr wrote it.
    prepare_reader(copy, force=True)
    before = PreparedReader.beside(copy)
    prepare_reader(copy, force=True)
    assert PreparedReader.beside(copy) == before
    size = sum(file.size for file in before.files)
    assert size < 13 * MEGABYTE < (copy.folder / "model.onnx.data").stat().st_size
    before.verify()


def test_preparing_writes_a_missing_and_replaces_a_damaged_reader(copy: PreparedModel) -> None:
    (copy.folder / prepared.DESCRIPTION).unlink()
    with pytest.raises(ModelError, match="has not been prepared") as caught:
        find_reader(copy)
    assert caught.value.hint == "wikigr model prepare"
    prepare_reader(copy)
    found = find_reader(copy)
    (copy.folder / prepared.GRAPH_DATA).write_bytes(b"")
    with pytest.raises(ModelError, match=r"reader\.onnx\.data has 0 bytes") as caught:
        find_reader(copy)
    assert caught.value.hint == "wikigr model prepare --force"
    prepare_reader(copy)
    assert find_reader(copy) == found


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"format_version": 1}', '{"format_version": 2}', "[" * 9999]
)
def test_a_damaged_description_is_named(copy: PreparedModel, content: str) -> None:
    (copy.folder / prepared.DESCRIPTION).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"damaged: cannot read reader\.json"):
        PreparedReader.beside(copy)


def test_a_flipped_byte_is_found_by_its_digest(copy: PreparedModel) -> None:
    path = copy.folder / prepared.GRAPH_DATA
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"reader\.onnx\.data does not have its recorded sha256"):
        PreparedReader.beside(copy).verify()


@pytest.mark.parametrize("changed", [{"adapter_sha256": "0" * 64}, {"ranges": {"embedded": [-2.5, 6.3]}}])
def test_another_version_must_be_prepared_again(copy: PreparedModel, changed: dict[str, object]) -> None:
    change(copy.folder / prepared.DESCRIPTION, **changed)
    with pytest.raises(ModelError, match="of another version") as caught:
        find_reader(copy)
    assert caught.value.hint == "wikigr model prepare"


def test_a_reader_for_another_graph_of_the_encoder_is_prepared_again(copy: PreparedModel) -> None:
    """Its graph holds offsets into the weights of the encoder's graph."""
    described = json.loads((copy.folder / encoders.DESCRIPTION).read_text(encoding="utf-8"))
    described["files"][encoders.GRAPH]["sha256"] = "0" * 64
    change(copy.folder / encoders.DESCRIPTION, files=described["files"])
    other = PreparedModel.from_folder(copy.folder)
    with pytest.raises(ModelError, match="another graph of the encoder"):
        find_reader(other)
    prepare_reader(other)
    find_reader(other)
    with pytest.raises(ModelError, match="another graph of the encoder"):
        find_reader(copy)


def test_a_folder_that_cannot_be_written_is_a_clear_error(copy: PreparedModel) -> None:
    (copy.folder / prepared.DESCRIPTION).unlink()
    (copy.folder / prepared.DESCRIPTION).mkdir()
    with pytest.raises(ModelError, match=r"Cannot write the reader to .*: Is a directory"):
        prepare_reader(copy)
    assert not list(copy.folder.glob(".unfinished-*"))


def test_abandoned_folders_are_removed(copy: PreparedModel) -> None:
    old, recent = copy.folder / ".unfinished-old", copy.folder / ".unfinished-recent"
    old.mkdir()
    recent.mkdir()
    os.utime(old, (0, 0))
    prepare_reader(copy, force=True)
    assert not old.exists()
    assert recent.exists()


def test_the_description_becomes_visible_after_the_files_are_on_disk(
    copy: PreparedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, bool]] = []

    def record(path: Path) -> None:
        written.append((path.name, (copy.folder / prepared.DESCRIPTION).exists()))

    monkeypatch.setattr(prepared, "sync_tree", record)
    monkeypatch.setattr(prepared, "sync", record)
    (copy.folder / prepared.DESCRIPTION).unlink()
    prepare_reader(copy)
    (unfinished, _), *published = written
    assert unfinished.startswith(".unfinished-")
    assert published == [("encoder", False), ("encoder", True)]


def test_a_copy_has_the_files_of_encoder_and_reader_only(copy: PreparedModel, tmp_path: Path) -> None:
    (copy.folder / ".unfinished-1").mkdir()
    (copy.folder / "notes.txt").write_text("")
    copy_prepared(copy.folder, tmp_path / "second")
    second = PreparedModel.from_folder(tmp_path / "second")
    second.verify()
    PreparedReader.beside(second).verify()
    names = {file.name for file in (*second.files, *PreparedReader.beside(second).files)}
    assert {path.name for path in second.folder.iterdir()} == names | {encoders.DESCRIPTION, prepared.DESCRIPTION}
    (second.folder / prepared.DESCRIPTION).unlink()
    copy_prepared(second.folder, tmp_path / "third")
    assert not list((tmp_path / "third").glob("reader.*"))
    (copy.folder / prepared.GRAPH).unlink()
    with pytest.raises(ModelError, match=r"reader\.onnx is missing"):
        copy_prepared(copy.folder, tmp_path / "fourth")


def test_an_encoder_with_other_weights_has_no_reader(copy: PreparedModel) -> None:
    other = replace(copy, identity=replace(copy.identity, model_id="other", weights_sha256="0" * 64))
    with pytest.raises(NoReaderError, match="no reader for the encoder other"):
        find_reader(other)
    assert prepare_reader(other) is None
    with pytest.raises(ModelError, match="an encoder with other weights"):
        PreparedReader.beside(other)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"), [(Path.unlink, "missing"), (truncate, "its sha256 is"), (flip, "its sha256 is")]
)
def test_a_damaged_adapter_is_named(adapter: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(adapter)
    with pytest.raises(ModelError, match=message) as caught:
        Adapter(adapter)
    assert caught.value.hint is not None
    assert "pip install" in caught.value.hint


def test_a_missing_description_is_named(adapter: Path) -> None:
    adapter.with_suffix(".json").unlink()
    with pytest.raises(ModelError, match=r"small\.json"):
        AdapterDescription.read(adapter)


def test_an_adapter_for_other_weights_prepares_nothing(adapter: Path, copy: PreparedModel) -> None:
    change(adapter.with_suffix(".json"), base_sha256="0" * 64)
    assert prepare_reader(copy, adapter=adapter, force=True) is None


def test_an_update_does_not_depend_on_the_order_of_its_sums() -> None:
    adapter = Adapter()
    layer = "encoder.layer.0.attention.self.query"
    update = adapter.update(f"{layer}.weight")
    assert update is not None
    tensors = load_file(ADAPTER)
    up, down = (tensors[f"{layer}.{part}"].astype(np.float64) for part in ("up", "down"))
    reverse = sum(np.outer(up[:, rank], down[rank]) for rank in reversed(range(len(down))))
    assert np.array_equal(update, np.asarray(reverse, dtype=np.float32))
