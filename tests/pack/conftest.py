"""A small pack that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.distribution.letters import build_letters, bundle_encoder

from wikigr.embeddings.embedder import Embedder
from wikigr.index import dense, quantized
from wikigr.ingest import build, loading
from wikigr.progress import Progress


@pytest.fixture
def quantized_letters(tmp_path: Path, encoder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pack with quantized vectors, as if it were large."""

    def run_here(function: Callable[..., Any], arguments: tuple[Any, ...], progress: Progress, log: Path) -> Any:
        return function(*arguments, progress)

    # In this process, where the limits below hold.
    monkeypatch.setattr(build, "run_isolated", run_here)
    monkeypatch.setattr(loading, "MIN_QUANTIZED_SECTIONS", 2)
    monkeypatch.setattr(dense, "MIN_QUANTIZED_SECTIONS", 2)
    monkeypatch.setattr(quantized, "_RESCORED", 0.05)
    return build_letters(tmp_path / "letters", encoder)


@pytest.fixture
def bundled_letters(letters_copy: Path) -> Path:
    """A copy of the pack that bundles the encoder and its reader."""
    bundle_encoder(letters_copy)
    return letters_copy
