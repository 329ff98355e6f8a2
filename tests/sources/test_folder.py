"""Links between the files of a folder."""

from __future__ import annotations

import pytest

from wikigr.sources.folder import resolve_link


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("b.html", "d/b.html"),
        ("../b.html?x#y", "b.html"),
        ("./", "d/index.html"),
        ("..", "index.html"),
        ("guide", "d/guide.html"),
        ("a%20b.html", "d/a b.html"),
        ("page.html", None),
        ("#top", None),
        ("/abs.html", None),
        ("//host/x.html", None),
        ("javascript:f()", None),
        ("../../out.html", None),
        ("x.css", None),
        ("http://[bad", None),
    ],
)
def test_resolve_link(href: str, target: str | None) -> None:
    assert resolve_link("d/page.html", href, (".html", ".htm")) == target
