"""Plain text files: paragraphs, titles, headings and bad files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.markdown.notes import write
from tests.sources.test_hostile_input import limit

from wikigr.errors import RecordError
from wikigr.sources.article import Skipped, SourceArticle, SourceItem
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource

PROSE = """\
The pump starts on its own as soon as the water in the tank has reached the
upper mark. It stops when the tank is empty, or after ten minutes, whichever
comes first.
"""


def parse(text: str | bytes) -> SourceItem:
    data = text.encode() if isinstance(text, str) else text
    (item,) = FolderSource(Path(), "text").parse(NoteRecord("dir/note.txt", data, "note"))
    return item


def sections(text: str | bytes) -> list[tuple[tuple[str, ...], str]]:
    item = parse(text)
    assert isinstance(item, SourceArticle), item
    return [(section.heading_path, section.text) for section in item.sections]


def read_one(folder: Path, text: str) -> SourceArticle:
    source = FolderSource(write(folder, {"note.txt": text}), "text")
    (item,) = (item for record in source.records() for item in source.parse(record))
    assert isinstance(item, SourceArticle)
    return item


JOINED = " ".join(PROSE.split())
TABLE = "name     price   unit\nsalt     3       kg\noil      12      l"
CODE = "    if full:\n        pump()"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Wrapped paragraphs are joined, lists are not, and tables and indented blocks keep their spaces.
        (f"{PROSE}\n- salt\n- oil for the pump, which needs a lot of it in\n  winter\n\nred\ngreen\nblue\n",
         [((), f"{JOINED}\n\n- salt\n- oil for the pump, which needs a lot of it in winter\n\nred\ngreen\nblue")]),
        (f"{PROSE}\n{TABLE}\n\n{CODE}\n\n{PROSE}", [((), f"{JOINED}\n\n{TABLE}\n\n{CODE}\n\n{JOINED}")]),
        # Underlined headings make sections.
        ("THE PUMP\n========\n\nlead\n\nStart\n-----\nstart\n\n  Cold\n  ~~~~\nnot a heading, it is indented\n\n"
         "******\nSafety\n******\nsafe\n\nStop\n----\nstop\n",
         [((), "lead"), (("Start",), "start\n\nCold\n~~~~\nnot a heading, it is indented"),
          (("Start", "Safety"), "safe"), (("Stop",), "stop")]),
        # UTF-16 and other ends of lines.
        ("\ufeffTitle\r\n=====\r\n\r\none\r\n\x0ctwo".encode("utf-16-le"), [((), "one\n\ntwo")]),
        ("a\rb", [((), "a\nb")]),
    ],
)  # fmt: skip
def test_sections_of_text(text: str | bytes, found: list[tuple[tuple[str, ...], str]]) -> None:
    assert sections(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "a line of prose\nbefore the last one\n-------------------\nafter",
        "Name     Age\n------------\nAnn      5",
        "-----\n\ntext\n\n-----\n",
        "A heading with a short line below it\n---\ntext",
        "...\n---\ntext",
    ],
)
def test_rules_are_not_headings(text: str) -> None:
    assert [path for path, _ in sections(text)] == [()]


def test_the_title_is_a_heading_at_the_top_or_the_name_of_the_file(tmp_path: Path) -> None:
    files = {
        "pump.txt": "\nThe Pump\n--------\ntext",
        "a/valve.text": "text.\n\nNot the title\n-------------\ntext",
        "b/valve.txt": "text",
    }
    source = FolderSource(write(tmp_path, files), "text")
    found = [item for record in source.records() for item in source.parse(record) if isinstance(item, SourceArticle)]
    assert [(item.title, item.source_id, item.aliases) for item in found] == [
        ("valve (a/valve.text)", "a/valve.text", ()),
        ("valve (b/valve.txt)", "b/valve.txt", ()),
        ("The Pump", "pump.txt", ("pump",)),
    ]


def test_a_short_first_line_above_a_blank_one_is_the_title_and_not_text(tmp_path: Path) -> None:
    item = read_one(tmp_path, f"\nTelescope  maintenance\n\n\n{PROSE}")
    assert (item.title, item.aliases) == ("Telescope maintenance", ("note",))
    assert [section.text for section in item.sections] == [JOINED]


@pytest.mark.parametrize(
    "first",
    [
        *("It rains.", '"Does it rain?"', "Dear Ann,", "Buy these:", "- salt", "1. Salt", "salt     3       kg"),
        *("    pump()", "-----", "word " * 17, "It rains\non the pump"),
    ],
)
def test_other_first_lines_are_text(tmp_path: Path, first: str) -> None:
    item = read_one(tmp_path, f"{first}\n\n{PROSE}")
    assert item.title == "note"
    assert first == "-----" or item.sections[0].text.lstrip().startswith(first.split()[0])


def test_a_file_of_one_line_is_text(tmp_path: Path) -> None:
    item = read_one(tmp_path, "Telescope maintenance\n\n")
    assert (item.title, item.sections[0].text) == ("note", "Telescope maintenance")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ok\n\xc3\xa9\xc3\xa9\xff", r"dir/note\.txt, line 2: invalid UTF-8 at byte 8 of the file \(0xff\)"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", r"dir/note\.txt, line 1: invalid UTF-8 at byte 1"),
        (b"PK\x03\x04\x00\x00", r"dir/note\.txt, line 1: the file contains a NUL character, so it is not a text file"),
        (b"\xff\xfea", r"dir/note\.txt: invalid UTF-16 at byte 3"),
    ],
)
def test_files_that_are_not_text_are_bad_records(data: bytes, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse(data)


@pytest.mark.parametrize("text", ["", " \n\t\n", "-----\n", "Title\n=====\n"])
def test_files_without_text_are_skipped(text: str) -> None:
    assert parse(text) == Skipped("dir/note.txt", "no text")


@pytest.mark.trust
@pytest.mark.parametrize(
    "text", ["word " * 400_000, "x" * 2_000_000, "a\n=\n\n" * 50_000, "===\n" * 200_000, "a  " * 300_000]
)
def test_hostile_files_take_bounded_time(text: str) -> None:
    with limit():
        parse(text)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab .-=\n\t#", max_size=200))
def test_every_letter_is_kept(text: str) -> None:
    item = parse(text)
    kept = "".join(part for section in getattr(item, "sections", ()) for part in (*section.heading_path, section.text))
    # Headings without text are left out, and a heading that begins the text is the title.
    if "=" not in text and "-" not in text and "#" not in text and "." not in text:
        assert "".join(kept.split()) == "".join(text.split())
    assert set(kept) <= set(text) | {" ", "\n"}
