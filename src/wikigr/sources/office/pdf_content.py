"""Find pages of a PDF whose content is damaged: PDFium shows them as empty and reports nothing."""

from __future__ import annotations

import re
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

# The page in a file of one page that PDFium has written, and its content: one stream, or several.
_CONTENTS = re.compile(rb"\n<<[^\r\n]*?/Contents(?: (?P<one>\d+) 0 R|\[(?P<many>[^\]]*)\])")
_STREAM = (
    rb"\n%s 0 obj\s+<<(?=[^\r\n]*/Filter\s*(?:/FlateDecode|\[\s*/FlateDecode\s*\]))"
    rb"[^\r\n]*?/Length (?P<length>\d+)[^\r\n]*>>stream\r\n"
)
# Content that is longer without showing anything is taken to be whole.
_MAX_CONTENT = 1_000_000


def check_content(pdf: PdfDocument, number: int) -> None:
    """Raise ``PdfiumError`` if a page, counted from 0, shows nothing because its content cannot be decompressed.

    Only the filter of nearly all files is known, Deflate. Content that is damaged in part shows what stands before.
    """
    from pypdfium2 import PdfDocument, PdfiumError
    from pypdfium2.raw import FPDFPage_CountObjects

    page = pdf[number]
    is_empty = FPDFPage_CountObjects(page) == 0
    page.close()
    if not is_empty:
        return
    with PdfDocument.new() as alone:
        alone.import_pages(pdf, [number])
        written = BytesIO()
        alone.save(written)
    if not all(map(_is_whole, _streams(written.getvalue()))):
        raise PdfiumError("Failed to decompress the content of the page.")


def _streams(data: bytes) -> list[bytes]:
    """Return the compressed content of the page in a file of one page."""
    contents = _CONTENTS.search(data)
    if contents is None:
        return []
    numbers = [contents["one"]] if contents["one"] else re.findall(rb"(\d+) 0 R", contents["many"])
    found = (re.search(_STREAM % number, data) for number in numbers)
    return [data[match.end() : match.end() + int(match["length"])] for match in found if match is not None]


def _is_whole(compressed: bytes) -> bool:
    """Return whether a stream can be decompressed; its end and its checksum, which PDFium ignores, may be missing."""
    if not compressed:
        return True
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(compressed[2:], _MAX_CONTENT)
    except zlib.error:
        return False
    # The header: the method 8, and a sum of both bytes (RFC 1950).
    has_header = compressed[0] & 0x0F == 8 and int.from_bytes(compressed[:2]) % 31 == 0
    return has_header and (inflater.eof or bool(content))
