"""Staged parts: a damaged file is never read as other values."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from wikigr.errors import BuildError
from wikigr.ingest.engines.parts import DamagedPartError, PartStore
from wikigr.ingest.engines.ray_engine import _Parts
from wikigr.progress import Silent

TABLE = pa.table({"key": [b"a", b"b"], "vector": [[0.25, 0.5], [0.75, 1.0]]})


def test_every_changed_byte_of_a_staged_part_is_found(tmp_path: Path) -> None:
    store = PartStore(str(tmp_path))
    name = store.write("stage", "a", TABLE)
    assert store.is_intact(name)
    whole = (tmp_path / name).read_bytes()
    for place in range(len(whole)):
        (tmp_path / name).write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        assert not store.is_intact(name)
    with pytest.raises(DamagedPartError, match=name):
        store.read(name)


@pytest.mark.parametrize("kept", [0, 0.5, 0.99])
def test_a_truncated_part_is_damaged_and_a_missing_one_is_an_error(tmp_path: Path, kept: float) -> None:
    store = PartStore(str(tmp_path))
    name = store.write("stage", "a", TABLE)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(kept * len(whole))])
    assert not store.is_intact(name)
    store.remove_file(name)
    with pytest.raises(BuildError, match="Cannot read from the staging path"):
        store.is_intact(name)


def test_equal_tables_have_one_name(tmp_path: Path) -> None:
    store = PartStore(str(tmp_path))
    assert store.write("stage", "a", TABLE) == store.write("stage", "a", TABLE)
    assert list(store.names("stage")) == ["a"]


class Notes(Silent):
    """Keeps the notes of a build."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_a_resumed_stage_makes_damaged_outputs_again(tmp_path: Path) -> None:
    store, progress = PartStore(str(tmp_path)), Notes()
    names = [store.write("stage/output", key, TABLE) for key in ("aa", "bb")]
    (tmp_path / names[0]).write_bytes(b"")
    parts = _Parts(store, "stage", progress)
    for key in ("aa", "bb", "cc"):
        parts.add(key, f"Making {key}", {"key": pa.array([key])})
    assert parts.missing == [0, 2]
    assert parts.output(1).equals(TABLE)
    assert [store.read(parts.inputs[n]).to_pydict() for n in (0, 2)] == [{"key": ["aa"]}, {"key": ["cc"]}]
    assert progress.notes == [f"The file {names[0]} of the interrupted build is damaged, so it is made again."]
    assert list(store.names("stage/output")) == ["bb"]
