"""What a cluster needs before there is one; `tests/ray` has the rest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wikigr.errors import UsageError
from wikigr.ingest.engines.cluster import connect
from wikigr.ingest.engines.parts import PartStore, staging_location


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="Cannot import Ray") as caught, connect():
        pass
    assert caught.value.hint == "pip install 'wikigr[ray]'"


@pytest.mark.parametrize("address", ["here", "here:", ":6379", "ray://head:10001", "head:port"])
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    from types import ModuleType

    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    monkeypatch.setitem(sys.modules, "ray.data", ModuleType("ray.data"))
    with pytest.raises(UsageError, match="is not HOST:PORT"), connect(address):
        pass


def test_packs_do_not_share_their_staged_parts(tmp_path: Path) -> None:
    assert staging_location(None, tmp_path / "pack") == str(tmp_path / "pack" / ".wikigr" / "parts")
    first, second = (staging_location("s3://bucket/work/?region=eu", tmp_path / name) for name in ("a", "b"))
    assert first != second
    assert first.startswith("s3://bucket/work/wikigr-a-")
    assert first.endswith("?region=eu")
    assert Path(staging_location(str(tmp_path), tmp_path / "a")).parent == tmp_path


def test_parts_are_complete_or_missing(tmp_path: Path) -> None:
    import pyarrow as pa

    store = PartStore(str(tmp_path / "parts"))
    assert store.names("stage") == {}
    store.remove()
    table = pa.table({"key": [b"a"], "value": [[1, 2]]})
    name = store.write("stage", "a", table)
    (tmp_path / "parts" / "stage" / ".b-00000000.parquet.1234").write_bytes(b"partial")
    assert store.names("stage") == {"a": name}
    assert store.read(name).equals(table)
    store.remove()
    assert not (tmp_path / "parts").exists()
