from __future__ import annotations

import itertools
import time
from pathlib import Path

import numpy as np
import pytest

from wikigr.evaluation import cached_pack
from wikigr.evaluation.cached_pack import CachedPack


def test_by_its_clock_what_it_remembers_takes_as_long_as_the_first_time(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(pack: CachedPack) -> float:
        begun = pack.clock()
        (vector,) = pack.encoder.encode(["What is the spin of an electron?"])
        assert pack.nearest(vector, 10)
        return pack.clock() - begun

    with CachedPack(physics_pack) as pack:
        assert pack.encoder.identity == pack.manifest.encoder
        # Whoever looks at the clock finds it a second later.
        seconds = itertools.count(1.0)
        monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))
        # Encoding and searching look at it twice each; then they are remembered as of one second each.
        assert [asked(pack) for _ in range(3)] == [5.0, 3.0, 3.0]


def test_what_is_forgotten_in_the_middle_of_a_list_is_not_missed(
    physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_pack, "_MAX_ENTRIES", 3)
    with CachedPack(physics_pack) as pack:
        pack.encoder.encode(["one", "two"])
        found = pack.encoder.encode(["two", "three", "four", "two"])
    assert found.shape[0] == 4
    assert np.array_equal(found[0], found[3])
    assert not np.array_equal(found[0], found[1])
