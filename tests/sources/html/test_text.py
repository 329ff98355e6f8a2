"""The content of an HTML page as plain text: one table of markup and text, and whole pages."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.markdown.notes import article

from wikigr.sources.facts import FACTS
from wikigr.sources.html.boilerplate import BOILERPLATE, TABLES_OF_CONTENTS
from wikigr.sources.html.text import HtmlPage, parse_html, state_infoboxes


def body(markup: str) -> HtmlPage:
    return parse_html(f"<html><head><title>Page</title></head><body>{markup}</body></html>")


def texts(page: HtmlPage) -> list[tuple[tuple[str, ...], str]]:
    return [(section.heading_path, section.text) for section in page.sections]


def lead(markup: str) -> str:
    ((path, text),) = texts(body(markup))
    assert path == ()
    return text


def infoboxes(page: HtmlPage) -> list[tuple[tuple[str, ...], str, str, str | None]]:
    return [(box.heading_path, x.relation, x.object, x.object_link) for box in page.infoboxes for x in box.triples]


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
    assert page.links == ("list.html",)
    assert texts(page) == [
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
    assert texts(page) == [
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
    assert infoboxes(page) == [
        ((), "born", "1930", None),
        ((), "born", "Albany, Georgia", "Albany%2C_Georgia"),
        ((), "genres", "Soul", "Soul"),
        ((), "genres", "R&B", None),
        ((), "died", "June 10, 2004, in a house in Beverly Hills", None),
    ]
    assert page.categories == ("Singers",)
    assert page.links == ("Albany%2C_Georgia", "Soul", "Beverly")
    assert texts(page) == [
        ((), "Ray sang, x^2 and E=mc^{2}."),
        (("Life", "Youth"), "Born poor."),
    ]


NESTED_LIST = "<ul><li><p>a</p><li>b</ul>"
CELLS = "<tr><td>{}<td>1<tr><td>2"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        # Inline tags neither glue words nor part them.
        ("<p>a<b>b</b>c <i>d</i>, (<code>e</code>)\n f&nbsp;g&amp;<span>h</span></p>", "abc d, (e) f g&h"),
        ("<p>one</p><p>two<br>three</p><div>four<div>five</div></div>", "one\n\ntwo\nthree\n\nfour\n\nfive"),
        # Lists nest and count, code in them stays verbatim, and definitions are indented under their terms.
        (f"<p>See:</p><ol start=3><li>three{NESTED_LIST}<li value=9><p>nine</p><p>more</p></ol><p>end",
         "See:\n\n3. three\n   - a\n   - b\n9. nine\n\n   more\n\nend"),
        ("<ul><li><pre>if x:\n    y</pre></ul>", "-\nif x:\n    y"),
        ("<dl><dt>a<dt>b<dd>x<dt>c<dd>y</dl>z", "a\nb\n    x\n\nc\n    y\n\nz"),
        # Rows of tables are lines, or paragraphs with a single cell; cells stand wherever they span.
        ("<table><caption>Ranges</caption><tr><th>Name<th>Size<tr><td><p>int</p><td>4 <a href=b>bytes</a></table>",
         "Ranges\nName: int | Size: 4 bytes"),
        ("<table><tr><th>Function<tr><td><p>f(x)</p><p>Does it.</p><tr><td><p>g(x)</p><p>Too.</p></table>",
         "Function\n\nf(x)\nDoes it.\n\ng(x)\nToo."),
        ("<table><tr><th>N<th>Min<th>Max<tr><td rowspan=2>Alpha<td>1<td>2<tr><td>3<td>4</table>",
         "N: Alpha | Min: 1 | Max: 2\nN: Alpha | Min: 3 | Max: 4"),
        ("<table><tr><th rowspan=2>N<th colspan=2>Size<tr><th>Min<th>Max<tr><td>a<td>1<td>2</table>",
         "N: a | Size Min: 1 | Size Max: 2"),
        ("<table><tr><td>a<td rowspan=3>z<tr><td>b<tr><td>c</table>", "a | z\nb | z\nc | z"),
        ("<table><tr><td rowspan=2 colspan=2>a<td>1<tr><td>2</table>", "a | a | 1\na | a | 2"),
        # A heading across the table, and one row that has nothing to line up with.
        ("<table><tr><th>x<th>y<tr><th colspan=2>Part<tr><td>1<td>2</table>", "Part\nx: 1 | y: 2"),
        ("<table><tr><td>By<td colspan=3>Anon</table>", "By | Anon"),
        # "0" is all rows of the group; a span ends with its group; what is no number is none.
        ("<table><thead><tr><th rowspan=9>a<th>b<tbody><tr><td rowspan=0>c<td>1<tr><td>2<tfoot><tr><td>d<td>3</table>",
         "a: c | b: 1\na: c | b: 2\na: d | b: 3"),
        ("<table><tr><td rowspan='1000000'>a<td>1<tr><td>2</table>", "a | 1\na | 2"),
        ("<table><tr><td rowspan=-2 colspan=0>a<td colspan='x'>1<tr><td rowspan=' +1.5'>b<td>2</table>",
         "a | 1\nb | 2"),
        # Notes in asides are text, and so are labels of tabs without as many panels.
        ("<p>T.</p><aside class=sidebar><p class=sidebar-title>Side</p><p>Note it.</p></aside>",
         "T.\n\nSide\n\nNote it."),
        ("<p>T.</p><aside role=note><h3>Note</h3>Mind it.</aside>", "T.\n\nNote\n\nMind it."),
        ("<p>T.</p><aside class='starlight-aside--tip'><h3>Note</h3>Mind it.</aside>", "T.\n\nNote\n\nMind it."),
        ("<p>T.</p><aside class='admonition warning'><h3>Note</h3>Mind it.</aside>", "T.\n\nNote\n\nMind it."),
        ("<ul role=tablist><li role=tab>A<li role=tab>B</ul><div role=tabpanel>one</div>", "- A\n- B\n\none"),
        # Marks of footnotes and their backlinks are left out.
        ("<p>x</p><ol><li id=fn1>The note. <a class=footnote-backref href=#fnref:1>↩</a></ol>", "x\n\n1. The note."),
        ("<p>x</p><ol><li id=fn1>The note. <a href=#fnref1>↩︎</a></ol>", "x\n\n1. The note."),
        ("said<sup><a href='#n1'>1</a></sup> so", "said so"),
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
        ("5<sup>1</sup>/<sub>2</sub>", "5 1/2"),
    ],
)  # fmt: skip
def test_text_of_markup(markup: str, text: str) -> None:
    assert lead(markup) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<i>x</i><sup>n</sup>", "x^n"),
        ("10<sup>-19</sup>", "10^-19"),
        ("e<sup>−x<sup>2</sup></sup>", "e^{−x^2}"),
        ("(a+b)<sup>n+1</sup>", "(a+b)^{n+1}"),
        ("m<sup>2</sup>/s", "m^2/s"),
        ("19<sup>th</sup>", "19th"),
        ("Ca<sup>2+</sup> and Na<sup>+</sup>", "Ca2+ and Na+"),
        ("said<sup>[1]</sup> so<sup>*</sup>", "said[1] so*"),
        ("<sup>235</sup>U", "235U"),
    ],
)
def test_superscripts_in_html_and_in_markdown(markup: str, text: str) -> None:
    assert lead(f"<p>{markup}</p>") == article(markup).sections[0].text == text


@pytest.mark.parametrize(
    "hidden",
    [
        *("<nav>Away</nav>", "<aside>Away</aside>", "<aside class=sidebar>Away</aside>", "<footer>Away</footer>"),
        *("<p hidden>Away</p>", "<p style='display:none'>Away</p>", "<span aria-hidden='true'>Away</span>"),
        *("<style>Away</style>", "<noscript>Away</noscript>", "<button>Away</button>", "<p class=legalCopy>Away</p>"),
        "<ul class=table-of-contents>Away</ul>",
        *("<div class='rst-breadcrumbs-buttons'>Away</div>", "<div class='nav-chapters'>Away</div>"),
        *("<div id=side-nav>Away</div>", "<div id=jump-to-nav>Away</div>", "<div class=footer>Away</div>"),
        *("<div class=topNav>Away</div>", "<div class=subNav>Away</div>", "<div class=bottomNav>Away</div>"),
        *("<div class=top-nav>Away</div>", "<table class=nav><tr><td>Away</table>"),
        *("<div class='toc-x theme-doc-toc-desktop'>Away</div>", "<span class='theme-doc-version-badge b'>Away</span>"),
    ],
)
def test_boilerplate_is_left_out(hidden: str) -> None:
    assert lead(f"<p>Text.</p>{hidden}") == "Text."


def test_every_boilerplate_selector_is_whole() -> None:
    for selector in ", ".join((BOILERPLATE, TABLES_OF_CONTENTS)).split(", "):
        assert selector and not selector.endswith("-") and "- " not in selector


@pytest.mark.parametrize(
    ("markup", "sections"),
    [
        # Headings make paths, and empty sections are left out.
        ("<h1>Page</h1><h2>A</h2><h4>B</h4><p>b</p><h3>C</h3><p>c</p><h2>D</h2><h2>E</h2>e",
         [(("A", "B"), "b"), (("A", "C"), "c"), (("E",), "e")]),
        # A table for layout is read as running text.
        ("<table><tr><td><h2>Part</h2><p>Text.</p><pre>a\n  b</pre></td><td></td></tr></table>",
         [(("Part",), "Text.\n\na\n  b")]),
        # The header of a part is text, that of an article gives its headings only.
        ("<article><h1>Page</h1><header><h2>Sec</h2><p>Intro.</p></header><p>Text.</p></article>",
         [(("Sec",), "Intro.\n\nText.")]),
        ("<section><div><header><h2>Sec</h2><p>Intro.</p></header><p>Text.</p></div></section>",
         [(("Sec",), "Intro.\n\nText.")]),
        ("<article><header><h2>Page</h2><p>by me</p></header>Text.</article>", [((), "Text.")]),
        ("<article><header><h1>Other</h1><p>by me</p></header>Text.</article>", [(("Other",), "Text.")]),
        # Buttons in headings and summaries are text.
        ("<h2><button>Usage</button></h2><details><summary><button>More</button></summary>x</details>",
         [(("Usage",), "More\nx")]),
    ],
)  # fmt: skip
def test_sections_of_markup(markup: str, sections: list[tuple[tuple[str, ...], str]]) -> None:
    assert texts(body(markup)) == sections


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
        ("<button>Usage</button><a href=#u>#</a>", "Usage"),
        ("<a href=#hash>#</a>", "#"),
        ("C<a href=csharp.html>#</a>", "C#"),
    ],
)
def test_permalinks_and_buttons_are_not_part_of_a_heading(heading: str, text: str) -> None:
    assert texts(body(f"<h2>{heading}</h2><p>x</p>")) == [((text,), "x")]


@pytest.mark.parametrize("hidden", ["hidden=true", "aria-hidden=true", "style='display:none'", "class=hidden"])
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


@pytest.mark.parametrize(
    ("markup", "density"),
    [
        ("<p><a href=x>abcd</a> efgh</p>", 1 / 2),
        ("<table><tr><td><a href=x>abcd</a><td>ef gh</table>", 1 / 2),
        # Repeated cells count once.
        ("<p>p</p><table><tr><td rowspan=2><a href=x>abcd</a><td>e<tr><td>fgh</table>", 4 / 9),
    ],
)
def test_link_density_counts_link_text(markup: str, density: float) -> None:
    assert body(markup).link_density == pytest.approx(density)


def test_a_contents_list_of_the_page_itself_is_not_a_list_of_pages() -> None:
    page = body("<ul class=table-of-contents><li><a href=#a>A</a><li><a href=b.html>B</a></ul><p>x")
    assert page.contents_links == 1


@pytest.mark.parametrize("area", ["<article>Card.</article>", "<main>Card.</main>", "<div role=main>Card.</div>"])
def test_a_small_content_area_does_not_take_the_place_of_the_page(area: str) -> None:
    assert "the page itself" in lead(f"<p>{'the page itself ' * 20}</p>{area}")
    assert "Aside" not in lead(f"<p>Aside</p>{area.replace('Card.', 'the page itself ' * 20)}")


def test_the_rows_of_a_nested_infobox_table_are_fields() -> None:
    inner = "<table><tr><th>b</th><td>2</td></tr></table>"
    rows = f"<tr><th>a</th><td>1</td></tr><tr><td colspan=2>{inner}</td></tr><tr><th>c</th><td>{inner}</td></tr>"
    page = body(f"<p>x</p><table class=infobox>{rows}</table>")
    assert [fact[1:3] for fact in infoboxes(page)] == [("a", "1"), ("b", "2"), ("b", "2")]


def test_an_infobox_belongs_to_the_headings_above_it() -> None:
    box = "<table class=infobox><tr><th>{}</th><td>1</td></tr></table>"
    page = body(f"{box.format('a')}<p>x</p><h2 id=b>B</h2>{box.format('b')}<h3 id=c>C</h3><p>y</p>{box.format('c')}")
    assert [fact[:2] for fact in infoboxes(page)] == [((), "a"), (("B",), "b"), (("B", "C"), "c")]
    # The facts below a heading without text have its anchor.
    sections, _ = state_infoboxes("T", page.sections, page.infoboxes, lambda href: None)
    assert [(section.heading_path, section.anchor) for section in sections] == [
        ((), ""), (("B", FACTS), "b"), (("B", "C"), "c"), (("B", "C", FACTS), "c"), ((FACTS,), ""),
    ]  # fmt: skip


TAGS = "p ul li dl dt dd table tr td pre h2 a div math q sup header".split()
TAG_SOUP = [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(TAG_SOUP), max_size=30))
def test_any_tag_soup_gives_sections_with_text(pieces: list[str]) -> None:
    for section in parse_html(" ".join(pieces)).sections:
        assert section.text.strip()
        assert not set(section.text) & {"\x00", "\x01"}


@pytest.mark.trust
@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 5000 + "deep",
        "<h2><div><a href=#x>#</a>x" * 2000,
        "<table><tr><td rowspan=9>a<td>b" * 2000,
        "<div role=tablist><b role=tab>x</b>" * 2000,
        f"<table><tr>{'<td rowspan=60000>' * 8_000}{'<tr><td>y' * 16_000}</table>",
    ],
    ids=["deep", "headings", "tables", "tabs", "spans"],
)
def test_nested_and_very_wide_elements_are_fast(markup: str) -> None:
    start = time.process_time()
    parse_html(markup)
    assert time.process_time() - start < 10


@pytest.mark.trust
def test_time_grows_with_the_depth_of_tables() -> None:
    def seconds(depth: int) -> float:
        start = time.process_time()
        parse_html("<table><tr><td>a" * depth)
        return time.process_time() - start

    # Four times the text takes four times as long; quadratic growth would take sixteen times. The best of three runs.
    assert any(seconds(4_000) < 9 * seconds(1_000) + 0.1 for _ in range(3))


@pytest.mark.parametrize("encoding", ["iso-8859-2", "cp1250"])
def test_tags_do_not_hide_the_encoding(encoding: str) -> None:
    text = "Żółta łódź płynie przez rzekę. Mieszkańców jest około stu."
    markup = f"<html><head><title>Łódź</title></head><body><p>{text}</p></body></html>".encode(encoding)
    page = parse_html(markup)
    assert (page.title, page.sections[0].text) == ("Łódź", text)
