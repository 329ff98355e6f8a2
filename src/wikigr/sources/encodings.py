"""Decode text files: as they declare themselves, as UTF-8, or in the encoding that their bytes look like."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO, cast

from wikigr.errors import RecordError
from wikigr.sources.streams import ChunkStream

_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# In bytes; detection does not get better with more.
_SAMPLE = 100_000
# Below, a guess is one of many. Programs in the West save Windows-1252 unless told otherwise; most of it is in ASCII.
_MIN_CONFIDENCE = 0.1
_USUAL = "cp1252"


def decode(where: str, data: bytes) -> str:
    """Return the text of a file, whose line ends are kept.

    Raises ``RecordError`` at ``where``, with the line, for bytes that are invalid in the encoding of the file, and for
    a file that is damaged UTF-8 or in no known encoding.
    """
    encoding = declared_encoding(data) or detect_encoding(data) or "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"at byte {error.start + 1} of the file"
        name = "UTF-16" if encoding == "utf-16" else encoding.upper().removesuffix("-SIG")
        if name.startswith("UTF-16"):
            raise RecordError(where, f"invalid {name} {place}", hint="Convert the file to UTF-8.") from error
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError(
            f"{where}, line {line}",
            f"invalid {name} {place} (0x{data[error.start]:02x})",
            hint="Convert the file to UTF-8, for example with iconv.",
        ) from error


def declared_encoding(data: bytes) -> str | None:
    """Return Python's name of the encoding that the byte order mark of a text declares, ``None`` without one."""
    return next((name for mark, name in _BYTE_ORDER_MARKS.items() if data.startswith(mark)), None)


def detect_encoding(data: bytes) -> str | None:
    """Return Python's name of the encoding that a text without a byte order mark appears to have.

    ``None`` for UTF-8, also if few characters in it are damaged, and for data in no known encoding.
    """
    has_nul = b"\0" in data
    if not has_nul:
        text = data.decode("utf-8", "replace")
        damaged = text.count("\ufffd")
        if not damaged or sum(character > "\x7f" for character in text) > 2 * damaged:
            return None
    # Imported here, because few files need it.
    import chardet

    # Lines in ASCII say nothing, unless every other byte of them is NUL.
    lines = [data] if has_nul else [line for line in data.splitlines() if not line.isascii()]
    sample = b"\n".join(lines)[:_SAMPLE]
    eras = chardet.EncodingEra.ALL & ~chardet.EncodingEra.MAINFRAME
    found = chardet.detect(sample, encoding_era=eras, prefer_superset=False, max_bytes=_SAMPLE)
    encoding = (found["encoding"] or "").lower()
    is_western = 2 * sum(byte > 0x7F for byte in sample) < sum(map(str.isalpha, sample.decode("latin-1")))
    if found["confidence"] < _MIN_CONFIDENCE and is_western and _is_text(sample, _USUAL):
        encoding = _USUAL
    is_possible = not has_nul or encoding.startswith("utf-16")
    return encoding if encoding and is_possible and _is_text(sample, encoding) else None


def utf8_stream(stream: BinaryIO) -> BinaryIO:
    """Return a stream of text in UTF-8; ``stream`` is a buffered one at its beginning, in an encoding as in ``decode``.

    Bytes that are invalid in the encoding stay as they are, which is not UTF-8.
    """
    head = cast(io.BufferedReader, stream).peek()
    encoding = declared_encoding(head) or detect_encoding(head) or "utf-8"
    is_old_mac = b"\r" in head and b"\n" not in head
    if encoding.startswith("utf-8") and not is_old_mac:
        return stream
    chunks = _recoded(stream, encoding, "\n" if is_old_mac else "\r")
    return cast(BinaryIO, io.BufferedReader(ChunkStream(chunks)))


def _recoded(stream: BinaryIO, encoding: str, line_end: str) -> Iterator[bytes]:
    """Yield the text of a stream in UTF-8, with ``line_end`` for carriage returns."""
    errors = "replace" if encoding.startswith("utf-16") else "surrogateescape"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    data = b"."
    while data:
        data = stream.read(_SAMPLE)
        text = decoder.decode(data, final=not data).replace("\r", line_end)
        if text:
            yield text.encode("utf-8", "surrogateescape")


def _is_text(sample: bytes, encoding: str) -> bool:
    """Return whether nearly all characters of a sample, which may end within one, are those of a text."""
    text = sample.decode(encoding, "replace")
    printable = sum(map(str.isprintable, text)) + sum(map(str.isspace, text)) - text.count(" ")
    return "\0" not in text and printable - text.count("\ufffd") >= 0.98 * len(text)
