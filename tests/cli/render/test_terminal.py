"""Lines that fit a terminal, and addresses in text output."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr_cli.render.terminal import breaks, cells, cut, linked_address, openable, shown_address


@given(st.text(alphabet="ab 量\u0301\n", max_size=60), st.integers(4, 30), st.one_of(st.none(), st.integers(0, 20)))
def test_wrapping_keeps_every_word_and_fits(text: str, width: int, hang: int | None) -> None:
    lines = [" " * indent + text[begin:end] for indent, begin, end in breaks(text, width, hang)]
    assert " ".join(lines).split() == text.split()
    for line in lines:
        # Longer is a word alone only.
        assert cells(line) <= width or len(line.split()) == 1


def test_continuation_lines_keep_the_indent_or_hang() -> None:
    def shown(text: str, width: int, hang: int | None = None) -> list[str]:
        return [" " * indent + text[begin:end] for indent, begin, end in breaks(text, width, hang)]

    assert shown("  one  two three", 10) == ["  one  two", "  three"]
    assert shown("a   bb cc dd", 8, 4) == ["a   bb", "    cc", "    dd"]
    assert shown("a\n\n  b c", 3) == ["a", "", "  b", " c"]
    assert shown("x /a/very/long/path y", 8) == ["x", "/a/very/long/path", "y"]
    # Two columns a character, none for an accent that is set over another.
    assert shown("量子 力学", 6) == ["量子", "力学"]
    assert shown("e\u0301e\u0301 ee", 5) == ["e\u0301e\u0301 ee"]


@given(st.text(alphabet="ab量 ", max_size=30), st.integers(1, 20), st.booleans())
def test_a_line_that_is_cut_fits_and_says_so(line: str, width: int, front: bool) -> None:
    found = cut(line, width, front=front)
    assert cells(found) <= width
    assert found == line or "…" in found
    assert line.endswith(found.removeprefix("…")) if front else line.startswith(found.removesuffix("…"))


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
