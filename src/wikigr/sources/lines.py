"""A byte stream cut into lines of bounded length, which the line-based formats share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MAX_LINE_BYTES = 64 * 1024 * 1024
TOO_LONG = f"the line is longer than {MAX_LINE_BYTES // (1024 * 1024)} MiB, the limit for one record"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DRAIN_BYTES = 1 << 20


class Line(NamedTuple):
    """One line, counted from 1; ``data`` is empty when the line is longer than ``MAX_LINE_BYTES``."""

    line: int
    data: bytes
    is_too_long: bool = False


def read_lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield every line without its end (LF or CRLF), never holding more than one; a byte order mark is dropped."""
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(_DRAIN_BYTES)
            yield Line(number, b"", is_too_long=True)
        else:
            yield Line(number, line.rstrip(b"\r\n"))


def invalid_utf8(error: UnicodeDecodeError) -> str:
    """Return what is wrong with a line that is no UTF-8, for a person."""
    return f"invalid UTF-8 at byte {error.start + 1} of the line (0x{error.object[error.start]:02x})"
