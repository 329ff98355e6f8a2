"""The states of a source's files, and the files of a folder that a build leaves out."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from tests.sources.markdown.notes import write

from wikigr.sources import formats
from wikigr.sources.source_files import UnreadFiles, file_states, unread_files


def test_a_folder_has_the_states_of_the_documents_of_its_format(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    for name in ("b.md", "guide/a.MD", "guide/style.css", ".hidden.md", "page.html"):
        (tmp_path / name).write_text(name)
    (tmp_path / "guide" / "again").symlink_to(tmp_path)
    states = file_states(tmp_path, "markdown")
    assert [os.path.relpath(name, tmp_path) for name in states] == ["b.md", "guide/a.MD"]
    assert [state[0] for state in states.values()] == [4, 10]
    assert len(file_states(tmp_path, "a format of a library user")) == 4


def test_a_missing_file_has_no_state(tmp_path: Path) -> None:
    assert file_states(tmp_path / "gone.jsonl", "jsonl") == {}


def test_standard_input_has_a_state_if_it_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "letters.jsonl"
    path.write_text("{}\n")
    with path.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        before = file_states("-", "jsonl")
        assert [state[0] for state in before.values()] == [3]
        os.truncate(path, 0)
        assert file_states("-", "jsonl") != before
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe, os.fdopen(writing, "w"):
        monkeypatch.setattr("sys.stdin", pipe)
        assert file_states("-", "jsonl") == {}
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert file_states("-", "jsonl") == {}


def test_files_of_other_formats_are_counted_by_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        "a.md", "b.rst", "c.txt.gz", "cryo.html.gz", "d/E.HTML", "d/f.html", "t.csv", "u.docx", "v.json", "Makefile",
    ]  # fmt: skip
    companions = ["README.html", "d/LICENSE", "COPYING.html", ".hidden.html", ".git/x.html"]
    folder = write(tmp_path, dict.fromkeys(names + companions, "x"))
    assert unread_files(folder, "markdown") == (
        UnreadFiles(".html", 2, "html", ("d/E.HTML", "d/f.html")), UnreadFiles("", 1),
        UnreadFiles(".csv", 1, "triples", ("t.csv",)), UnreadFiles(".docx", 1, "office", ("u.docx",)),
        UnreadFiles(".html.gz", 1, "html", ("cryo.html.gz",)), UnreadFiles(".json", 1),
        UnreadFiles(".rst", 1, "rst", ("b.rst",)), UnreadFiles(".txt.gz", 1, "text", ("c.txt.gz",)),
    )  # fmt: skip
    assert [row.suffix for row in unread_files(folder, "folder")] == ["", ".json"]
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    assert [row.suffix for row in unread_files(folder, "folder")] == ["", ".docx", ".json"]


def test_only_a_few_files_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path, {f"{number}.html": "x" for number in range(9)})
    assert unread_files(folder, "markdown") == (UnreadFiles(".html", 9, "html", ("0.html", "1.html", "2.html")),)


def test_one_file_leaves_nothing_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x", "b.html": "x"})
    assert unread_files(tmp_path / "a.md", "markdown") == ()
