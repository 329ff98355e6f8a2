"""Addresses of pages, and of other sites."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from wikigr.server.web.addresses import address, article_address, outside_address, quote_address


def test_names_are_only_in_the_query() -> None:
    found = urlsplit(article_address("notes", "../../etc/passwd?x=1&y#z"))
    assert found.path == "/article" and not found.fragment
    assert parse_qs(found.query) == {"pack": ["notes"], "title": ["../../etc/passwd?x=1&y#z"]}


def test_a_quotation_and_a_section() -> None:
    assert quote_address("p", "A", "A#2", 3, 9) == "/article?pack=p&title=A&section=A%232&start=3&end=9#quote"
    assert article_address("p", "A", "A#2") == "/article?pack=p&title=A&section=A%232#s2"
    assert address("/", {"q": "", "pack": None}) == "/"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//evil.example",
        "http://",
        "notes.md",
        "http://[x",
        None,
    ],
)
def test_only_web_addresses_become_links(url: str | None) -> None:
    assert outside_address(url) is None
    assert outside_address("https://example.org/a") == "https://example.org/a"
