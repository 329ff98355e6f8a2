"""Open sources as byte streams, decompressed while reading, and split them into lines of bounded length."""

from __future__ import annotations

import io
import posixpath
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from wikigr.errors import MissingSourceError, SourceError
from wikigr.files import open_regular

STDIN = "-"
MAX_LINE_BYTES = 64 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BUFFER_BYTES = 1 << 18

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz")
# What compressed data begins with, and the name of the compression.
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}


def strip_compression(name: str) -> str:
    """Return a file name without the suffix of its compression, if it has one."""
    end = next((end for end in COMPRESSION_SUFFIXES if name.lower().endswith(end)), "")
    return name[: len(name) - len(end)]


def stem(source_id: str) -> str:
    """Return the name of a document without its folder and its suffixes: ``install`` for ``guide/install.html.gz``."""
    return posixpath.splitext(strip_compression(posixpath.basename(source_id)))[0]


@contextmanager
def open_bytes(location: Path | str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``"-"``, and decompress gzip, bzip2 and xz while reading.

    The first bytes determine the compression; the name does not matter. Raises ``SourceError`` when the file is
    missing or unreadable, and at the end of the ``with`` block if reading fails or the compressed data is damaged.
    """
    if location == STDIN:
        with decompressed(sys.stdin.buffer, "standard input") as stream:
            yield stream
        return
    try:
        raw = open_regular(Path(location))
    except FileNotFoundError as error:
        raise MissingSourceError(f"{location} does not exist.", hint="Check the path.") from error
    except OSError as error:
        raise SourceError(f"Cannot read {location}: {error.strerror or error}.") from error
    with raw, decompressed(raw, str(location)) as stream:
        yield stream


@contextmanager
def decompressed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Decompress ``raw`` while reading, or pass it through; ``name`` is what errors call it (see ``open_bytes``)."""
    # Imported here, because the command line imports this module at startup.
    import bz2
    import gzip
    import lzma

    openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    buffered = io.BufferedReader(cast(io.RawIOBase, raw), _BUFFER_BYTES)
    kind = ""
    try:
        head = buffered.peek(_BUFFER_BYTES)
        kind = next((kind for magic, kind in _COMPRESSIONS.items() if head.startswith(magic)), "")
        if kind:
            with openers[kind](buffered) as stream:
                yield cast(BinaryIO, io.BufferedReader(stream, _BUFFER_BYTES))
        else:
            yield cast(BinaryIO, buffered)
    except EOFError as error:
        raise SourceError(
            f"{name} is truncated: its {kind} data ends too early.",
            hint="Download or copy it again and compare its size.",
        ) from error
    except (zlib.error, lzma.LZMAError, OSError) as error:
        # Damaged data is an OSError without errno in bz2 and gzip.
        if isinstance(error, OSError) and error.errno is not None:
            raise SourceError(f"Cannot read {name}: {error.strerror}.") from error
        raise SourceError(
            f"The {kind} data of {name} is damaged ({error}).", hint="Download or copy the file again."
        ) from error
    finally:
        # Closing the buffer would close standard input too; a file is closed by its own ``with``.
        buffered.detach()


class ChunkStream(io.RawIOBase):
    """The bytes of ``chunks``, none of which is empty, as a stream."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        self._rest = self._rest or memoryview(next(self._chunks, b""))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def line_place(location: Path | str, line: int) -> str:
    """Return the place of a line as the ``where`` of a ``RecordError``: ``notes.jsonl, line 12``."""
    return f"{'standard input' if str(location) == STDIN else location}, line {line}"


class Line(NamedTuple):
    """One line, counted from 1; ``data`` is empty when the line is longer than ``MAX_LINE_BYTES``.

    ``where`` is its place for messages.
    """

    line: int
    data: bytes
    is_too_long: bool = False
    where: str = ""

    def decoded(self) -> tuple[str, str]:
        """Return the text of the line and the problem that makes it unreadable; one of the two is empty."""
        if self.is_too_long:
            return "", f"the line is longer than {MAX_LINE_BYTES // (1024 * 1024)} MiB, the limit for one record"
        try:
            return self.data.decode("utf-8"), ""
        except UnicodeDecodeError as error:
            byte = self.data[error.start]
            return "", f"invalid UTF-8 at byte {error.start + 1} of the line (0x{byte:02x})"


def read_lines(stream: BinaryIO, location: Path | str, first: int = 1) -> Iterator[Line]:
    """Yield every line of ``stream`` without its line end (LF or CRLF); a byte order mark is dropped.

    At most one line is held in memory. ``location`` is where the stream comes from, and ``first`` is the number of its
    first line.
    """
    number = first - 1
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(_BUFFER_BYTES)
            yield Line(number, b"", is_too_long=True, where=line_place(location, number))
        else:
            yield Line(number, line.rstrip(b"\r\n"), where=line_place(location, number))
