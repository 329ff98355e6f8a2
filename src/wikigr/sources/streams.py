"""Open sources as byte streams, decompressed while reading, and split them into lines of bounded length."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

from wikigr.errors import MissingSourceError, SourceError

STDIN = "-"
MAX_LINE_BYTES = 64 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BUFFER_BYTES = 1 << 18
_DRAIN_BYTES = 1 << 20
_MAX_MAGIC_LENGTH = 6


def _open_bz2(stream: BinaryIO) -> IO[bytes]:
    return bz2.open(stream, "rb")


def _open_gzip(stream: BinaryIO) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(stream, "rb"))


def _open_xz(stream: BinaryIO) -> IO[bytes]:
    return lzma.open(stream, "rb")


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[BinaryIO], IO[bytes]]], ...] = (
    (b"\x1f\x8b", "gzip", _open_gzip),
    (b"BZh", "bzip2", _open_bz2),
    (b"\xfd7zXZ\x00", "xz", _open_xz),
)


def is_compressed(path: Path | str) -> bool:
    """Return whether the file has a compression that ``open_bytes`` knows; raises ``SourceError`` if it is missing."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(_MAX_MAGIC_LENGTH)
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {error.strerror or error}.") from error
    return any(head.startswith(magic) for magic, _, _ in _COMPRESSIONS)


@contextmanager
def open_bytes(location: Path | str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``"-"``, and decompress gzip, bzip2 and xz while reading.

    The first bytes determine the compression; the name does not matter. Raises ``SourceError`` when the file is
    missing or unreadable, and from any read when the compressed data is damaged or truncated.
    """
    if location == STDIN:
        with decompressed(sys.stdin.buffer, "standard input") as stream:
            yield stream
        return
    path = Path(location)
    try:
        raw = path.open("rb")
    except FileNotFoundError as error:
        raise MissingSourceError(f"{path} does not exist.", hint="Check the path.") from error
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {error.strerror or error}.") from error
    with raw, decompressed(raw, str(path)) as stream:
        yield stream


@contextmanager
def decompressed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Decompress ``raw`` while reading, or pass it through; ``name`` is what errors call it (see ``open_bytes``)."""
    buffered = io.BufferedReader(cast(io.RawIOBase, raw), _BUFFER_BYTES)
    try:
        magic = buffered.peek(_MAX_MAGIC_LENGTH)[:_MAX_MAGIC_LENGTH]
        found = next((entry for entry in _COMPRESSIONS if magic.startswith(entry[0])), None)
        if found is None:
            yield cast(BinaryIO, io.BufferedReader(_CheckedReader(buffered, name, ""), _BUFFER_BYTES))
        else:
            _, kind, opener = found
            with opener(cast(BinaryIO, buffered)) as stream:
                yield cast(BinaryIO, io.BufferedReader(_CheckedReader(stream, name, kind), _BUFFER_BYTES))
    finally:
        # Closing the buffer would close standard input too; a file is closed by its own ``with``.
        buffered.detach()


class _CheckedReader(io.RawIOBase):
    """A stream that raises ``SourceError`` with the file's name and the cause when decompression fails."""

    def __init__(self, stream: Any, name: str, kind: str) -> None:
        self._stream = stream
        self._name = name
        self._kind = kind

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        try:
            data: bytes = self._stream.read(len(view))
        except EOFError as error:
            raise SourceError(
                f"{self._name} is truncated: its {self._kind} data ends too early.",
                hint="Download or copy it again and compare its size.",
            ) from error
        except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise self._damaged(error) from error
        except OSError as error:
            # bz2 reports damaged data as an OSError without errno.
            if error.errno is None:
                raise self._damaged(error) from error
            raise SourceError(f"Cannot read {self._name}: {error.strerror}.") from error
        view[: len(data)] = data
        return len(data)

    def _damaged(self, error: Exception) -> SourceError:
        return SourceError(
            f"The {self._kind} data of {self._name} is damaged ({error}).",
            hint="Download or copy the file again.",
        )


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
                line = stream.readline(_DRAIN_BYTES)
            yield Line(number, b"", is_too_long=True, where=line_place(location, number))
        else:
            yield Line(number, line.rstrip(b"\r\n"), where=line_place(location, number))
