"""Pages parsed from text."""

from __future__ import annotations

from wikigr.sources.html.text import HtmlPage, parse_html


def body(markup: str, title: str = "Page") -> HtmlPage:
    return parse_html(f"<html><head><title>{title}</title></head><body>{markup}</body></html>")


def lead(markup: str) -> str:
    (section,) = body(markup).sections
    assert section.heading_path == ()
    return section.text
