"""Opens plain, gzip, bzip2 and xz input as one byte stream, with errors a person can act on."""

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
from typing import IO, Any, BinaryIO, cast

from wikigr.errors import SourceError

STDIN = "-"

_BUFFER_BYTES = 1 << 18
_MAX_MAGIC_LENGTH = 6


def _open_bz2(stream: BinaryIO) -> IO[bytes]:
    return bz2.open(stream, "rb")


def _open_gzip(stream: BinaryIO) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(stream, "rb"))


def _open_xz(stream: BinaryIO) -> IO[bytes]:
    return lzma.open(stream, "rb")


_FORMATS: tuple[tuple[bytes, str, Callable[[BinaryIO], IO[bytes]]], ...] = (
    (b"\x1f\x8b", "gzip", _open_gzip),
    (b"BZh", "bzip2", _open_bz2),
    (b"\xfd7zXZ\x00", "xz", _open_xz),
)


@contextmanager
def open_bytes(location: Path | str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``"-"``, and decompress it while reading.

    The compression is told from the first bytes, not the name. Raises ``SourceError`` when the file is
    missing or unreadable, and from any read when the compressed data is damaged or ends too early.
    """
    if location == STDIN:
        with _decompressed(sys.stdin.buffer, "standard input") as stream:
            yield stream
        return
    path = Path(location)
    try:
        raw = path.open("rb")
    except FileNotFoundError as error:
        raise SourceError(f"{path} does not exist.", hint="Check the path of the source.") from error
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error
    with raw, _decompressed(raw, str(path)) as stream:
        yield stream


@contextmanager
def _decompressed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    buffered = io.BufferedReader(cast(io.RawIOBase, raw), _BUFFER_BYTES)
    try:
        magic = buffered.peek(_MAX_MAGIC_LENGTH)[:_MAX_MAGIC_LENGTH]
        found = next((entry for entry in _FORMATS if magic.startswith(entry[0])), None)
        if found is None:
            yield cast(BinaryIO, io.BufferedReader(_CheckedReader(buffered, name, ""), _BUFFER_BYTES))
        else:
            _, kind, opener = found
            with opener(cast(BinaryIO, buffered)) as stream:
                yield cast(BinaryIO, io.BufferedReader(_CheckedReader(stream, name, kind), _BUFFER_BYTES))
    finally:
        # Closing would close standard input as well; the file has its own ``with``.
        buffered.detach()


class _CheckedReader(io.RawIOBase):
    """A stream that names the file and the cause when decompression fails."""

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
                f"{self._name} ends in the middle of its {self._kind} data: the file is truncated.",
                hint="Download or copy it again and compare its size.",
            ) from error
        except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise self._damaged(error) from error
        except OSError as error:
            # bz2 reports damaged data as an OSError without errno.
            if error.errno is None:
                raise self._damaged(error) from error
            raise SourceError(f"{self._name} cannot be read: {error.strerror}.") from error
        view[: len(data)] = data
        return len(data)

    def _damaged(self, error: Exception) -> SourceError:
        return SourceError(
            f"{self._name} holds damaged {self._kind} data ({error}).",
            hint="Download or copy the file again.",
        )
