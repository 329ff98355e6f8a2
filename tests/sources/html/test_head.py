"""What a page says about itself: title, heading and redirect; its anchors."""

from __future__ import annotations

import pytest

from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.html.head import find_heading, find_redirect
from wikigr.sources.html.text import parse_html

LONG = "It says a good deal about what this does and when one would want to use it. " * 3


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


def test_the_heading_over_the_content_is_the_site_in_a_title_that_ends_with_it() -> None:
    site = "<header><h1>Node.js v20 documentation</h1></header>"
    markup = f"<title>Net | Node.js v20 Documentation</title>{site}<div role=main><h2>Sockets</h2>{'text ' * 20}</div>"
    assert parse_html(markup).title == "Net"


@pytest.mark.parametrize(
    ("markup", "heading"),
    [
        ("<h3>Before</h3><h1>1.2. Own</h1>", "Own"),
        ("<h3>First</h3><h2>Second</h2>", "First"),
        ("<header><h1>Site</h1></header><nav><h2>Menu</h2></nav><h2>Own</h2>", "Own"),
        ("<header><h1>Site</h1></header><article><header><h1>Own</h1></header></article>", "Own"),
        # Numbers that the headings below go on with; a page of several parts.
        ("<h1>1. Own</h1><h2>1.1. More</h2>", "Own"),
        ("<h1>1. FC</h1><h2>More</h2>", "1. FC"),
        ("<h1>One</h1><h2>x</h2><h1>Two</h1>", ""),
        ("<p>none", ""),
    ],
)
def test_heading_of_the_content(markup: str, heading: str) -> None:
    assert find_heading(HtmlDocument(markup)) == heading


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        ("<meta http-equiv=Refresh content=\"0; URL='b.html#x'\">", "b.html#x"),
        ('<meta http-equiv="refresh" content="300; url=b.html">', None),
        ('<head><noscript><meta http-equiv="refresh" content="0; url=b.html"></noscript></head>', None),
    ],
)
def test_meta_refresh_is_a_redirect_unless_it_is_for_browsers_without_scripts(markup: str, target: str | None) -> None:
    assert find_redirect(HtmlDocument(markup)) == target


def anchors(body: str) -> list[str]:
    page = parse_html(f"<html><head><title>T</title></head><body><main>{body}</main></body></html>")
    return [section.anchor for section in page.sections]


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<h2 id=use>Use</h2>", "use"),
        # MediaWiki, Apache and older pages
        ('<h2><span class="mw-headline" id="Use">Use</span></h2>', "Use"),
        ('<h2><a name="use">Use</a></h2>', "use"),
        ('<a name="use"></a>\n<h2>Use</h2>', "use"),
        ('<p>Before.</p><a name="use"></a><!-- here --><hr><h2>Use</h2>', "use"),
        # Sphinx, DocBook and rustdoc
        ("<section id=use><h2>Use<a class=headerlink href='#use'>¶</a></h2>", "use"),
        ("<p>Before.</p><div id=use><div class=titlepage><div><h2>Use</h2></div></div>", "use"),
        ("<section id=use><a class=srclink href=x.html>source</a><h2>Use</h2>", "use"),
        # What is not shown or read has ids of its own
        ("<section id=use><style id=css>b {}</style><h2>Use</h2>", "use"),
        ("<section id=use><script id=js>f()</script><h2>Use</h2>", "use"),
        ("<section id=use><nav id=nav><a href=x>One</a></nav><h2>Use</h2>", "use"),
        ("<section id=use><div hidden id=more>More.</div><h2>Use</h2>", "use"),
        # The nearest of several, and one with characters that an address has no place for
        ("<section id=far><span id=near></span><h2>Use</h2>", "near"),
        ("<h2 id='100% <T>'>Use</h2>", "100% <T>"),
        # Text stands between, or the name is that of a field, empty or endless
        ("<section id=use><p>Before.</p><h2>Use</h2>", ""),
        ("<p id=use>Before.</p><h2>Use</h2>", ""),
        ("<input name=use><h2>Use</h2>", ""),
        ("<h2 id=''>Use</h2>", ""),
        (f"<h2 id={'u' * 501}>Use</h2>", ""),
    ],
)
def test_a_heading_has_the_id_at_which_it_is_shown(markup: str, anchor: str) -> None:
    assert anchors(f"{markup}<p>{LONG}</p>")[-1] == anchor


def test_the_body_is_not_the_anchor_of_its_first_heading() -> None:
    page = parse_html(f"<title>T</title><body id=top><h2>Use</h2><p>{LONG}</p>")
    assert [section.anchor for section in page.sections] == [""]


def test_a_heading_without_an_id_has_the_anchor_of_the_heading_above_it() -> None:
    text = f"<p>{LONG}</p>"
    markup = f"{text}<h2 id=a>A</h2>{text}<h3>B</h3>{text}<h4 id=c>C</h4>{text}<h2>D</h2>{text}"
    assert anchors(markup) == ["", "a", "a", "c", ""]


def test_an_entry_has_the_id_of_its_term_and_the_text_after_it_that_of_the_heading() -> None:
    markup = f"<h2 id=api>API</h2><p>{LONG}</p><dl><dt id=m.run>run(x)</dt><dd>{LONG}</dd></dl><p>After.</p>"
    assert anchors(markup) == ["api", "m.run", "api"]
