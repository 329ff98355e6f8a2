"""Boilerplate is dropped and content is kept."""

from __future__ import annotations

import pytest
from tests.sources.html.pages import lead

from wikigr.sources.html.boilerplate import BOILERPLATE, TABLES_OF_CONTENTS


@pytest.mark.parametrize(
    "hidden",
    [
        "<nav>x</nav>",
        "<aside>x</aside>",
        "<footer>x</footer>",
        "<p hidden>x</p>",
        "<p style='display:none'>x</p>",
        "<span aria-hidden='true'>x</span>",
        "<style>x</style>",
        "<noscript>x</noscript>",
        "<button>x</button>",
        "<!--htdig_noindex--><p>x</p><!--/htdig_noindex-->",
    ],
)
def test_boilerplate_is_dropped(hidden: str) -> None:
    assert lead(f"<p>kept</p>{hidden}") == "kept"


def test_no_index_mark_that_is_never_closed_hides_nothing() -> None:
    assert lead("<p>a</p><!--noindex--><p>b</p>") == "a\n\nb"


@pytest.mark.parametrize(
    "element",
    [
        '<div class="rst-breadcrumbs-buttons">',
        '<div class="nav-chapters">',
        '<div id="side-nav">',
        '<div id="jump-to-nav">',
        '<div class="footer">',
        "<aside>",
        '<aside class="sidebar">',
    ],
)
def test_boilerplate_is_left_out(element: str) -> None:
    tag = element[1:].split(" ")[0].rstrip(">")
    assert lead(f"<p>Text.</p>{element}Away</{tag}>") == "Text."


def test_every_boilerplate_selector_is_whole() -> None:
    for selector in ", ".join((BOILERPLATE, TABLES_OF_CONTENTS)).split(", "):
        assert selector and not selector.endswith("-") and "- " not in selector


@pytest.mark.parametrize(
    "attributes",
    ["role=note", 'class="starlight-aside starlight-aside--tip"', 'class="callout"', 'class="admonition warning"'],
)
def test_asides_that_are_notes_are_text(attributes: str) -> None:
    assert lead(f"<p>Text.</p><aside {attributes}><h3>Note</h3>Mind it.</aside>") == "Text.\n\nNote\n\nMind it."


@pytest.mark.parametrize(
    "element",
    [
        "<div class=topNav>",
        "<div class=subNav>",
        "<div class=bottomNav>",
        "<p class=legalCopy>",
        "<div class=top-nav>",
        "<div class='toc-x theme-doc-toc-desktop'>",
        "<span class='theme-doc-version-badge badge'>",
        "<ul class=table-of-contents>",
        "<table class=nav>",
    ],
)
def test_what_generators_put_around_the_text_is_left_out(element: str) -> None:
    tag = element[1:].split(" ")[0]
    inner = "<tr><td>" if tag == "table" else ""
    assert lead(f"<p>Text.</p>{element}{inner}Away</{tag}>") == "Text."
