"""Blocks of a source give the records of the whole source."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.errors import SourceError
from wikigr.sources import blocks, jsonl
from wikigr.sources.blocks import SplittableSource
from wikigr.sources.jsonl import JsonlSource
from wikigr.sources.mediawiki import MediaWikiSource

HEADER = (
    b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en"><siteinfo>'
    b"<sitename>W</sitename><dbname>w</dbname><base>https://w.example/wiki/Main_Page</base><generator>M</generator>"
    b'<case>first-letter</case><namespaces><namespace key="0" case="first-letter" /></namespaces></siteinfo>\n'
)
PAGE = (
    "  <page><title>P{0}</title><ns>0</ns><id>{0}</id><revision><id>{0}</id><model>wikitext</model>"
    "<text>Page {0} is about {1}.</text></revision></page>\n"
)


def records_of_blocks(source: SplittableSource) -> list[Any]:
    found = source.blocks()
    assert found is not None
    return [record for block in found for record in source.block_records(block)]


def multistream(path: Path, pages: int, per_stream: int) -> MediaWikiSource:
    texts = [PAGE.format(n, " ".join(str(n * k) for k in range(60))).encode() for n in range(1, pages + 1)]
    streams = [HEADER, *(b"".join(texts[first : first + per_stream]) for first in range(0, pages, per_stream))]
    path.write_bytes(b"".join(bz2.compress(stream) for stream in [*streams, b"</mediawiki>\n"]))
    return MediaWikiSource(path)


# The header forms a block of its own at most, and the end never does.
@pytest.mark.parametrize(("least", "blocks_found"), [(1, 15), (1_000, 7), (1 << 20, 1)])
def test_a_multistream_dump_is_split_at_its_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int, blocks_found: int
) -> None:
    monkeypatch.setattr(blocks, "_MIN_BYTES", least)
    source = multistream(tmp_path / "dump.xml.bz2", 40, 3)
    assert records_of_blocks(source) == list(source.records())
    assert len(source.blocks() or ()) == blocks_found


def test_streams_that_end_inside_a_page_are_not_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_MIN_BYTES", 1)
    text = HEADER + b"".join(PAGE.format(n, n).encode() for n in range(30)) + b"</mediawiki>"
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(b"".join(bz2.compress(text[first : first + 500]) for first in range(0, len(text), 500)))
    source = MediaWikiSource(path)
    assert len(list(source.records())) == 30
    assert source.blocks() is None


def test_other_exports_are_not_split(tmp_path: Path) -> None:
    text = HEADER + PAGE.format(1, 1).encode() + b"</mediawiki>"
    for name, data in (("a.xml", text), ("b.xml.bz2", bz2.compress(text)), ("c.xml.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(data)
        assert MediaWikiSource(tmp_path / name).blocks() is None
    (tmp_path / "empty.xml").touch()
    with pytest.raises(SourceError, match="empty"):
        MediaWikiSource(tmp_path / "empty.xml").blocks()


@given(
    lines=st.lists(st.sampled_from([b"", b" ", b'{"a": 1}', b"x" * 30, "é\u2028ü".encode()]), max_size=40),
    least=st.integers(1, 60),
    end=st.sampled_from([b"", b"\n"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_json_lines_are_split_at_line_ends(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], least: int, end: bytes, mark: bytes
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(mark + b"\n".join(lines) + end)
    source = JsonlSource(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_MIN_BYTES", least)
        found = records_of_blocks(source)
    try:
        assert found == list(source.records())
    except SourceError:  # nothing but blank lines
        assert found == []


def test_a_line_that_is_too_long_is_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_MIN_BYTES", 10)
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 50)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" + b"x" * 100 + b"\n{}\n")
    assert JsonlSource(path).blocks() is None


def test_compressed_json_lines_are_not_split(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n"))
    assert JsonlSource(path).blocks() is None
    assert JsonlSource("-").blocks() is None
