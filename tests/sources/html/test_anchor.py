"""The ids at which headings and entries of HTML pages are found."""

from __future__ import annotations

import pytest
from tests.sources.html.test_entries import LONG

from wikigr.sources.html.text import parse_html


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
