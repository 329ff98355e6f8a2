from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.settings import is_first_time, state_folder


def test_something_is_new_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert [is_first_time("note"), is_first_time("note"), is_first_time("other")] == [True, False, True]
    assert state_folder() == tmp_path / "state" / "wikigr"


def test_without_a_state_folder_everything_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file where the folder would be")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert [is_first_time("note"), is_first_time("note")] == [True, True]
