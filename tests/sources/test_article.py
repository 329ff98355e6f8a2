"""Splits of JSON Lines give the records of the whole source, and splits can be merged and skipped."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.errors import SourceError
from wikigr.sources import jsonl
from wikigr.sources.article import merge_splits
from wikigr.sources.jsonl import JsonlSource


@given(
    lines=st.lists(st.sampled_from([b"", b" ", b'{"a": 1}', b"x" * 30, "é\u2028ü".encode()]), max_size=40),
    size=st.integers(1, 60),
    merged=st.integers(1, 200),
    end=st.sampled_from([b"", b"\n"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_json_lines_are_split_at_line_ends(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    size: int,
    merged: int,
    end: bytes,
    mark: bytes,
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(mark + b"\n".join(lines) + end)
    source = JsonlSource(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_SPLIT_BYTES", size)
        splits = source.splits()
    try:
        records = list(source.records())
    except SourceError:  # nothing but blank lines
        records = []
    larger = merge_splits(splits, merged)
    for found in (splits, larger):
        read = [list(source.read_split(split)) for split in found]
        assert [len(part) for part in read] == [split.records for split in found]
        assert [record for part in read for record in part] == records
    assert all(split.end - split.start >= merged for split in larger[:-1])


def test_a_line_that_is_too_long_is_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_SPLIT_BYTES", 10)
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 50)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" + b"x" * 100 + b"\n{}\n")
    assert JsonlSource(path).splits() == []


def test_compressed_json_lines_are_not_split(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n"))
    assert JsonlSource(path).splits() == []
    assert JsonlSource("-").splits() == []
