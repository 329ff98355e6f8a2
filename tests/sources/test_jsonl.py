"""JSON Lines: fields, headings in the text, and every kind of bad line."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Skipped, SourceArticle, SourceItem, SourceSection
from wikigr.sources.jsonl import JsonlSource, split_sections
from wikigr.sources.streams import MAX_LINE_BYTES, Line


def parse(data: bytes | dict[str, object]) -> SourceItem:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    (item,) = JsonlSource("-").parse(Line(7, raw))
    return item


def test_all_fields() -> None:
    assert parse(
        {
            "id": 12, "title": " Atom ", "text": "lead\n\n## Size\nsmall", "links": ["Ion", "Ion", " "],
            "categories": None, "aliases": ["a"], "url": "https://x.org", "other": {},
        }
    ) == SourceArticle(
        title="Atom",
        source_id="12",
        sections=(SourceSection((), "lead"), SourceSection(("Size",), "small")),
        links=("Ion",),
        aliases=("a",),
        url="https://x.org",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "source_id", "links"),
    [
        ({}, "line-7", ()),
        # Links to ids may be numbers, as ids are.
        ({"id": 1, "links": [2, "B", "2", 2]}, "1", ("2", "B")),
    ],
)
def test_ids(fields: dict[str, object], source_id: str, links: tuple[str, ...]) -> None:
    item = parse({"title": "A", "text": "b", **fields})
    assert isinstance(item, SourceArticle)
    assert (item.source_id, item.links) == (source_id, links)


def test_a_line_without_text_is_skipped() -> None:
    assert parse({"id": "x", "title": "A", "text": "# A\n\n"}) == Skipped("x", "no text")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{oops}", "invalid JSON: Expecting property name .* at column 2"),
        (b"[1]", "expected a JSON object, found a list"),
        (b'"text"', "expected a JSON object, found a string"),
        (b"[" * 100_000, "invalid JSON: it is nested too deeply$"),
        (b'{"title": ' + b"9" * 5_000 + b"}", "invalid JSON: a number in it has too many digits$"),
        (b'{"title": "A", "text": "caf\xe9"}', r"invalid UTF-8 at byte 28 of the line \(0xe9\)"),
        (b'{"text": "b"}', "`title` is missing"),
        (b'{"title": "A"}', "`text` is missing"),
        (b'{"title": " ", "text": "b"}', "`title` is empty"),
        (b'{"title": 1, "text": "b"}', "`title` must be a string, not a number"),
        (b'{"title": "A", "text": null}', "`text` must be a string, not null"),
        (b'{"title": "A", "text": "b", "links": "c"}', "`links` must be a list of strings, not a string"),
        (b'{"title": "A", "text": "b", "aliases": [1]}', r"`aliases\[0\]` must be a string, not a number"),
        (b'{"title": "A", "text": "b", "links": [true]}', r"`links\[0\]` must be a string, not a boolean"),
        (b'{"title": "A", "text": "b", "links": [1.5]}', r"`links\[0\]` must be a string, not a number"),
        (b'{"title": "A", "text": "b", "id": true}', "`id` must be a string, not a boolean"),
        (b'{"title": "A", "text": "b", "id": ""}', "`id` is empty"),
        (b'{"title": "A", "text": "b", "url": []}', "`url` must be a string, not a list"),
        (b'{"title": "A", "text": "\\ud800"}', "an unpaired surrogate"),
    ],
)
def test_bad_lines_are_named(data: bytes, message: str) -> None:
    with pytest.raises(RecordError, match=f"^line 7: .*{message}"):
        parse(data)


def test_control_characters_are_dropped() -> None:
    item = parse({"title": "A\u0000", "text": "a\u0000b\tc"})
    assert isinstance(item, SourceArticle)
    assert (item.title, item.sections[0].text) == ("A", "ab\tc")


def test_headings_open_sections_outside_code_only() -> None:
    text = "lead\r\n\r\n## One ##\n\na *b*\n- [c](d)\n\n```py\n# no heading\n```\n"
    text += "#tag\n####### seven\n#\n### Two\nt\n"
    text += "# Three\nx"
    assert split_sections(text, "T") == (
        SourceSection((), "lead"),
        SourceSection(("One",), "a *b*\n- [c](d)\n\n```py\n# no heading\n```\n#tag\n####### seven\n#"),
        SourceSection(("One", "Two"), "t"),
        SourceSection(("Three",), "x"),
    )


def test_heading_that_repeats_the_title_opens_no_section() -> None:
    assert split_sections("# the title\nlead\n## A\na", "The_Title") == (
        SourceSection((), "lead"),
        SourceSection(("A",), "a"),
    )


@given(st.lists(st.sampled_from(["# a", "## b", "text", "", "```", "~~~~", "    x", "```py"]), max_size=20))
def test_no_line_of_text_is_lost(lines: list[str]) -> None:
    sections = split_sections("\n".join(lines), "T")
    kept = [line for section in sections for line in section.text.split("\n")]
    assert [line for line in kept if line in ("text", "    x")] == [x for x in lines if x in ("text", "    x")]


def lines_of(path: Path) -> list[Line]:
    return [pickle.loads(pickle.dumps(record)) for record in JsonlSource(path).records()]


def test_blank_lines_and_a_byte_order_mark_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"b": 2}')
    assert lines_of(path) == [
        Line(1, b'{"a": 1}', where=f"{path}, line 1"),
        Line(4, b'{"b": 2}', where=f"{path}, line 4"),
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(b'{"a": 1}\n')))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(JsonlSource("-").records()) == [Line(1, b'{"a": 1}', where="standard input, line 1")]
    assert not stdin.closed


def test_an_overlong_line_is_one_bad_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"title": "A", "text": "a"}\n')
        stream.seek(MAX_LINE_BYTES + 1000, io.SEEK_CUR)
        stream.write(b'\n{"title": "B", "text": "b"}\n')
    source = JsonlSource(path)
    first, second, third = source.records()
    assert (first.line, third.line) == (1, 3)
    assert second == Line(2, b"", is_too_long=True, where=f"{path}, line 2")
    with pytest.raises(RecordError, match=r"\.jsonl, line 2: the line is longer than 64 MiB"):
        list(source.parse(second))
    (item,) = source.parse(third)
    assert isinstance(item, SourceArticle)
    assert item.title == "B"


def test_empty_and_missing_files(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n \n")
    with pytest.raises(SourceError, match="has no records"):
        lines_of(path)
    with pytest.raises(SourceError, match="does not exist"):
        lines_of(tmp_path / "none.jsonl")
