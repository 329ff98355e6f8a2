"""A small pack that the tests of this folder share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.distribution.letters import build_letters, bundle_encoder

from wikigr.embeddings.embedder import Embedder


@pytest.fixture(scope="session")
def letters_pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """A pack of three articles. Tests only read it."""
    return build_letters(tmp_path_factory.mktemp("letters") / "letters", encoder)


@pytest.fixture
def letters_copy(letters_pack: Path, tmp_path: Path) -> Path:
    """A copy of the pack that a test may change."""
    return shutil.copytree(letters_pack, tmp_path / "letters")


@pytest.fixture
def bundled_letters(letters_copy: Path) -> Path:
    """A copy of the pack that bundles the encoder and its reader."""
    bundle_encoder(letters_copy)
    return letters_copy
