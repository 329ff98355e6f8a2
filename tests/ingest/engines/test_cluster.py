"""What a cluster needs before there is one; `tests/ray` has the rest."""

from __future__ import annotations

import sys

import pytest

from wikigr.errors import UsageError
from wikigr.ingest.engines.cluster import connect


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="Cannot import Ray") as caught, connect():
        pass
    assert caught.value.hint == "pip install 'wikigr[ray]'"


@pytest.mark.parametrize("address", ["here", "here:", ":6379", "ray://head:10001", "head:port"])
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    from types import ModuleType

    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    with pytest.raises(UsageError, match="is not HOST:PORT"), connect(address):
        pass
