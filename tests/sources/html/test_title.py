"""The title of a page."""

from __future__ import annotations

import pytest

from wikigr.sources.html.text import parse_html, parse_html_head


@pytest.mark.parametrize(
    ("tag", "heading", "title"),
    [
        ("Install — Tool 1.2 documentation", "Install", "Install"),
        ("Tool :: Install", "Install", "Install"),
        ("Install | Tool", "Other", "Install"),
        ("Vacuum - collect garbage", "Other", "Vacuum - collect garbage"),
        ("Chapter 3. Joins", "Chapter 3. Joins", "Joins"),
        ("4. Control Flow", "4.1. Loops", "Control Flow"),
        ("1. FC Köln", "History", "1. FC Köln"),
        ("", "Only a heading", "Only a heading"),
        ("<no title>", "", ""),
    ],
)
def test_title(tag: str, heading: str, title: str) -> None:
    markup = f"<title>{tag.replace('<', '&lt;')}</title><body><h1>{heading}</h1><p>text</p>"
    assert parse_html(markup).title == title
    assert parse_html_head(markup).title == title


def test_the_heading_over_the_content_is_the_site_in_a_title_that_ends_with_it() -> None:
    site = "<header><h1>Node.js v20 documentation</h1></header>"
    markup = f"<title>Net | Node.js v20 Documentation</title>{site}<div role=main><h2>Sockets</h2>{'text ' * 20}</div>"
    assert parse_html(markup).title == "Net"
