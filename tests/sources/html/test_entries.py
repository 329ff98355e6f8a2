"""Definition lists whose entries are documented at length become sections."""

from __future__ import annotations

import pytest
from tests.sources.html.test_head import LONG
from tests.sources.markdown.notes import article

from wikigr.sources.html.text import parse_html


def sections(body: str) -> list[tuple[tuple[str, ...], str]]:
    page = parse_html(f"<html><head><title>T</title></head><body><main>{body}</main></body></html>")
    return [(section.heading_path, " ".join(section.text.split())) for section in page.sections]


def paths(body: str) -> list[tuple[str, ...]]:
    return [path for path, _ in sections(body)]


def entry(id_: str, term: str, text: str = LONG) -> str:
    return f'<dt id="{id_}">{term}</dt><dd><p>{text}</p></dd>'


def test_an_entry_is_a_section_called_by_its_name_and_begins_with_its_signature() -> None:
    signature = "<b>@</b>m.lru(<i>size=128</i>, typed=False)<a class=headerlink>¶</a>"
    markup = f"<h2>Caches</h2><p>Before.</p><dl class='py function'>{entry('m.lru', signature)}</dl><p>After.</p>"
    assert sections(markup) == [
        (("Caches",), "Before."),
        (("Caches", "@m.lru"), f"@m.lru(size=128, typed=False) {LONG.strip()}"),
        (("Caches",), "After."),
    ]


def test_text_of_an_entry_is_not_indented_and_code_stays_as_it_is() -> None:
    markup = f"<dl>{entry('a', 'a')}<dt id=b>b</dt><dd><p>{LONG}</p><pre>if x:\n    y</pre></dd></dl>"
    text = parse_html(f"<title>T</title><main>{markup}</main>").sections[-1].text
    assert text == f"b\n\n{LONG.strip()}\n\nif x:\n    y"


def test_a_class_holds_its_methods_and_what_stands_between_them() -> None:
    methods = f"<dl>{entry('C.f', 'f(x)')}</dl><p>Between.</p><dl>{entry('C.g', 'g(x)')}</dl><p>Last.</p>"
    markup = f"<h2>Classes</h2><dl><dt id=C>class C(x)</dt><dd><p>{LONG}</p>{methods}</dd></dl><p>Outside.</p>"
    assert [(path, text[:14]) for path, text in sections(markup)] == [
        (("Classes", "class C"), "class C(x) It "), (("Classes", "class C", "f"), "f(x) It says a"),
        (("Classes", "class C"), "Between."), (("Classes", "class C", "g"), "g(x) It says a"),
        (("Classes", "class C"), "Last."), (("Classes",), "Outside."),
    ]  # fmt: skip


def test_short_entries_stay_among_their_neighbors() -> None:
    markup = (
        f"<dl>{entry('a', 'a', 'Short.')}{entry('b', 'b')}{entry('c', 'c', 'Short.')}{entry('d', 'd', 'Too.')}</dl>"
    )
    assert sections(markup) == [((), "a Short."), (("b",), f"b {LONG.strip()}"), ((), "c Short. d Too.")]


def test_a_heading_in_an_entry_is_below_its_name() -> None:
    within = f"<dt id=x>x</dt><dd><p>{LONG}</p><h3>B</h3><p>text</p></dd>"
    markup = f"<h2>A</h2><dl>{within}{entry('y', 'y')}</dl><p>after</p><h3>C</h3><p>end</p>"
    assert paths(markup) == [("A", "x"), ("A", "x", "B"), ("A", "y"), ("A",), ("A", "C")]


def test_what_is_not_shown_parts_no_terms() -> None:
    markup = f"<dl>{entry('a', 'a')}<dt id=b hidden>b</dt>{entry('c', 'c')}<dt id=d>d</dt><hr><dd>{LONG}</dd></dl>"
    assert paths(markup) == [("a",), ("c",), ("d",)]


def test_html_in_markdown_ends_what_it_began() -> None:
    blocks = (f"<dl>{entry('a', 'aa')}", "one", f"<div>{entry('b', 'bb')}", "two", f"- <dl>{entry('c', 'cc')}</dl>")
    assert [section.heading_path for section in article("\n\n".join(blocks)).sections] == [("aa",), ()]


@pytest.mark.parametrize(
    "markup",
    [
        f"<dl><dt>no target</dt><dd>{LONG}</dd></dl>",
        f"<dl class='footnote brackets'>{entry('id1', 'one')}</dl>",
        f"<dl class='citation'><div>{entry('id1', 'Smith98')}</div></dl>",
        f"<dl>{entry('id1', '1')}</dl>",
        f"<dl>{entry('id1', '')}</dl>",
        f"<ul><li><dl>{entry('a', 'a')}</dl></li></ul>",
        f"<div class=note><dl>{entry('a', 'a')}</dl></div>",
        f"<dl><dt>x</dt><dd><dl>{entry('a', 'a')}</dl></dd></dl>",
        f"<dl><dt id=a>a</dt></dl><p>{LONG}</p>",
        entry("a", "a"),
        f"<dl>{entry('a', 'name ' * 30)}</dl>",
    ],
    ids="no-target footnote citation number no-name in-list in-note in-definition no-text no-list long".split(),
)
def test_other_definition_lists_stay_text(markup: str) -> None:
    assert paths(markup) == [()]


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("<dt id=a>work_mem (<code>integer</code>)</dt>", "work_mem"),
        ("<dt><a name=a></a><span class=term>work_mem</span></dt>", "work_mem"),
        ("<dt id=a>-c &lt;command&gt;</dt>", "-c <command>"),
        ("<dt id=a>class C(x) → None</dt>", "class C"),
        ("<dt id=a>(a, b)</dt>", "(a, b)"),
        ("<dt>first(x)</dt><dt id=a>second(y)</dt>", "first"),
        ("<dt id=a><span class=term>one</span><br><span class=term>two</span></dt>", "one"),
        ("<dt id=a>m.size: int = 5</dt>", "m.size"),
        ("<dt id=a>HOME=DIR</dt>", "HOME"),
        (
            "<dt class=sig id=a><em class=property>class </em><span class='sig-prename descclassname'>m.</span>"
            "<span class='sig-name descname'>C</span>(x)</dt>",
            "m.C",
        ),
        (
            "<dt id=a>void *<code class='descclassname'>ns.</code><code class='descname'>f</code>(int <b>x</b>)</dt>",
            "ns.f",
        ),
        ("<dt id=a>size:</dt>", "size"),
    ],
)
def test_the_name_of_an_entry(term: str, name: str) -> None:
    assert paths(f"<dl>{term}<dd>{LONG}</dd></dl>") == [(name,)]
    assert paths(f"<dl><div>{term}<dd>{LONG}</dd></div></dl>") == [(name,)]


def test_entries_in_entries_go_three_deep() -> None:
    markup = "end"
    for name in "edcba":
        markup = f"<dl><dt id={name}>{name}</dt><dd><p>{LONG}</p>{markup}</dd></dl>"
    assert paths(markup) == [("a",), ("a", "b"), ("a", "b", "c")]


@pytest.mark.trust
@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ("<dl><dt id=a>a<dd><span></span>" * 400, 400),
        ("<dl>" + "<dt id=a>a" * 40_000, 40_000),
        ("<dl><dt id=a>a" + "<dd><i></i>" * 40_000, 1),
    ],
    ids=["nested", "terms", "definitions"],
)
def test_endless_lists_are_read_once(markup: str, lines: int) -> None:
    assert sum(section.text.split().count("a") for section in parse_html(markup).sections) == lines
