"""Staged parts: a damaged file is never read as other values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from wikigr.errors import BuildError
from wikigr.ingest.engines.parts import PartStore


def test_a_changed_byte_of_a_staged_part_is_found_or_changes_nothing(tmp_path: Path) -> None:
    store = PartStore(str(tmp_path))
    table = pa.table({"key": [b"a", b"b"], "vector": [[0.25, 0.5], [0.75, 1.0]]})
    store.write("part.parquet", table)
    path = tmp_path / "part.parquet"
    whole = path.read_bytes()
    refused = 0
    for place in np.random.default_rng(0).choice(len(whole), size=200, replace=False).tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            assert store.read("part.parquet").to_pydict() == table.to_pydict()
        except BuildError:
            refused += 1
    assert refused
