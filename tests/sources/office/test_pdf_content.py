"""Pages of a PDF that show nothing: the blank ones, and those whose content is damaged."""

from __future__ import annotations

import re
import zlib

import pytest
from fpdf import FPDF
from pypdfium2 import PdfDocument, PdfiumError
from tests.sources.office import files

from wikigr.sources.office.pdf_content import check_content


def pdf_of(*streams: bytes, name: bytes = b"/FlateDecode") -> PdfDocument:
    """Return a PDF of one page whose content are the ``streams``, compressed with the filter ``name``."""
    numbers = b" ".join(b"%d 0 R" % number for number in range(4, 4 + len(streams)))
    contents = numbers if len(streams) == 1 else b"[" + numbers + b"]"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents " + contents + b">>",
        *(b"<</Filter%s/Length %d>>stream\n%s\nendstream" % (name, len(part), part) for part in streams),
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % pair for pair in enumerate(objects, start=1))
    return PdfDocument(b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>")


def flushed(content: bytes) -> bytes:
    """Return ``content`` compressed without a final block."""
    deflater = zlib.compressobj()
    return deflater.compress(content) + deflater.flush(zlib.Z_SYNC_FLUSH)


BLANK = zlib.compress(b"q 0 0 1 rg Q " * 40)
TEXT = zlib.compress(b"BT /F1 12 Tf 50 700 Td (The harbor master decides.) Tj ET")


@pytest.mark.parametrize(
    "streams",
    [
        (BLANK,),
        # The checksum is missing or wrong, which no reader of PDF minds.
        (BLANK[:-4],),
        (BLANK[:-1] + b"x",),
        # The end of the compressed data is missing as well: it is cut off, or was flushed and never finished.
        (BLANK[:-5],),
        (flushed(b"q 0 0 1 rg Q " * 40),),
        (b"",),
        (zlib.compress(b""),),
        (b"", BLANK),
        (zlib.compress(b"q Q " * 500_000),),
    ],
)
def test_a_blank_page_is_not_damaged(streams: tuple[bytes, ...]) -> None:
    check_content(pdf_of(*streams), 0)


@pytest.mark.parametrize(
    "streams",
    [
        (bytes(len(TEXT)),),
        (b"\xff\xff" + TEXT[2:],),
        (TEXT[:2] + b"\xff" * (len(TEXT) - 2),),
        (TEXT[:3],),
        (b"", b"\xff" * 40),
        (BLANK, b"\xff" * 40),
    ],
)
def test_content_that_cannot_be_decompressed_is_damaged(streams: tuple[bytes, ...]) -> None:
    with pytest.raises(PdfiumError, match="decompress"):
        check_content(pdf_of(*streams), 0)


@pytest.mark.parametrize("name", [b"[/FlateDecode]", b" [ /FlateDecode ]", b" /FlateDecode"])
def test_the_filter_may_be_the_only_one_of_a_list(name: bytes) -> None:
    check_content(pdf_of(BLANK, name=name), 0)
    with pytest.raises(PdfiumError, match="decompress"):
        check_content(pdf_of(b"\xff" * 40, name=name), 0)


def test_pages_with_nothing_in_them_or_a_picture_are_not_damaged() -> None:
    empty = FPDF()
    empty.add_page()
    check_content(PdfDocument(bytes(empty.output())), 0)
    check_content(PdfDocument(files.pdf_of_images(1)), 0)
    data = files.pdf([["Berth 4 is free."]])
    check_content(PdfDocument(data), 0)
    broken = re.sub(rb"(?<=stream\n)x.{8}", b"\xff" * 9, data, count=1, flags=re.DOTALL)
    with pytest.raises(PdfiumError):
        check_content(PdfDocument(broken), 0)
