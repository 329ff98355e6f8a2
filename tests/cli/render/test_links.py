"""Addresses in text output."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr_cli.render.terminal import linked_address, openable, shown_address


@pytest.mark.parametrize(
    ("url", "opened"),
    [
        ("https://w.example/a#b", "https://w.example/a#b"),
        ("http://w.example/Ä", "http://w.example/%C3%84"),
        ("file:///srv/a%20b.md#use", "file:///srv/a%20b.md#use"),
        ("file://server/share/a.md", None),
        ("file:a.md", None),
        ("javascript:alert(1)", None),
        ("vscode://file/etc/passwd", None),
        ("notes/a.md#use", None),
        ("https://w.example/\x1b\\evil", None),
        ("https://w.example/\u009c", None),
        ("https://w.example/a b", None),
        ("http://[", None),
        (None, None),
    ],
)
def test_only_safe_addresses_are_opened(url: str | None, opened: str | None) -> None:
    assert openable(url) == opened


def test_a_file_in_the_working_directory_is_shown_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (tmp_path / "notes" / "valve 7é.md").as_uri()
    assert shown_address(f"{page}#opening-it") == "notes/valve 7é.md#opening-it"
    assert shown_address(page) == "notes/valve 7é.md"
    assert shown_address("file:///elsewhere/a.md#x") == "file:///elsewhere/a.md#x"
    assert shown_address("https://w.example/a#b") == "https://w.example/a#b"


def test_a_link_in_a_document_stays_encoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (tmp_path / "notes" / "a>b (1)#q\n.md").as_uri()
    assert linked_address(f"{page}#opening-it") == "notes/a%3Eb%20%281%29%23q%0A.md#opening-it"
    assert "\n" not in shown_address(page)
    assert linked_address("https://w.example/a#b") == "https://w.example/a#b"
