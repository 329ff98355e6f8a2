"""The prepared default encoder with its tokenizer and its reader."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.models import prepare
from wikigr.embeddings.prepared import PreparedModel
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
