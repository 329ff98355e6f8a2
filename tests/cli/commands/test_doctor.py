"""``wikigr doctor``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import Wikigr


def test_doctor_passes_here_and_prints_every_check(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("doctor")
    assert result.code == 0
    for name in ("Python", "LadybugDB", "tantivy", "encoder", "cache folder", "API key"):
        assert name in result.out


def test_doctor_prints_the_fix(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = wikigr("doctor")
    assert result.code == 3
    assert "wikigr model prepare" in result.out
