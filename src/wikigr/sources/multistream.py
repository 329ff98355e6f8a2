"""Multistream dumps of MediaWiki: bzip2 files whose pages can be decompressed from many places.

Such a dump is a sequence of complete bzip2 streams: the head of the export, then 100 pages in each, then its end. A
second file, the index, has a line ``offset:page id:title`` for each page, with the offset of the stream that contains
it. See "Multistream dump index" on meta.wikimedia.org.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import BinaryIO, cast

from wikigr.errors import SourceError
from wikigr.files import open_regular
from wikigr.sources.article import FileSplit
from wikigr.sources.streams import ChunkStream, decompressed, open_bytes, read_lines

CLOSING_TAG = b"</mediawiki>"

_STREAM_MAGIC = b"BZh"
_PAGE = b"<page>"
_READ_BYTES = 1 << 20


def index_of(dump: Path) -> Path | None:
    """Return the index next to ``dump``, compressed or not; ``None`` without one or if the dump is not compressed."""
    if "multistream" not in dump.name or not _begins_with_stream(dump, 0):
        return None
    name = dump.name.replace("multistream", "multistream-index", 1).replace(".xml", ".txt", 1)
    found = (dump.with_name(name), dump.with_name(name.removesuffix(".bz2")))
    return next((path for path in found if path != dump and path.is_file()), None)


def read_index(index: Path, dump: Path) -> list[FileSplit]:
    """Return the splits of ``dump``; raises ``SourceError`` if the index is damaged or belongs to another dump."""
    counted: list[tuple[int, int]] = []
    with open_bytes(index) as stream:
        lines = (line for line in read_lines(stream, index) if line.data)
        for offset, group in groupby(lines, key=lambda line: line.data.partition(b":")[0]):
            if not offset.isdigit():
                raise _wrong(index, dump, "one of its lines does not begin with a number")
            counted.append((int(offset), sum(1 for _ in group)))
    size = dump.stat().st_size
    ends = [start for start, _ in counted[1:]] + [size]
    if any(second <= first for first, second in pairwise([0, *(start for start, _ in counted), size])):
        raise _wrong(index, dump, "its offsets do not ascend up to the size of the dump")
    if counted and _PAGE in read_head(dump, counted[0][0]):
        raise _wrong(index, dump, "there are pages before its first offset")
    path = str(dump.absolute())
    return [FileSplit(path, start, end, pages) for (start, pages), end in zip(counted, ends, strict=True)]


def read_head(dump: Path, end: int | None = None) -> bytes:
    """Return what precedes the first page, or the first ``end`` compressed bytes; raises ``SourceError``."""
    with open_regular(dump) as file:
        part = _range(file, dump.stat().st_size if end is None else end)
        with decompressed(part, str(dump)) as stream:
            head = stream.read(4 << 20)
    return head if end is not None else head.partition(_PAGE)[0]


def read_export(split: FileSplit, head: bytes) -> Iterator[bytes]:
    """Yield an export that consists of the pages of ``split`` alone, in pieces; raises ``SourceError``."""
    dump = Path(split.path)
    if not _begins_with_stream(dump, split.start):
        raise SourceError(f"No part of {dump} begins at byte {split.start}, as its index says.", hint=HINT)
    yield head
    end = b""
    with open_regular(dump) as file:
        file.seek(split.start)
        part = _range(file, split.end - split.start)
        with decompressed(part, str(dump)) as stream:
            while data := stream.read(_READ_BYTES):
                end = (end + data)[-len(CLOSING_TAG) - 8 :]
                yield data
    # The last split contains the end of the whole export.
    if not end.rstrip().endswith(CLOSING_TAG):
        yield CLOSING_TAG


def _begins_with_stream(dump: Path, offset: int) -> bool:
    try:
        with open_regular(dump) as file:
            file.seek(offset)
            return file.read(len(_STREAM_MAGIC)) == _STREAM_MAGIC
    except OSError:
        return False


def _range(file: BinaryIO, size: int) -> BinaryIO:

    def chunks() -> Iterator[bytes]:
        left = size
        while data := file.read(min(_READ_BYTES, left)):
            left -= len(data)
            yield data

    return cast(BinaryIO, ChunkStream(chunks()))


HINT = "Download the dump and its index again, or remove the index to read the dump in one process."


def _wrong(index: Path, dump: Path, reason: str) -> SourceError:
    return SourceError(f"{index} is not the index of {dump.name}: {reason}.", hint=HINT)
