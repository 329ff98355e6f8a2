"""The record of the folder that a pack was built from, and which files it gives access to."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.pack.layout import Layout
from wikigr.pack.section_urls import find_source_file, record_source_folder


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "packs" / "p")
    layout.work.mkdir(parents=True)
    (tmp_path / "notes" / "sub").mkdir(parents=True)
    (tmp_path / "notes" / "sub" / "a.md").write_text("a")
    (tmp_path / "secret.md").write_text("b")
    (tmp_path / "notes" / "key.pem").write_text("c")
    record_source_folder(layout, tmp_path / "notes")
    return layout


def test_the_record_is_relative(layout: Layout, tmp_path: Path) -> None:
    assert (layout.work / "source").read_text() == "../../notes"
    assert find_source_file(layout, "sub/a.md", (".md",)) == tmp_path / "notes" / "sub" / "a.md"


def test_only_files_of_the_format_in_the_folder_are_found(layout: Layout) -> None:
    cases = ["../secret.md", "/etc/hosts.md", "key.pem", "sub", "gone.md", "a\x00.md", ""]
    assert [source_id for source_id in cases if find_source_file(layout, source_id, (".md",)) is not None] == []


def test_without_a_record_nothing_is_found(layout: Layout) -> None:
    record_source_folder(layout, None)
    assert find_source_file(layout, "sub/a.md", (".md",)) is None
    record_source_folder(layout, None)
