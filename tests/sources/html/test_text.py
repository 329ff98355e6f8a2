"""The content of an HTML page as plain text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.html.pages import body, lead

from wikigr.segmentation import sentence_spans
from wikigr.sources.facts import FACTS
from wikigr.sources.html.text import parse_html, state_infoboxes

SPHINX = """<!DOCTYPE html><html lang="en"><head>
<title>bisect — Array bisection &#8212; Example 3 documentation</title>
<script>var x = "script text";</script></head>
<body><div class="related" role="navigation"><a href="prev.html">previous</a></div>
<div class="document"><div class="body" role="main">
<section id="bisect"><h1><code>bisect</code> — Array bisection<a class="headerlink" href="#bisect">¶</a></h1>
<p>Keeps a <a class="reference" href="list.html#sorted">list</a> sorted.</p>
<dl class="py function"><dt class="sig" id="f"><span>bisect.</span>\
<span>insort</span>(<em>a</em>, <em>x</em>, <em>lo=0</em>)\
<a class="headerlink" href="#f">¶</a></dt><dd><p>Insert <em>x</em> in <em>a</em>.</p>
<p>Changed in version 3.10.</p></dd>
<dt>bisect.other()</dt><dd><p>Another.</p></dd></dl>
<section id="examples"><h2>Examples<a class="headerlink" href="#examples">¶</a></h2>
<div class="highlight"><pre><span class="k">def</span> f(x):
    <span class="k">return</span> x

# <a href="list.html">end</a>
</pre></div></section></section></div></div>
<div class="sphinxsidebar"><a href="toc.html">contents</a></div>
<div class="footer">Copyright</div></body></html>"""


def test_sphinx_page() -> None:
    page = parse_html(SPHINX)
    assert page.title == "bisect — Array bisection"
    assert page.language == "en"
    assert page.links == ("list.html",)
    assert [(s.heading_path, s.text) for s in page.sections] == [
        (
            (),
            "Keeps a list sorted.\n\n"
            "bisect.insort(a, x, lo=0)\n    Insert x in a.\n\n    Changed in version 3.10.\n\n"
            "bisect.other()\n    Another.",
        ),
        (("Examples",), "def f(x):\n    return x\n\n# end"),
    ]


DOCBOOK = """<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>25.1. Routine Vacuuming</title>
<script src="x.js"/></head>
<body><div class="navheader"><a href="prev.html">Prev</a></div><div class="sect1"><div class="titlepage">
<h2 class="title">25.1. Routine Vacuuming</h2></div><div class="toc"><a href="sub.html">25.1.1. Sub</a></div>
<a id="empty"/><p>Vacuum often.<a href="#ftn.1" class="footnote"><sup class="footnote">[1]</sup></a></p>
<div class="note"><h3 class="title">Note</h3><p>A remark.</p></div><p>After the note.</p>
<div class="sect2"><h3>25.1.1. Sub</h3><p>Text.</p></div></div>
<div class="navfooter">Next</div></body></html>"""


def test_docbook_page() -> None:
    page = parse_html(DOCBOOK.encode())
    assert page.title == "Routine Vacuuming"
    assert page.links == ("sub.html",)
    assert page.contents_links == 1
    assert [(s.heading_path, s.text) for s in page.sections] == [
        ((), "Vacuum often.\n\nNote\n\nA remark.\n\nAfter the note."),
        (("25.1.1. Sub",), "Text."),
    ]


WIKI = """<html><head><title>Ray Charles</title></head><body><div id="mw-content-text">
<h1>Ray Charles</h1><div class="hatnote">For others see <a href="Other">Other</a>.</div>
<table class="infobox"><tr><th colspan="2">Ray</th></tr>
<tr><th>Born</th><td>1930<br><a href="Albany%2C_Georgia#x">Albany, Georgia</a></td></tr>
<tr><th>Genres:</th><td><ul><li><a href="Soul">Soul</a></li><li>R&amp;B</li></ul></td></tr>
<tr><th>Died</th><td>June 10, 2004, in a house in <a href="Beverly">Beverly Hills</a></td></tr></table>
<p><b>Ray</b> sang<sup class="reference"><a href="#cite-1">[1]</a></sup> , <i>x<sup>2</sup></i> and
<span class="mwe-math-element"><span style="display: none">
<math alttext="{\\displaystyle E=mc^{2}}"><mi>E</mi></math>
</span><img alt="{\\displaystyle E=mc^{2}}" aria-hidden="true"></span>.</p>
<details><summary class="section-heading"><h2>Life<span class="mw-editsection">[edit]</span></h2></summary>
<h3>Youth</h3><p>Born poor.</p></details><h2>References</h2><ol class="references"><li>Book</li></ol>
<div class="navbox"><a href="Navigation">all singers</a></div></div>
<div id="catlinks"><ul><li><a href="c">Singers</a></li></ul></div></body></html>"""


def test_wikipedia_page() -> None:
    page = parse_html(WIKI)
    (infobox,) = page.infoboxes
    assert infobox.heading_path == ()
    assert infobox.rows == (
        ("Born", "1930", None),
        ("Born", "Albany, Georgia", "Albany%2C_Georgia"),
        ("Genres", "Soul", "Soul"),
        ("Genres", "R&B", None),
        ("Died", "June 10, 2004, in a house in Beverly Hills", None),
    )
    assert page.categories == ("Singers",)
    assert page.links == ("Albany%2C_Georgia", "Soul", "Beverly")
    assert [(s.heading_path, s.text) for s in page.sections] == [
        ((), "Ray sang, x^2 and E=mc^{2}."),
        (("Life", "Youth"), "Born poor."),
    ]


def test_inline_tags_neither_glue_words_nor_part_them() -> None:
    assert lead("<p>a<b>b</b>c <i>d</i>, (<code>e</code>)\n f&nbsp;g&amp;<span>h</span></p>") == "abc d, (e) f g&h"
    assert lead("<p>one</p><p>two<br>three</p><div>four<div>five</div></div>") == "one\n\ntwo\nthree\n\nfour\n\nfive"


def test_lists_nest_and_count() -> None:
    nested = "<ul><li><p>a</p><li>b</ul>"
    markup = f"<p>See:</p><ol start=3><li>three{nested}<li value=9><p>nine</p><p>more</p></ol><p>end"
    assert lead(markup) == "See:\n\n3. three\n   - a\n   - b\n9. nine\n\n   more\n\nend"


def test_list_item_with_code_keeps_the_code_verbatim() -> None:
    assert lead("<ul><li><pre>if x:\n    y</pre></ul>") == "-\nif x:\n    y"


def test_definitions_are_indented_under_their_terms() -> None:
    assert lead("<dl><dt>a<dt>b<dd>x<dt>c<dd>y</dl>z") == "a\nb\n    x\n\nc\n    y\n\nz"


def test_terms_code_and_rows_can_be_quoted() -> None:
    text = lead(
        "<dl><dt>-m<dt>--move<dd><p>Move or rename a branch. Keep its log.<dt>-c<dd>Copy it.</dl>"
        "<p>To create one, run:</p><div><pre>python -m venv \\\n    /path\n</pre></div>"
        "<ol><li>To leave it, type:<pre>deactivate</pre><li>Wait.</ol>"
        "<table><tr><th>Code<th>Meaning<tr><td>42P01<td>It is missing. Create it.</table>"
    )
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "-m\n--move\n    Move or rename a branch.",
        "Keep its log.",
        "-c\n    Copy it.",
        "To create one, run:\n\npython -m venv \\\n    /path",
        "1. To leave it, type:\n\ndeactivate",
        "2. Wait.",
        "Code: 42P01 | Meaning: It is missing. Create it.",
    ]


def test_table_rows_are_lines() -> None:
    rows = "<tr><th>Name<th>Size<tr><td><p>int</p><td>4 <a href=b>bytes</a>"
    markup = f"<table><caption>Ranges</caption>{rows}</table>"
    assert lead(markup) == "Ranges\nName: int | Size: 4 bytes"


def test_single_cell_rows_are_paragraphs() -> None:
    markup = "<table><tr><th>Function<tr><td><p>f(x)</p><p>Does it.</p><tr><td><p>g(x)</p><p>Too.</p></table>"
    assert lead(markup) == "Function\n\nf(x)\nDoes it.\n\ng(x)\nToo."


def test_layout_table_is_read_as_running_text() -> None:
    page = body("<table><tr><td><h2>Part</h2><p>Text.</p><pre>a\n  b</pre></td><td></td></tr></table>")
    assert [(s.heading_path, s.text) for s in page.sections] == [(("Part",), "Text.\n\na\n  b")]


def test_header_of_an_article_gives_its_headings_only() -> None:
    page = parse_html(
        "<title>Post | Blog</title><header><h1>Blog</h1></header>"
        "<article><header><h1>Post</h1><p>by me, 3 min</p></header><p>Text.</p></article>"
    )
    assert page.title == "Post"
    assert [(s.heading_path, s.text) for s in page.sections] == [((), "Text.")]


def test_headings_make_paths_and_empty_sections_are_left_out() -> None:
    page = body("<h1>Page</h1><h2>A</h2><h4>B</h4><p>b</p><h3>C</h3><p>c</p><h2>D</h2><h2>E</h2>e")
    assert [(s.heading_path, s.text) for s in page.sections] == [
        (("A", "B"), "b"),
        (("A", "C"), "c"),
        (("E",), "e"),
    ]


def test_link_density_counts_link_text() -> None:
    assert body("<p><a href=x>abcd</a> efgh</p>").link_density == pytest.approx(0.5)
    assert body("<table><tr><td><a href=x>abcd</a><td>ef gh</table>").link_density == pytest.approx(0.5)


def test_deep_nesting_does_not_exhaust_the_stack() -> None:
    assert parse_html("<div>" * 5000 + "deep").sections[0].text == "deep"


TAGS = (
    "p",
    "ul",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "tr",
    "td",
    "pre",
    "h2",
    "a",
    "div",
    "math",
    "q",
    "sup",
    "header",
)

TAG_SOUP = [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(TAG_SOUP),
        max_size=30,
    )
)
def test_any_tag_soup_gives_sections_with_text(pieces: list[str]) -> None:
    page = parse_html(" ".join(pieces))
    for section in page.sections:
        assert section.text.strip()
        assert not set(section.text) & {"\x00", "\x01"}


def test_the_rows_of_a_nested_infobox_table_are_fields() -> None:
    inner = "<table><tr><th>b</th><td>2</td></tr></table>"
    rows = f"<tr><th>a</th><td>1</td></tr><tr><td colspan=2>{inner}</td></tr><tr><th>c</th><td>{inner}</td></tr>"
    page = body(f"<p>x</p><table class=infobox>{rows}</table>")
    assert [box.rows for box in page.infoboxes] == [(("a", "1", None), ("b", "2", None), ("b", "2", None))]


def test_an_infobox_belongs_to_the_headings_above_it() -> None:
    box = "<table class=infobox><tr><th>{}</th><td>1</td></tr></table>"
    page = body(f"{box.format('a')}<p>x</p><h2>B</h2>{box.format('b')}<h3>C</h3><p>y</p>{box.format('c')}")
    found = [(box.heading_path, box.rows[0][0]) for box in page.infoboxes]
    assert found == [((), "a"), (("B",), "b"), (("B", "C"), "c")]


def test_the_facts_below_a_heading_without_text_have_its_anchor() -> None:
    box = "<table class=infobox><tr><th>a</th><td>1</td></tr></table>"
    page = body(f"<p>x</p><h2 id=b>B</h2>{box}<h3 id=c>C</h3><p>y</p>")
    sections, _ = state_infoboxes("T", page.sections, page.infoboxes, lambda href: None)
    assert [(section.heading_path, section.anchor) for section in sections] == [
        ((), ""),
        (("B", FACTS), "b"),
        (("B", "C"), "c"),
    ]


def test_the_sidebar_of_an_author_is_text() -> None:
    aside = "<aside class=sidebar><p class=sidebar-title>Side</p><p>Note it.</p></aside>"
    assert lead(f"<p>Text.</p>{aside}") == "Text.\n\nSide\n\nNote it."


def test_the_header_of_a_part_is_text() -> None:
    part = "<header><h2>Sec</h2><p>Intro <a href=x>here</a>.</p></header><p>Text.</p>"
    for markup in (f"<article><h1>Page</h1>{part}</article>", f"<section><div>{part}</div></section>"):
        page = body(markup)
        assert [(s.heading_path, s.text) for s in page.sections] == [(("Sec",), "Intro here.\n\nText.")]
        assert page.links == ("x",)
    for heading in ("<h2>Page</h2>", "<h1>Other</h1>"):
        page = body(f"<article><header>{heading}<p>by me</p></header>Text.</article>")
        assert [section.text for section in page.sections] == ["Text."]


def test_backlinks_of_footnotes_are_left_out() -> None:
    for link in ("<a class=footnote-backref href=#fnref:1>↩</a>", "<a href=#fnref1>↩︎</a>"):
        assert lead(f"<p>x</p><ol><li id=fn1>The note. {link}</ol>") == "x\n\n1. The note."


def test_a_contents_list_of_the_page_itself_is_not_a_list_of_pages() -> None:
    page = body("<ul class=table-of-contents><li><a href=#a>A</a><li><a href=b.html>B</a></ul><p>x")
    assert page.contents_links == 1


@pytest.mark.parametrize(
    "piece",
    ["<h2><div><a href=#x>#</a>x", "<table><tr><td rowspan=9>a<td>b", "<div role=tablist><b role=tab>x</b>"],
)
def test_nested_headings_tables_and_tabs_are_fast(piece: str) -> None:
    start = time.process_time()
    parse_html(piece * 2000)
    assert time.process_time() - start < 10
