"""HTML to text: what is kept, what is dropped, and how structure reads as text."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikigr.sources.article import SourceArticle
from wikigr.sources.html.boilerplate import BOILERPLATE, TABLES_OF_CONTENTS
from wikigr.sources.html.text import HtmlPage, parse_html, parse_html_head
from wikigr.sources.markdown.source import MarkdownRecord, MarkdownSource


def body(markup: str, title: str = "Page") -> HtmlPage:
    return parse_html(f"<html><head><title>{title}</title></head><body>{markup}</body></html>")


def lead(markup: str) -> str:
    (section,) = body(markup).sections
    assert section.heading_path == ()
    return section.text


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
    page = parse_html(WIKI, strip_title_suffix=False)
    assert page.infobox == (
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


def test_table_rows_are_lines() -> None:
    rows = "<tr><th>Name<th>Size<tr><td><p>int</p><td>4 <a href=b>bytes</a>"
    markup = f"<table><caption>Ranges</caption>{rows}</table>"
    assert lead(markup) == "Ranges\nName | Size\nint | 4 bytes"


def test_single_cell_rows_are_paragraphs() -> None:
    markup = "<table><tr><th>Function<tr><td><p>f(x)</p><p>Does it.</p><tr><td><p>g(x)</p><p>Too.</p></table>"
    assert lead(markup) == "Function\n\nf(x)\nDoes it.\n\ng(x)\nToo."


def test_layout_table_is_read_as_running_text() -> None:
    page = body("<table><tr><td><h2>Part</h2><p>Text.</p><pre>a\n  b</pre></td><td></td></tr></table>")
    assert [(s.heading_path, s.text) for s in page.sections] == [(("Part",), "Text.\n\na\n  b")]


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


def test_encodings() -> None:
    assert parse_html("<p>café".encode()).sections[0].text == "café"
    assert parse_html("<meta charset=windows-1251><p>Привет".encode("cp1251")).sections[0].text == "Привет"
    assert parse_html("\ufeff<p>naïve".encode("utf-16")).sections[0].text == "naïve"
    # Undeclared and no UTF-8: windows-1252; but declared, or good but for some damage, it is UTF-8.
    assert parse_html("<p>café – naïve".encode("cp1252")).sections[0].text == "café – naïve"
    assert parse_html(b"<meta charset=utf-8><p>bad \xff byte").sections[0].text == "bad \ufffd byte"
    assert parse_html("<p>é à ü ".encode() + b"\xff").sections[0].text == "é à ü \ufffd"


def test_meta_refresh_is_a_redirect_unless_it_is_for_browsers_without_scripts() -> None:
    assert parse_html("<meta http-equiv=Refresh content=\"0; URL='b.html#x'\">").is_redirect_to == "b.html#x"
    assert parse_html('<meta http-equiv="refresh" content="300; url=b.html">').is_redirect_to is None
    noscript = '<head><noscript><meta http-equiv="refresh" content="0; url=b.html"></noscript></head>'
    assert parse_html(noscript).is_redirect_to is None


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
TAG_SOUP += ["text", "1", "<br>", "<a href='x'>", "&#0;", "\x01", "<frameset>", "<!--noindex-->"]


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


@pytest.mark.parametrize("area", ["<article>Card.</article>", "<main>Card.</main>", "<div role=main>Card.</div>"])
def test_a_small_content_area_does_not_take_the_place_of_the_page(area: str) -> None:
    assert "the page itself" in lead(f"<p>{'the page itself ' * 20}</p>{area}")
    whole = area.replace("Card.", "the page itself " * 20)
    assert "Aside" not in lead(f"<p>Aside</p>{whole}")


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
        assert not selector.endswith("-") and "- " not in selector


@pytest.mark.parametrize(
    "attributes",
    ["role=note", 'class="starlight-aside starlight-aside--tip"', 'class="callout"', 'class="admonition warning"'],
)
def test_asides_that_are_notes_are_text(attributes: str) -> None:
    assert lead(f"<p>Text.</p><aside {attributes}><h3>Note</h3>Mind it.</aside>") == "Text.\n\nNote\n\nMind it."


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
        (article,) = MarkdownSource(Path("a.md")).parse(MarkdownRecord("a.md", markup.encode(), "a"))
        assert isinstance(article, SourceArticle) and article.sections[0].text == text


def test_the_rows_of_a_nested_infobox_table_are_fields() -> None:
    inner = "<table><tr><th>b</th><td>2</td></tr></table>"
    rows = f"<tr><th>a</th><td>1</td></tr><tr><td colspan=2>{inner}</td></tr><tr><th>c</th><td>{inner}</td></tr>"
    page = body(f"<p>x</p><table class=infobox>{rows}</table>")
    assert page.infobox == (("a", "1", None), ("b", "2", None), ("b", "2", None))


def test_the_encoding_of_an_xml_declaration_is_obeyed() -> None:
    markup = (
        '<?xml version="1.0" encoding="{}"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head>'
        "<title>Straße</title></head><body><p>Grüße aus Köln</p></body></html>"
    )
    for encoding in ("ISO-8859-1", "iso-8859-15", "windows-1252", "US-ASCII", "nonsense", "base64", "punycode"):
        data = markup.format(encoding).encode("latin-1")
        page = parse_html(data)
        assert (page.title, page.sections[0].text) == ("Straße", "Grüße aus Köln"), encoding
    # A <meta> comes first, and what can be read byte by byte is no UTF-16.
    meta = '<?xml version="1.0" encoding="koi8-r"?><meta charset="utf-8"><p>Grüße'
    assert parse_html(meta.encode()).sections[0].text == "Grüße"
    assert parse_html(markup.format("UTF-16").encode()).title == "Straße"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "<tr><th>N<th>Min<th>Max<tr><td rowspan=2>Alpha<td>1<td>2<tr><td>3<td>4",
            "N | Min | Max\nAlpha | 1 | 2\nAlpha | 3 | 4",
        ),
        (
            "<tr><th rowspan=2>N<th colspan=2>Size<tr><th>Min<th>Max<tr><td>a<td>1<td>2",
            "N | Size | Size\nN | Min | Max\na | 1 | 2",
        ),
        ("<tr><td>a<td rowspan=3>z<tr><td>b<tr><td>c", "a | z\nb | z\nc | z"),
        ("<tr><td rowspan=2 colspan=2>a<td>1<tr><td>2", "a | a | 1\na | a | 2"),
        # A heading across the table, and one row that has nothing to line up with.
        ("<tr><th>x<th>y<tr><th colspan=2>Part<tr><td>1<td>2", "x | y\n\nPart\n\n1 | 2".replace("\n\n", "\n")),
        ("<tr><td>By<td colspan=3>Anon", "By | Anon"),
        # "0" is all rows of the group; a span ends with its group; what is no number is none.
        (
            "<thead><tr><th rowspan=9>a<th>b<tbody><tr><td rowspan=0>c<td>1<tr><td>2<tfoot><tr><td>d<td>3",
            "a | b\nc | 1\nc | 2\nd | 3",
        ),
        ("<tr><td rowspan='1000000'>a<td>1<tr><td>2", "a | 1\na | 2"),
        ("<tr><td rowspan=-2 colspan=0>a<td colspan='x'>1<tr><td rowspan=' +1.5'>b<td>2", "a | 1\nb | 2"),
    ],
)
def test_cells_stand_in_all_rows_and_columns_that_they_span(rows: str, text: str) -> None:
    assert lead(f"<p>t</p><table>{rows}</table>") == f"t\n\n{text}"


def test_what_spanning_cells_repeat_is_bounded() -> None:
    cell = f"<td rowspan=60000 colspan=1000>{'x' * 100}"
    page = parse_html(f"<table><tr>{cell * 100}{'<tr><td>y' * 5000}</table>")
    assert sum(len(section.text) for section in page.sections) < 1_100_000


def test_repeated_cells_count_once_in_the_density_of_links() -> None:
    rows = "<tr><td rowspan=2><a href=x>abcd</a><td>e<tr><td>fgh"
    assert body(f"<p>p</p><table>{rows}</table>").link_density == pytest.approx(4 / 9)


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
def test_permalinks_and_buttons_are_no_part_of_a_heading(heading: str, text: str) -> None:
    (section,) = body(f"<h2>{heading}</h2><p>x</p>").sections
    assert section.heading_path == (text,)


@pytest.mark.parametrize(
    "hidden", ["hidden", "hidden=true", "aria-hidden=true", "style='display:none'", "class=hidden"]
)
def test_a_panel_that_waits_for_its_tab_is_text(hidden: str) -> None:
    panels = f"<div role=tabpanel><p>npm i</div><div role=tabpanel {hidden}><p>yarn add</div>"
    assert lead(panels) == "npm i\n\nyarn add"
    assert lead(f"<p>x</p><div hidden>{panels}</div>") == "x"


@pytest.mark.parametrize(
    "tabs",
    [
        # Docusaurus, sphinx-tabs, Starlight, MkDocs Material.
        "<ul role=tablist><li role=tab>C<li role=tab>C++</ul>"
        "<div><div role=tabpanel>int</div><div role=tabpanel hidden>auto</div></div>",
        "<div role=tablist><button role=tab>C</button><button role=tab>C++</button></div>"
        "<div role=tabpanel>int</div><div role=tabpanel hidden=true>auto</div>",
        "<x-tabs><div><ul role=tablist><li><a role=tab>C</a><li><a role=tab>C++</a></ul></div>"
        "<div role=tabpanel>int</div><div role=tabpanel hidden>auto</div></x-tabs>",
        "<div class=tabbed-labels><label>C</label><label>C++</label></div>"
        "<div class=tabbed-content><div class=tabbed-block>int</div><div class=tabbed-block>auto</div></div>",
    ],
)
def test_the_label_of_a_tab_stands_at_its_panel(tabs: str) -> None:
    for twice in (f"<div>{tabs}</div><div>{tabs}</div>", tabs * 2):
        assert lead(twice) == "\n\n".join(["C", "int", "C++", "auto"] * 2)


def test_labels_without_as_many_panels_stay_where_they_are() -> None:
    tabs = "<ul role=tablist><li role=tab>A<li role=tab>B</ul><div role=tabpanel>one</div>"
    assert lead(tabs) == "- A\n- B\n\none"


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


def test_backlinks_of_footnotes_are_left_out() -> None:
    for link in ("<a class=footnote-backref href=#fnref:1>↩</a>", "<a href=#fnref1>↩︎</a>"):
        assert lead(f"<p>x</p><ol><li id=fn1>The note. {link}</ol>") == "x\n\n1. The note."


def test_a_contents_list_of_the_page_itself_is_no_list_of_pages() -> None:
    page = body("<ul class=table-of-contents><li><a href=#a>A</a><li><a href=b.html>B</a></ul><p>x")
    assert page.contents_links == 1


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
    assert parse_html_head(markup).heading == heading


@pytest.mark.parametrize(
    "piece",
    ["<h2><div><a href=#x>#</a>x", "<table><tr><td rowspan=9>a<td>b", "<div role=tablist><b role=tab>x</b>"],
)
def test_headings_tables_and_tabs_nested_in_each_other_take_no_minutes(piece: str) -> None:
    start = time.process_time()
    parse_html(piece * 2000)
    assert time.process_time() - start < 10


def test_rows_after_a_very_wide_row_that_spans_them_take_no_minutes() -> None:
    start = time.process_time()
    parse_html(f"<table><tr>{'<td rowspan=60000>' * 20_000}{'<tr><td>y' * 40_000}</table>")
    assert time.process_time() - start < 10
