from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.errors import UsageError
from wikigr.settings import (
    PROJECT_FILE,
    SettingsFile,
    config_folder,
    is_first_time,
    overlay,
    settings_files,
    state_folder,
)


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = config_folder()
    folder.mkdir(parents=True)
    return folder / "config.yaml"


def test_the_nearest_project_file_comes_before_the_users(tmp_path: Path, user_file: Path) -> None:
    inner = tmp_path / "project" / "docs"
    inner.mkdir(parents=True)
    user_file.write_text("ask: {profile: fast, json: true}\n")
    (tmp_path / PROJECT_FILE).write_text("ask: {profile: outer}\n")
    (tmp_path / "project" / PROJECT_FILE).write_text("ask: {profile: precise}\n")
    files = list(settings_files(inner))
    assert [file.path for file in files] == [tmp_path / "project" / PROJECT_FILE, user_file]
    assert files[0].values == {"ask": {"profile": "precise"}}


def test_without_any_file_there_are_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert list(settings_files(tmp_path)) == []


def test_an_empty_file_has_no_values(tmp_path: Path, user_file: Path) -> None:
    user_file.write_text("# nothing yet\n")
    assert list(settings_files(tmp_path)) == [SettingsFile(user_file, {})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ask: {profile: fast\n", "line 2"),
        (
            b"a: [1\nb: 2\n",
            r": a list that is not closed with \] in line 2, column 2 \(it begins in line 1, column 4\)\.$",
        ),
        (
            b"a: 1\n  b: 2\n",
            r": a colon that is out of place in line 2, column 4\.$",
        ),
        (b"\na: \xff\n", r": invalid UTF-8 in line 2 \(0xff\)\.$"),
        (b"- ask\n", "must contain a mapping"),
        (b"ask: \xff\n", "Cannot read the settings file"),
    ],
)
def test_a_bad_file_is_a_usage_error_that_names_it(
    tmp_path: Path, user_file: Path, content: bytes, message: str
) -> None:
    user_file.write_bytes(content)
    with pytest.raises(UsageError, match=message) as caught:
        list(settings_files(tmp_path))
    assert str(user_file) in caught.value.message


def test_overlay_merges_nested_mappings_and_replaces_everything_else() -> None:
    below = {"pack": {"build": {"jobs": 1, "limit": 5}}, "ask": {"profile": "fast"}}
    above = {"pack": {"build": {"jobs": 4}}, "ask": "off", "search": {"limit": 3}}
    overlay(below, above)
    assert below == {"pack": {"build": {"jobs": 4, "limit": 5}}, "ask": "off", "search": {"limit": 3}}


def test_something_is_new_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert [is_first_time("note"), is_first_time("note"), is_first_time("other")] == [True, False, True]
    assert state_folder() == tmp_path / "state" / "wikigr"


def test_without_a_state_folder_everything_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file where the folder would be")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert [is_first_time("note"), is_first_time("note")] == [True, True]
