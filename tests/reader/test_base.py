"""The reader `base` is prepared from a folder or from wheels, found again, and reads the best passages again."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from tests.reader.mpnet import MODEL_ID, adapter_tensors, write_adapter, write_mpnet

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.prepared import PreparedModel
from wikigr.errors import ModelError
from wikigr.reader import base as bases
from wikigr.reader.adapter import BASE_ADAPTER, AdapterDescription
from wikigr.reader.base import find_base, prepare_base, ready_readers
from wikigr.reader.passage import BASE, Passage
from wikigr.reader.prepared import DESCRIPTION, GRAPH, GRAPH_DATA
from wikigr.reader.reader import Reader

TEXT = "the valve leaks. turn it off first. then call the plumber. he knows the pump."
PREPARE = "wikigr model prepare --reader base"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bases, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_mpnet(tmp_path / "base")


@pytest.fixture
def adapter(tmp_path: Path, base: Path) -> Path:
    return write_adapter(tmp_path / "adapter" / "base.safetensors", base)


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_preparing_again_gives_the_same_bytes(base: Path, adapter: Path) -> None:
    first = prepare_base(str(base), adapter=adapter)
    before = content_of(first.folder)
    assert first.name == BASE
    assert set(before) == {DESCRIPTION, GRAPH, GRAPH_DATA, "tokenizer.json"}
    assert prepare_base(str(base), adapter=adapter, force=True) == first
    assert content_of(first.folder) == before
    find_base(adapter=adapter).verify()


def test_it_is_not_prepared_twice(base: Path, adapter: Path) -> None:
    prepare_base(str(base), adapter=adapter)
    (base / "model.safetensors").unlink()
    prepare_base(str(base), adapter=adapter)


def test_a_missing_one_names_the_command(adapter: Path) -> None:
    with pytest.raises(ModelError, match="has not been prepared") as caught:
        find_base(adapter=adapter)
    assert caught.value.hint == PREPARE


@pytest.mark.parametrize("name", [GRAPH, GRAPH_DATA, "tokenizer.json"])
def test_a_damaged_one_names_the_command(base: Path, adapter: Path, name: str) -> None:
    folder = prepare_base(str(base), adapter=adapter).folder
    (folder / name).write_bytes(b"")
    with pytest.raises(ModelError, match=f"{name} has 0 bytes") as caught:
        find_base(adapter=adapter)
    assert caught.value.hint == f"{PREPARE} --force"
    prepare_base(str(base), adapter=adapter)
    find_base(adapter=adapter).verify()


def test_one_of_another_version_names_the_command(tmp_path: Path, base: Path, adapter: Path) -> None:
    prepare_base(str(base), adapter=adapter)
    other = write_adapter(tmp_path / "other" / "base.safetensors", base, adapter_tensors(seed=2))
    with pytest.raises(ModelError, match="of another version") as caught:
        find_base(adapter=other)
    assert caught.value.hint == PREPARE


def test_other_weights_are_refused(tmp_path: Path, adapter: Path) -> None:
    other = write_mpnet(tmp_path / "other", seed=5)
    with pytest.raises(ModelError, match="was not trained on the weights") as caught:
        prepare_base(str(other), adapter=adapter)
    assert MODEL_ID in (caught.value.hint or "")
    assert not bases.base_folder().exists()


def test_a_damaged_adapter_is_refused(base: Path, adapter: Path) -> None:
    adapter.write_bytes(adapter.read_bytes()[:-1])
    with pytest.raises(ModelError, match="is damaged: its sha256"):
        prepare_base(str(base), adapter=adapter)


def test_it_reads_the_windows_in_focus_only(base: Path, adapter: Path) -> None:
    reader = Reader(prepare_base(str(base), adapter=adapter))
    text = " ".join([TEXT] * 40)
    sentences = tuple((start, start + 16) for start in range(0, len(text) - 16, 500))
    last = sentences[-1]
    (everything,) = reader.read("who knows?", [Passage("", "", text, sentences)])
    (found,) = reader.read("who knows?", [Passage("", "", text, sentences, focus=(last,))])
    assert found[-1] == everything[-1] is not None
    assert found[0] is None is not everything[0]


def test_the_readers_that_are_ready(
    base: Path, adapter: Path, copy: PreparedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bases, "find_base", partial(find_base, adapter=adapter))
    assert ready_readers(DEFAULT_MODEL, is_bundled=False) == ["small"]
    assert ready_readers(str(copy.folder), is_bundled=True) == ["small"]
    assert ready_readers(str(tmp_path / "none"), is_bundled=False) == []
    prepare_base(str(base), adapter=adapter)
    assert ready_readers(DEFAULT_MODEL, is_bundled=False) == ["small", "base"]
    (copy.folder / DESCRIPTION).unlink()
    assert ready_readers(str(copy.folder), is_bundled=True) == []


def test_the_adapter_that_ships_is_small_and_described() -> None:
    path = BASE_ADAPTER
    assert path.stat().st_size <= 8_000_000
    description = AdapterDescription.read(path)
    assert description.base_model == MODEL_ID
    assert description.ranges is not None
    described = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert "training" in described["command"]
