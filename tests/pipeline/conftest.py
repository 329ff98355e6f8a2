from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.open import Pack
from wikigr.sources.detect import open_source


@pytest.fixture(scope="module")
def pack(physics_pack: Path) -> Iterator[Pack]:
    with Pack(physics_pack) as opened:
        yield opened


@pytest.fixture(scope="module")
def build(encoder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that builds a pack of files, given by name and text."""

    def make(name: str, texts: dict[str, str], **options: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        source = folder / f"{name}-source"
        source.mkdir()
        for file, text in texts.items():
            (source / file).write_text(text)
        pack = folder / name
        build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name=name, **options))  # type: ignore[arg-type]
        return pack

    return make
