"""A copy of the demo pack to write PageRank caches into."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def pack(physics_pack: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(physics_pack, tmp_path / "physics"))
