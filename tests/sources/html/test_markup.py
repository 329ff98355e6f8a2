"""Encodings of HTML pages."""

from __future__ import annotations

import pytest

from wikigr.errors import RecordError
from wikigr.sources.html.markup import prepare_markup
from wikigr.sources.html.text import parse_html


def test_encodings() -> None:
    assert parse_html("<p>café".encode()).sections[0].text == "café"
    assert parse_html("<meta charset=windows-1251><p>Привет".encode("cp1251")).sections[0].text == "Привет"
    assert parse_html("\ufeff<p>naïve".encode("utf-16")).sections[0].text == "naïve"
    # Undeclared and no UTF-8: windows-1252; but declared, or good but for some damage, it is UTF-8.
    assert parse_html("<p>café – naïve".encode("cp1252")).sections[0].text == "café – naïve"
    assert parse_html(b"<meta charset=utf-8><p>bad \xff byte").sections[0].text == "bad \ufffd byte"
    assert parse_html("<p>é à ü ".encode() + b"\xff").sections[0].text == "é à ü \ufffd"


def test_the_encoding_of_an_xml_declaration_is_obeyed() -> None:
    markup = (
        '<?xml version="1.0" encoding="{}"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head>'
        "<title>Straße</title></head><body><p>Grüße aus Köln</p></body></html>"
    )
    for encoding in ("ISO-8859-1", "iso-8859-15", "windows-1252", "US-ASCII", "nonsense", "base64", "punycode"):
        data = markup.format(encoding).encode("latin-1")
        page = parse_html(data)
        assert (page.title, page.sections[0].text) == ("Straße", "Grüße aus Köln"), encoding
    # A <meta> comes first, and what can be read byte by byte is no UTF-16.
    meta = '<?xml version="1.0" encoding="koi8-r"?><meta charset="utf-8"><p>Grüße'
    assert parse_html(meta.encode()).sections[0].text == "Grüße"
    assert parse_html(markup.format("UTF-16").encode()).title == "Straße"


def test_a_binary_file_is_refused() -> None:
    with pytest.raises(RecordError, match=r"a\.html: the file is not HTML"):
        prepare_markup(b"PK\x03\x04\x14\x00\x06\x00<p>text</p>", "a.html")
    assert prepare_markup("<p>text</p>".encode("utf-16"), "a.html")
