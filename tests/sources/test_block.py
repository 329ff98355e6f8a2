"""The blocks of a text: written by readers, filled in, cut and joined."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fuzz.targets import seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.blocks import check_blocks, described, tables

from wikigr.errors import RecordError, SourceError, UsageError
from wikigr.index.stored_blocks import decode_blocks, encode_blocks
from wikigr.ingest.chunking import chunk_article
from wikigr.sources.article import SourceArticle, SourceSection
from wikigr.sources.block import Block, cut_blocks, extent, fill_paragraphs
from wikigr.sources.detect import open_source
from wikigr.sources.html.text import parse_html
from wikigr.sources.plain_text import PlainTextWriter
from wikigr.sources.tables import row_text

PAGE = """
<h1>Pump</h1><p>Of steel.<ul><li>one<p>more<pre><code class="language-python">x = 1

y = 2</code></pre><li>two<ol start=3><li>three</ol></ul>
<blockquote><p>Said so.</blockquote><dl><dt>-q<dt>--quiet<dd>Print less.<p>Or nothing.</dl>
<table><caption>Prices</caption><tr><th>Size<th>Price
<tr><td>330 ml<td>2.50<tr><td colspan=2>Large<tr><td>1 l<td>4.00</table>
"""


def test_a_page_has_the_blocks_of_its_elements() -> None:
    (section,) = parse_html(PAGE).sections
    assert described(section) == [
        (0, "paragraph", "", "Of steel."),
        (0, "item", "-", "- one"),
        (1, "paragraph", "", "more"),
        (1, "code", "python", "x = 1\n\ny = 2"),
        (0, "item", "-", "- two"),
        (1, "item", "3.", "3. three"),
        (0, "quotation", "", "Said so."),
        (0, "term", "", "-q"),
        (0, "term", "", "--quiet"),
        (1, "paragraph", "", "Print less."),
        (1, "paragraph", "", "Or nothing."),
        (0, "caption", "", "Prices"),
        (0, "table", "", "Size: 330 ml | Price: 2.50\nLarge\nSize: 1 l | Price: 4.00"),
    ]
    (rows,) = tables(section)
    assert rows == [{"Size": "330 ml", "Price": "2.50"}, {"Size": "Large"}, {"Size": "1 l", "Price": "4.00"}]
    blocks = fill_paragraphs(section.text, section.blocks)
    assert [blocks[number : extent(blocks, number)][-1].kind for number in (1, 8)] == ["code", "paragraph"]


def written(*steps: tuple[object, ...]) -> list[tuple[int, str, str, str]]:
    writer = PlainTextWriter("")
    for name, *arguments in steps:
        getattr(writer, str(name))(*arguments)
    (section,) = writer.sections()
    check_blocks(section.text, fill_paragraphs(section.text, section.blocks))
    return described(section)


def test_tasks_footnotes_and_properties() -> None:
    assert written(
        ("add_property", "birthday", "2 May 1990"),
        ("end_block",),
        ("open_item", "- ", "open"),
        ("write", "Buy milk"),
        ("close_item",),
        ("open_item", "1. ", "done"),
        ("write", "Pay"),
        ("line_break",),
        ("write", "rent"),
        ("close_item",),
        ("open_kind", "footnote", "3"),
        ("write", "[3] First."),
        ("end_block",),
        ("write", "Second."),
        ("close_kind",),
        ("end_block",),
        ("write", "Text."),
    ) == [
        (0, "property", "birthday", "birthday: 2 May 1990"), (0, "task", "open", "- [ ] Buy milk"),
        (0, "task", "done", "1. [x] Pay\n   rent"), (0, "footnote", "3", "[3] First."), (1, "paragraph", "", "Second."),
        (0, "paragraph", "", "Text."),
    ]  # fmt: skip


def test_an_item_that_begins_with_a_table_or_with_code_is_its_marker() -> None:
    steps = (("open_item", "1. "), ("row", row_text(["a", "b"], ["1", "2"])), ("close_item",))
    code = (("open_item", "2. "), ("verbatim", "x = 1", "python"), ("close_item",))
    assert written(*steps, *code) == [
        (0, "item", "1.", "1."),
        (1, "table", "", "a: 1 | b: 2"),
        (0, "item", "2.", "2."),
        (1, "code", "python", "x = 1"),
    ]


def test_a_changed_header_begins_a_table_and_a_row_alone_is_its_caption() -> None:
    (section,) = parse_html(
        "<table><tr><td colspan=2>First<tr><th>a<th>b<tr><td>1<td>2<tr><td colspan=2>Second"
        "<tr><th>c<th>d<tr><td>3<td>4<tr><td colspan=2>A remark.</table>"
    ).sections
    assert [(kind, text) for _, kind, _, text in described(section)] == [
        ("caption", "First"), ("table", "a: 1 | b: 2"), ("caption", "Second"), ("table", "c: 3 | d: 4"),
        ("paragraph", "A remark."),
    ]  # fmt: skip


def test_a_cell_that_spans_columns_stands_in_each_and_a_long_row_in_several_lines() -> None:
    markup = "<table><tr><th>a<th>b<th>c<tr><td>x<td colspan=2>y</table>"
    assert tables(parse_html(markup).sections[0]) == [[{"a": "x", "b": "y", "c": "y"}]]
    names = [f"column {number}" for number in range(9)]
    writer = PlainTextWriter("")
    writer.row(row_text(names, [f"{number} {'word ' * 60}" for number in range(9)]))
    (section,) = writer.sections()
    assert section.text.count("\n") == 2
    ((row,),) = tables(section)
    assert [row[name][0] for name in names] == list("012345678")


def test_a_table_is_cut_between_rows_and_keeps_its_columns() -> None:
    rows = "".join(f"<tr><td>P{number}<td>{number} euros" for number in range(200))
    sections = parse_html(f"<p>Prices:<table><tr><th>Product<th>Price{rows}</table>").sections
    chunks = chunk_article("Prices", [SourceArticle("Prices", "1", sections)]).sections
    assert len(chunks) > 3
    found = []
    for chunk in chunks:
        check_blocks(chunk.content, fill_paragraphs(chunk.content, chunk.blocks))
        (table,) = tables(SourceSection((), chunk.content, blocks=chunk.blocks))
        found += table
    assert found == [{"Product": f"P{number}", "Price": f"{number} euros"} for number in range(200)]
    assert chunks[0].content.startswith("Prices:\n\nProduct: P0")


def test_a_part_of_an_item_or_a_wide_table() -> None:
    text = "- one two"
    assert cut_blocks(text, (Block("item", 0, 9, label="-"),), 5, 9) == ()
    assert cut_blocks(text, (Block("item", 0, 9, label="-"),), 0, 5) == (Block("item", 0, 5, label="-"),)
    writer = PlainTextWriter("")
    names = [f"n{number}" for number in range(60)]
    for number in range(0, 60, 2):
        writer.row(row_text(names, [str(column) if column in (0, number) else "" for column in range(60)]))
    (section,) = writer.sections()
    end = section.text.index("\n", section.text.index("n6:"))
    (table,) = cut_blocks(section.text, fill_paragraphs(section.text, section.blocks), 0, end)
    assert table.columns == ("n0", "n2", "n4", "n6")


_SOURCES = {
    "html": "s.html", "markdown": "s.md", "rst": "s.rst", "text": "s.txt", "mediawiki": "s.xml", "table": "s.csv",
    "jsonl": "s.jsonl", "rdf": "s.nt", "triples": "s.tsv", "office": "file.pdf",
}  # fmt: skip


def check_article(article: SourceArticle) -> None:
    """Check the blocks of an article, as they are read, stored and cut into sections."""
    for section in article.sections:
        blocks = fill_paragraphs(section.text, section.blocks)
        check_blocks(section.text, blocks)
        stored = encode_blocks(section.text, section.blocks)
        assert decode_blocks(section.text, stored) == section.blocks
    for chunk in chunk_article(article.title, [article]).sections:
        check_blocks(chunk.content, fill_paragraphs(chunk.content, chunk.blocks))
        assert decode_blocks(chunk.content, encode_blocks(chunk.content, chunk.blocks)) == chunk.blocks


@pytest.mark.parametrize("name", _SOURCES)
def test_blocks_cover_the_text_of_the_corpus(name: str, tmp_path: Path) -> None:
    checked = 0
    for number, seed in enumerate(seeds(name)):
        path = tmp_path / str(number) / _SOURCES[name]
        path.parent.mkdir()
        path.write_bytes(seed.read_bytes())
        try:
            for record in open_source(path, name).records():
                try:
                    for item in open_source(path, name).parse(record):
                        if isinstance(item, SourceArticle):
                            check_article(item)
                            checked += 1
                except RecordError:
                    continue
        except (SourceError, UsageError):
            continue
    assert checked


_TAGS = (
    "ul /ul li ol /ol p pre /pre dl /dl dt dd table /table tr td th caption blockquote /blockquote h2 /h2 br".split()
)
_WORDS = ("<td colspan=3>", "a ", "b: ", "- ", " | ", "\n", "\n\n", "word " * 300, "x = 1\n\n\ny" * 100)
_EVENTS = st.sampled_from([*(f"<{tag}>" for tag in _TAGS), *_WORDS])


@given(st.lists(_EVENTS, max_size=30))
@settings(deadline=None)
def test_blocks_cover_the_text_of_any_page(markup: list[str]) -> None:
    check_article(SourceArticle("A", "1", parse_html("".join(markup)).sections))


def test_paragraphs_are_filled_in_linear_time() -> None:
    text = "a\n\n" * 20_000
    blocks = [Block("item", match.start(), match.end()) for match in re.finditer("a", text)]
    assert len(fill_paragraphs(text, blocks)) == 20_000
