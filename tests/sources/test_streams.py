"""Compressed input is recognized by its first bytes, and errors name the kind of damage."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr.errors import SourceError
from wikigr.sources.streams import open_bytes

KINDS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("bzip2", bz2.compress),
    ("xz", lzma.compress),
]
# Incompressible, so that damage in the middle of the file is damage in the middle of the data.
DATA = random.Random(0).randbytes(300_000)


def read(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read()


@pytest.mark.parametrize("data", [b"", b"x", b"plain\ntext", DATA])
def test_plain(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "misnamed.gz"
    path.write_bytes(data)
    assert read(path) == data


@pytest.mark.parametrize(("kind", "compress"), KINDS)
def test_compressed_in_one_or_several_streams(tmp_path: Path, kind: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / kind
    path.write_bytes(compress(DATA[:100_000]) + compress(DATA[100_000:]))
    with open_bytes(path) as stream:
        assert stream.read(10) == DATA[:10]
        assert stream.readline() + stream.read() == DATA[10:]


@pytest.mark.parametrize(("kind", "compress"), KINDS)
def test_truncated(tmp_path: Path, kind: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / kind
    path.write_bytes(compress(DATA)[:-5000])
    with pytest.raises(SourceError, match=f"is truncated: its {kind} data ends too early"):
        read(path)


@pytest.mark.parametrize(("kind", "compress"), KINDS)
def test_damaged(tmp_path: Path, kind: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / kind
    packed = bytearray(compress(DATA))
    packed[len(packed) // 2 : len(packed) // 2 + 2000] = bytes(2000)
    path.write_bytes(packed)
    with pytest.raises(SourceError, match=f"The {kind} data of .* is damaged"):
        read(path)


def test_missing_and_unreadable(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none\.xml does not exist"):
        read(tmp_path / "none.xml")
    with pytest.raises(SourceError, match=r"Cannot read .*: Is a directory"):
        read(tmp_path)
