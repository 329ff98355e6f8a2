from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wikigr.pack.open import Pack


@pytest.fixture(scope="module")
def pack(physics_pack: Path) -> Iterator[Pack]:
    with Pack(physics_pack) as opened:
        yield opened
