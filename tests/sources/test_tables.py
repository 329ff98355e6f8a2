"""Rows of tables as lines that name their columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.segmentation import sentence_spans
from wikigr.sources.documents import NoteRecord
from wikigr.sources.html.text import parse_html
from wikigr.sources.markdown.source import MarkdownConverter
from wikigr.sources.rst.source import RstConverter
from wikigr.sources.tables import (
    MAX_KEY_CHARS,
    MAX_LINE_CHARS,
    MAX_NAME_CHARS,
    Cell,
    Row,
    name_columns,
    shorten_name,
)
from wikigr.sources.wikitext.page import WikiSite, parse_wikitext

LINES = ["Size: 330 ml | Price: 2.50", "Size: 500 ml | Price: 3.20", "Size: 1 l"]


def lines_of(rows: Sequence[Row]) -> list[str]:
    return [line for row in name_columns(rows) for line in row.lines]


def row(*texts: str, head: bool = False, header: bool = False) -> Row:
    return Row([Cell(text, is_header=header) for text in texts], is_head=head)


def html(markup: str) -> str:
    return parse_html(markup).sections[0].text


def wikitext(markup: str) -> str:
    return parse_wikitext(markup, "Page", WikiSite({})).sections[0].text


def markdown(text: str) -> str:
    return MarkdownConverter().parse_note(NoteRecord("a.md", text.encode(), "A")).sections[0].text


def rst(text: str) -> str:
    return RstConverter().parse_note(NoteRecord("a.rst", text.encode(), "A")).sections[0].text


MARKDOWN = "| Size | Price |\n|---|---|\n| 330 ml | 2.50 |\n| 500 ml | 3.20 |\n| 1 l | |\n"
HTML_ROWS = "<tr><td>330 ml<td>2.50<tr><td>500 ml<td>3.20<tr><td>1 l<td>"
WIKI_ROWS = "|-\n| 330 ml || 2.50\n|-\n| 500 ml || 3.20\n|-\n| 1 l ||\n|}"


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (html, f"<table><thead><tr><th>Size<th>Price<tbody>{HTML_ROWS}</table>"),
        (wikitext, f'{{| class="wikitable"\n! Size !! Price\n{WIKI_ROWS}'),
        (markdown, MARKDOWN),
        (rst, "====== =====\nSize   Price\n====== =====\n330 ml 2.50\n500 ml 3.20\n1 l\n====== =====\n"),
        # A first row in bold is a header, unless the second one is bold too.
        (html, f"<table><tr><td><b>Size</b><td><b>Price</b>{HTML_ROWS}</table>"),
        (wikitext, f"{{|\n|-\n| '''Size''' || '''Price'''\n{WIKI_ROWS}"),
    ],
)
def test_every_format_names_the_columns_in_the_same_way(read: Callable[[str], str], text: str) -> None:
    assert read(text).split("\n") == LINES
    bold = "<tr><td><b>Size</b><td><b>Price</b>"
    assert html(f"<table>{bold}{bold}</table>") == "Size | Price\nSize | Price"


def test_a_row_with_named_columns_is_one_sentence() -> None:
    text = "\n".join(["Size: 1 l | Note: It is new. Ask for it.", "Size: 2 l", "old | Size: 3 l. Or more."])
    assert [text[start:end] for start, end in sentence_spans(text)] == text.split("\n")


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        # Without a header, the cells stand side by side.
        ([row("a", "b"), row("c", "")], ["a | b", "c |"]),
        ([row("a", "b", header=True)], ["a | b"]),
        ([row("a", "b", head=True)], ["a | b"]),
        # A header cell in front names what follows it, and has a column of its own below a header.
        ([Row([Cell("Born:", is_header=True), Cell("1910")]), Row([Cell("Died", is_header=True), Cell("1990")])],
         ["Born: 1910", "Died: 1990"]),
        ([row("", "Mon", "Tue", header=True), Row([Cell("Ann", is_header=True), Cell("late"), Cell("off")])],
         ["Ann | Mon: late | Tue: off"]),
        ([Row([Cell(""), Cell("Mon", is_header=True)]), row("Ann", "late")], ["Ann | Mon: late"]),
        # A row of header cells begins a new part, unless it repeats the header or has numbers.
        ([*(row("Size", "Price", header=True), row("1 l", "3"), row("Size", "Price", header=True)),
         *(row("2 l", "5"), row("Total", "8", header=True), row("Name", "Age", header=True), row("Ann", "5"))],
         ["Size: 1 l | Price: 3", "Size: 2 l | Price: 5", "Size: Total | Price: 8", "Name: Ann | Age: 5"]),
        # Rows of several header rows, and a title across the table.
        ([row("Sizes", header=True), Row([Cell("Name", True, rows=2), Cell("Size", True, columns=2)]),
         row("Min", "Max", header=True), Row([Cell("a"), Cell("any", columns=2)])],
         ["Sizes", "Name: a | Size Min, Size Max: any"]),
        # A header cell does not reach into the rows that it names.
        ([Row([Cell("A", True, rows=9), Cell("B", True)]), row("1", "2")], ["A: 1 | B: 2"]),
    ],
)  # fmt: skip
def test_headers(rows: Sequence[Row], lines: list[str]) -> None:
    assert lines_of(rows) == lines


def test_long_names_are_cut_between_words() -> None:
    assert shorten_name("Price | net: ") == "Price / net"
    name = shorten_name("population at the census of 2010 including all places that were annexed")
    assert name == "population at the census of 2010 including all places that…"


def test_a_long_row_is_several_lines_that_begin_with_its_first_cell() -> None:
    head = [f"column {number}" for number in range(200)]
    lines = lines_of([row(*head, head=True), row("key", *["value"] * 199)])
    assert len(lines) > 1
    assert all(line.startswith("column 0: key | ") for line in lines)
    assert sum(line.count("value") for line in lines) == 199
    assert max(map(len, lines)) <= MAX_LINE_CHARS + 3 * 200 + MAX_KEY_CHARS


TEXTS = st.text(alphabet="ab 1.:|", max_size=8).map(lambda text: " ".join(text.split()))
CELLS = st.builds(Cell, TEXTS, st.booleans(), st.integers(0, 5), st.integers(0, 5))
TABLES = st.lists(
    st.builds(Row, st.lists(CELLS, max_size=5), is_head=st.booleans(), group=st.integers(0, 1)), max_size=8
)


@given(TABLES)
def test_no_text_is_lost(rows: list[Row]) -> None:
    found = list(name_columns(rows))
    assert len(found) == len(rows)
    for table_row, row_text in zip(rows, found, strict=True):
        if row_text.lines:
            assert all(cell.text.rstrip(" :") in "\n".join(row_text.lines) for cell in table_row.cells)
        assert "\n" not in "".join(row_text.lines)


@given(st.lists(st.lists(TEXTS.filter(bool), min_size=3, max_size=3), min_size=2, max_size=6))
def test_every_value_has_the_name_of_its_column(table: list[list[str]]) -> None:
    head, *body = table
    expected = [
        " | ".join(
            f"{shorten_name(name)}: {value}" if shorten_name(name) else value
            for name, value in zip(head, cells, strict=True)
        )
        for cells in body
    ]
    assert lines_of([row(*head, head=True), *(row(*cells) for cells in body)]) == expected


@given(TABLES)
def test_the_text_of_a_table_is_at_most_so_many_times_as_long_as_its_cells(rows: list[Row]) -> None:
    own = sum(len(cell.text) + 3 for table_row in rows for cell in table_row.cells)
    text = "\n".join(lines_of(rows))
    assert len(text) <= (1_000 + 21 * own) + (own + 1) * (MAX_NAME_CHARS + 5)
