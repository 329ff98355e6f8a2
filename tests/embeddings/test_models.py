"""Preparing an encoder: once, atomically, and only from the expected weights."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.embeddings.conftest import MakeBert

from wikigr.embeddings import weights
from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
from wikigr.embeddings.model_id import MINILM
from wikigr.embeddings.models import find_prepared, prepare
from wikigr.embeddings.prepared import PreparedModel
from wikigr.embeddings.weights import check_weights
from wikigr.errors import ModelError


def test_a_prepared_encoder_is_found_by_folder_and_by_id(make_bert: MakeBert, tmp_path: Path) -> None:
    cache, folder = tmp_path / "cache", make_bert()
    with pytest.raises(ModelError, match="has not been prepared") as caught:
        find_prepared(str(folder), cache_dir=cache)
    assert caught.value.hint == f"wikigr model prepare {folder}"
    prepared = prepare(str(folder), cache_dir=cache)
    assert find_prepared(str(folder), cache_dir=cache) == prepared
    assert find_prepared(prepared.identity.model_id, cache_dir=cache) == prepared
    prepared.verify()


def test_other_weights_under_the_same_name_are_another_model(make_bert: MakeBert, tmp_path: Path) -> None:
    cache, folder = tmp_path / "cache", make_bert()
    first = prepare(str(folder), cache_dir=cache)
    shutil.copy(make_bert("other", seed=1) / "model.safetensors", folder)
    with pytest.raises(ModelError, match="has not been prepared"):
        find_prepared(str(folder), cache_dir=cache)
    second = prepare(str(folder), cache_dir=cache)
    assert second.identity != first.identity
    assert first.folder.is_dir() and second.folder.is_dir()


def test_a_copied_folder_opens_on_its_own(make_bert: MakeBert, tmp_path: Path) -> None:
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    copy = shutil.copytree(prepared.folder, tmp_path / "pack" / "encoder")
    shutil.rmtree(tmp_path / "cache")
    encoder = open_encoder(copy)
    assert encoder.identity == prepared.identity
    assert encoder.encode(["light"]).shape == (1, 24)


def test_an_existing_encoder_is_kept_unless_forced(make_bert: MakeBert, tmp_path: Path) -> None:
    cache, folder = tmp_path / "cache", make_bert()
    graph = prepare(str(folder), cache_dir=cache).graph
    written = graph.stat().st_ino
    assert prepare(str(folder), cache_dir=cache).graph.stat().st_ino == written
    assert prepare(str(folder), cache_dir=cache, force=True).graph.stat().st_ino != written
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("damage", ["description", "graph", "missing", "file"])
def test_a_damaged_cache_is_reported_and_repaired(make_bert: MakeBert, tmp_path: Path, damage: str) -> None:
    cache, folder = tmp_path / "cache", make_bert()
    prepared = prepare(str(folder), cache_dir=cache)
    if damage == "description":
        (prepared.folder / "encoder.json").write_text("{")
    elif damage == "graph":
        os.truncate(prepared.graph, 100)
    elif damage == "missing":
        prepared.tokenizer.unlink()
    else:
        shutil.rmtree(prepared.folder)
        prepared.folder.write_text("in the way")
    with pytest.raises(ModelError, match=r"damaged|not been prepared") as caught:
        find_prepared(str(folder), cache_dir=cache)
    assert (caught.value.hint or "").startswith(f"wikigr model prepare {folder}")
    mended = prepare(str(folder), cache_dir=cache)
    assert mended == prepared
    mended.verify()
    assert [path.name for path in cache.iterdir()] == [prepared.folder.name]


def test_verify_finds_damage_that_keeps_the_size(make_bert: MakeBert, tmp_path: Path) -> None:
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    data = prepared.folder / "model.onnx.data"
    content = bytearray(data.read_bytes())
    content[100] ^= 1
    data.write_bytes(content)
    reopened = PreparedModel.from_folder(prepared.folder)
    with pytest.raises(ModelError, match=r"model\.onnx\.data does not have its recorded sha256"):
        reopened.verify()


@pytest.mark.parametrize(
    "change",
    [
        {"format_version": 99},
        {"dimension": 0},
        {"dimension": "24"},
        {"max_tokens": True},
        {"weights_sha256": "short"},
        {"files": []},
        {"files": {}},
        {"files": {name: {"size": 1, "sha256": "0" * 64} for name in ("model.onnx", "tokenizer.json", "../outside")}},
        {"model_id": None},
    ],
)
def test_a_description_is_not_trusted(make_bert: MakeBert, tmp_path: Path, change: dict[str, object]) -> None:
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    path = prepared.folder / "encoder.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelError, match=r"format version 99|is damaged"):
        PreparedModel.from_folder(prepared.folder)


def test_a_symbolic_link_is_not_part_of_an_encoder(make_bert: MakeBert, tmp_path: Path) -> None:
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    elsewhere = prepared.tokenizer.rename(tmp_path / "elsewhere.json")
    prepared.tokenizer.symlink_to(elsewhere)
    with pytest.raises(ModelError, match="not a regular file"):
        PreparedModel.from_folder(prepared.folder)


def test_a_graph_that_is_none_is_a_clear_error(make_bert: MakeBert, tmp_path: Path) -> None:
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    prepared.graph.write_bytes(os.urandom(prepared.graph.stat().st_size))
    with pytest.raises(ModelError, match=r"ONNX Runtime cannot load .*model\.onnx"):
        open_encoder(prepared.folder)


@pytest.mark.trust
def test_several_processes_prepare_at_once(make_bert: MakeBert, tmp_path: Path) -> None:
    cache, folder = tmp_path / "cache", make_bert()
    program = (
        "import sys; from pathlib import Path; from wikigr.embeddings.models import prepare;"
        "prepare(sys.argv[1], cache_dir=Path(sys.argv[2]), force=True)"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(folder), str(cache)]) for _ in range(2)]
    assert [process.wait() for process in running] == [0] * 2
    find_prepared(str(folder), cache_dir=cache).verify()
    assert len(list(cache.iterdir())) == 1


def test_a_file_where_the_cache_should_be_is_named(make_bert: MakeBert, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(ModelError, match="Cannot write the encoder"):
        prepare(str(make_bert()), cache_dir=tmp_path / "cache")


@pytest.mark.parametrize("name", ["", "a//b", "a/../b", "nul\0", "x" * 400, "~nobody-of-this-name/model"])
def test_a_name_that_is_none(name: str) -> None:
    for function in (prepare, find_prepared):
        with pytest.raises(ModelError, match=r"not a valid model|has not been prepared"):
            function(name)


def test_the_default_weights_are_checked(encoder: Embedder, make_bert: MakeBert) -> None:
    assert encoder.identity.model_id == DEFAULT_MODEL
    assert encoder.identity.weights_sha256 == MINILM.weights_sha256
    with pytest.raises(ModelError, match="not the published ones") as caught:
        check_weights(make_bert(), MINILM, "pip install --force-reinstall")
    assert "--force-reinstall" in (caught.value.hint or "")


def test_ids_that_share_a_folder_are_distinguished(
    make_bert: MakeBert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, folder = tmp_path / "cache", make_bert()
    monkeypatch.setattr(weights, "hub_folder", lambda model_id: folder)
    prepare("a--b/c", cache_dir=cache)
    for function in (find_prepared, prepare):
        with pytest.raises(ModelError, match=r"contains the encoder a--b/c, not a/b--c"):
            function("a/b--c", cache_dir=cache)
    assert prepare("a/b--c", cache_dir=cache, force=True).identity.model_id == "a/b--c"
