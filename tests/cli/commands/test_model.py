"""``wikigr model prepare`` prepares either reader, and tells what it did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Wikigr
from tests.reader.mpnet import write_adapter, write_mpnet

from wikigr.embeddings.embedder import Embedder
from wikigr.reader.adapter import AdapterDescription


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = write_mpnet(tmp_path / "base")
    monkeypatch.setattr("wikigr.reader.adapter.LARGE_ADAPTER", write_adapter(tmp_path / "large.safetensors", base))
    monkeypatch.setattr("wikigr.reader.large.large_folder", lambda: tmp_path / "prepared")
    return base


def test_the_small_reader_is_the_default(wikigr: Wikigr, encoder: Embedder) -> None:
    for arguments in ((), ("--reader", "small")):
        result = wikigr("model", "prepare", *arguments, "--json")
        document = json.loads(result.out)
        assert (result.code, document["model_id"]) == (0, encoder.identity.model_id)
        assert document["reader"] == AdapterDescription.read().sha256
        assert document["large_reader"] is None


def test_the_large_reader(wikigr: Wikigr, encoder: Embedder, base: Path, physics_pack: Path, tmp_path: Path) -> None:
    assert json.loads(wikigr("pack", "info", str(physics_pack), "--json").out)["readers"] == ["small"]
    result = wikigr("model", "prepare", "--reader", "large", str(base))
    assert result.code == 0, result.err
    assert f"Large reader, in {tmp_path / 'prepared'}" in result.out
    assert "The large reader takes" in result.err
    document = json.loads(wikigr("model", "prepare", "--reader", "large", "--json").out)
    assert document["model_id"] == encoder.identity.model_id
    assert document["large_reader"] == {
        "folder": str(tmp_path / "prepared"),
        "adapter": AdapterDescription.read(tmp_path / "large.safetensors").sha256,
    }
    assert "readers      small, large" in wikigr("pack", "info", str(physics_pack)).out
    Path("large.yaml").write_text("reader: large\n", encoding="utf-8")
    chosen = ("--pack", str(physics_pack), "--profile", "large.yaml", "--json")
    answer = json.loads(wikigr("ask", "Who discovered the electron?", *chosen).out)
    assert answer["reader"] == "large"
    assert answer["timings"]["large_reader_ms"] > 0


def test_a_version_without_a_large_reader(wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.reader.adapter.LARGE_ADAPTER", tmp_path / "none.safetensors")
    result = wikigr("model", "prepare", "--reader", "large")
    assert result.code == 3
    assert "This version of wikigr ships no large reader." in result.err
    assert not result.out


def test_a_profile_that_wants_a_missing_reader(
    wikigr: Wikigr, encoder: Embedder, base: Path, physics_pack: Path
) -> None:
    Path("large.yaml").write_text("reader: large\n", encoding="utf-8")
    asked = wikigr("ask", "Who discovered the electron?", "--pack", str(physics_pack), "--profile", "large.yaml")
    assert asked.code == 3
    assert "wikigr model prepare --reader large" in asked.err
    precise = wikigr("ask", "Who discovered the electron?", "--pack", str(physics_pack), "--profile", "precise")
    assert precise.code == 0
    assert precise.err.count("The large reader has not been prepared on this machine.") == 1


def test_an_unknown_reader_is_a_usage_error(wikigr: Wikigr) -> None:
    result = wikigr("model", "prepare", "--reader", "larg")
    assert result.code == 2
    assert "large" in result.err
