"""The prepared default encoder with its tokenizer and its reader."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Protocol

import pytest
from tokenizers import Tokenizer

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.models import prepare
from wikigr.embeddings.prepared import PreparedModel
from wikigr.reader.adapter import ADAPTER
from wikigr.reader.prepared import find_reader, prepare_reader
from wikigr.reader.reader import Reader


@pytest.fixture(scope="module", autouse=True)
def shared_inference() -> None:
    """Run the graphs in every test, because they are what is tested here."""


@pytest.fixture(scope="session")
def encoder() -> PreparedModel:
    prepared = prepare(DEFAULT_MODEL)
    prepare_reader(prepared)
    return prepared


@pytest.fixture
def copy(encoder: PreparedModel, tmp_path: Path) -> PreparedModel:
    """A copy of the prepared encoder with its reader."""
    shutil.copytree(encoder.folder, tmp_path / "encoder")
    return PreparedModel.from_folder(tmp_path / "encoder")


@pytest.fixture(scope="session")
def tokenizer(encoder: PreparedModel) -> Tokenizer:
    return Tokenizer.from_file(str(encoder.tokenizer))


@pytest.fixture(scope="session")
def reader(encoder: PreparedModel) -> Reader:
    return Reader(find_reader(encoder))


class MakeReader(Protocol):
    """Prepares and opens the reader with other ranges than those that ship; without any, in single precision."""

    def __call__(self, ranges: dict[str, Any] | None) -> Reader: ...


@pytest.fixture
def make_reader(copy: PreparedModel, tmp_path: Path) -> MakeReader:
    def make(ranges: dict[str, Any] | None) -> Reader:
        adapter = tmp_path / ADAPTER.name
        shutil.copy(ADAPTER, adapter)
        described = json.loads(ADAPTER.with_suffix(".json").read_text(encoding="utf-8"))
        del described["ranges"]
        described |= {"ranges": ranges} if ranges is not None else {}
        adapter.with_suffix(".json").write_text(json.dumps(described), encoding="utf-8")
        prepared = prepare_reader(copy, adapter=adapter, force=True)
        assert prepared is not None
        return Reader(prepared)

    return make
