"""Fuzz the parser of wikitext without the XML around it."""

from __future__ import annotations

from mwparserfromhell.parser import ParserError

from wikigr.sources.wikitext.page import WikiSite, parse_wikitext

_SITE = WikiSite({"file": 6, "category": 14}, page_url="http://w/")


def TestOneInput(data: bytes) -> None:
    try:
        page = parse_wikitext(data.decode("utf-8", "replace"), "Bees", _SITE)
    except (RecursionError, ParserError):
        return
    for section in page.sections:
        assert section.text.strip()
