"""Settings files: which values apply, and how mistakes in them are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Wikigr


def test_a_broken_settings_file_is_wrong_configuration(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "wikigr.yaml").write_text("ask: [")
    result = wikigr("ask", "x")
    assert result.code == 2
    assert "wikigr.yaml" in result.err and "line 1" in result.err
    (tmp_path / "wikigr.yaml").write_text("- ask")
    assert "mapping" in wikigr("ask", "x").err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ask: 3", "mapping"),
        ("ask: {pakc: x}", "Did you mean 'pack'?"),
        ("aks: {pack: x}", "Did you mean 'ask'?"),
        ("pack: {build: 5}", "mapping"),
        ("1: x", "no command or option 1"),
        ("ask: {profile: [a]}", "single value"),
    ],
)
def test_mistakes_in_a_settings_file_are_named(wikigr: Wikigr, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "wikigr.yaml").write_text(text)
    result = wikigr("ask", "x")
    assert result.code == 2
    assert message in result.err


def test_config_show_says_where_each_value_comes_from(
    wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wikigr.yaml").write_text("search:\n  top-k: 7\n")
    (tmp_path / "config" / "wikigr").mkdir(parents=True)
    (tmp_path / "config" / "wikigr" / "config.yaml").write_text("search:\n  top-k: 9\n  mode: dense\n")
    monkeypatch.setenv("WIKIGR_PACK", "here")
    lines = wikigr("config", "show", "--origin").out.splitlines()
    found = {line.split(" = ")[0]: line for line in lines}
    assert "7" in found["search --top-k"] and "wikigr.yaml" in found["search --top-k"]
    assert "dense" in found["search --mode"] and "config.yaml" in found["search --mode"]
    assert "here" in found["search --pack"] and "WIKIGR_PACK" in found["search --pack"]
    assert "enhanced" in found["search --profile"] and "default" in found["search --profile"]
