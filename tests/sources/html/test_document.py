"""The content area, headings and redirect of a parsed page."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sources.html.pages import body, lead

from wikigr.sources.article import SourceArticle
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource
from wikigr.sources.html.text import parse_html, parse_html_head


def test_meta_refresh_is_a_redirect_unless_it_is_for_browsers_without_scripts() -> None:
    assert parse_html("<meta http-equiv=Refresh content=\"0; URL='b.html#x'\">").is_redirect_to == "b.html#x"
    assert parse_html('<meta http-equiv="refresh" content="300; url=b.html">').is_redirect_to is None
    noscript = '<head><noscript><meta http-equiv="refresh" content="0; url=b.html"></noscript></head>'
    assert parse_html(noscript).is_redirect_to is None


@pytest.mark.parametrize("area", ["<article>Card.</article>", "<main>Card.</main>", "<div role=main>Card.</div>"])
def test_a_small_content_area_does_not_take_the_place_of_the_page(area: str) -> None:
    assert "the page itself" in lead(f"<p>{'the page itself ' * 20}</p>{area}")
    whole = area.replace("Card.", "the page itself " * 20)
    assert "Aside" not in lead(f"<p>Aside</p>{whole}")


def test_buttons_in_headings_and_summaries_are_text() -> None:
    page = body("<h2><button>Usage</button></h2><details><summary><button>More</button></summary>x</details>")
    assert [(section.heading_path, section.text) for section in page.sections] == [(("Usage",), "More\nx")]
    assert lead("<p>Text. <button>Go</button></p>") == "Text."


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<i>x</i><sup>n</sup>", "x^n"),
        ("10<sup>-19</sup>", "10^-19"),
        ("e<sup>−x<sup>2</sup></sup>", "e^{−x^2}"),
        ("(a+b)<sup>n+1</sup>", "(a+b)^{n+1}"),
        ("m<sup>2</sup>/s", "m^2/s"),
        ("5<sup>1</sup>/<sub>2</sub>", "5 1/2"),
        ("19<sup>th</sup>", "19th"),
        ("Ca<sup>2+</sup> and Na<sup>+</sup>", "Ca2+ and Na+"),
        ("said<sup>[1]</sup> so<sup>*</sup>", "said[1] so*"),
        ("said<sup><a href='#n1'>1</a></sup> so", "said so"),
        ("<sup>235</sup>U", "235U"),
    ],
)
def test_superscripts(markup: str, text: str) -> None:
    assert lead(f"<p>{markup}</p>") == text
    if "sub" not in markup and "a href" not in markup:
        (article,) = FolderSource(Path("a.md"), "markdown").parse(NoteRecord("a.md", markup.encode(), "a"))
        assert isinstance(article, SourceArticle) and article.sections[0].text == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("He sang.<sup><a href='#cite_note-10'>[10]</a></sup><sup><a href='#n15'>[15]</a></sup> He won.",
         "He sang. He won."),
        ("He sang <a href='Ray#cite_note-10'>[10]</a>.", "He sang."),
        ("He sang <a href='#cite_note-a'><sup>[note 1]</sup></a>, twice.", "He sang, twice."),
        ("He sang<sup>[<i><a href='Wikipedia:Citation_needed'>citation needed</a></i>]</sup>.", "He sang."),
        ("He sang<sup>[When?]</sup>.", "He sang."),
        # What is not a footnote.
        ("<code>a[10]</code> and b[1] by [sic] [10]", "a[10] and b[1] by [sic] [10]"),
        ("<a href='#item'>[item]</a> and <a href='list.html'>a[10]</a>", "[item] and a[10]"),
        ("See <a href='#cite_note-10'>note 10</a>.", "See note 10."),
        ("a<sup>[1]</sup>", "a[1]"),
    ],
)  # fmt: skip
def test_marks_of_footnotes_are_left_out(markup: str, text: str) -> None:
    assert lead(f"<p>{markup}</p>") == text


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("Buffer<span><a class=mark href=#b id=b>#</a></span>", "Buffer"),
        ("<a class=x href=#e>§</a>Examples", "Examples"),
        ("type Builder <a href='/p#Builder'>¶</a>", "type Builder"),
        ("Struct <span>Vec</span><wbr><button title=Copy>Copy item path</button>", "Struct Vec"),
        ("Next steps<a class=hash-link href=#next>Direct link</a>", "Next steps"),
        ("Both<a href=#b>\U0001f517\ufe0e</a>", "Both"),
        # What else would be left of these?
        ("<a class=anchor href=#i>Install</a>", "Install"),
        ("<a class=header href=#i>Install</a>", "Install"),
        ("<button>Usage</button><a href=#u>#</a>", "Usage"),
        ("<a href=#hash>#</a>", "#"),
        ("C<a href=csharp.html>#</a>", "C#"),
    ],
)
def test_permalinks_and_buttons_are_not_part_of_a_heading(heading: str, text: str) -> None:
    (section,) = body(f"<h2>{heading}</h2><p>x</p>").sections
    assert section.heading_path == (text,)


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
    assert parse_html_head(markup).heading == heading
