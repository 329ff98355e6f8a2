from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wikigr.evaluation import cached_pack
from wikigr.evaluation.cached_pack import CachedPack


def test_what_is_forgotten_in_the_middle_of_a_list_is_not_missed(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_pack, "_MOST_TEXTS", 3)
    with CachedPack(physics_pack) as pack:
        pack.encoder.encode(["one", "two"])
        found = pack.encoder.encode(["two", "three", "four", "two"])
    assert found.shape[0] == 4
    assert np.array_equal(found[0], found[3])
    assert not np.array_equal(found[0], found[1])
