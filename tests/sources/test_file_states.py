from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from wikigr.sources.file_states import file_states


def test_a_folder_has_the_states_of_the_documents_of_its_format(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    for name in ("b.md", "guide/a.MD", "guide/style.css", ".hidden.md", "page.html"):
        (tmp_path / name).write_text(name)
    (tmp_path / "guide" / "again").symlink_to(tmp_path)
    states = file_states(tmp_path, "markdown")
    assert [os.path.relpath(name, tmp_path) for name in states] == ["b.md", "guide/a.MD"]
    assert [state.size for state in states.values()] == [4, 10]
    assert len(file_states(tmp_path, "a format of a library user")) == 4


def test_a_missing_file_has_no_state(tmp_path: Path) -> None:
    assert file_states(tmp_path / "gone.jsonl", "jsonl") == {}


def test_standard_input_has_a_state_if_it_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "letters.jsonl"
    path.write_text("{}\n")
    with path.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        before = file_states("-", "jsonl")
        assert [state.size for state in before.values()] == [3]
        os.truncate(path, 0)
        assert file_states("-", "jsonl") != before
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe, os.fdopen(writing, "w"):
        monkeypatch.setattr("sys.stdin", pipe)
        assert file_states("-", "jsonl") == {}
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert file_states("-", "jsonl") == {}
