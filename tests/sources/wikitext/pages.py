"""Pages parsed from wikitext."""

from __future__ import annotations

from wikigr.sources.wikitext.page import WikiPage, WikiSite, parse_wikitext

SITE = WikiSite({"datei": 6, "kategorie": 14, "file": 6, "category": 14}, page_url="https://w.example/wiki/")


def parse(wikitext: str, title: str = "Subject", site: WikiSite = SITE) -> WikiPage:
    return parse_wikitext(wikitext, title, site)


def text_of(wikitext: str) -> str:
    sections = parse(wikitext).sections
    assert all(section.heading_path == () for section in sections)
    return "\n\n".join(section.text for section in sections)
