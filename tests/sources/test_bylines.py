"""Authors and dates of pages, wherever a format states them."""

from __future__ import annotations

import pytest

from wikigr.sources.article import SourceSection
from wikigr.sources.bylines import Byline, add_byline, is_byline
from wikigr.sources.documents import NoteRecord
from wikigr.sources.html.text import parse_html
from wikigr.sources.markdown.source import MarkdownConverter
from wikigr.sources.rst.source import RstConverter

LINE = "Author: Ann Lee, Ben Ode. Published: 2020-01-02. Updated: 2021-03-04."


def html(head: str, header: str = "") -> str:
    page = parse_html(f"<html><head><title>Page</title>{head}</head><body>{header}<p>It moves.</p></body></html>")
    return "\n\n".join(section.text for section in page.sections)


def markdown(matter: str) -> str:
    note = NoteRecord("a.md", f"---\n{matter}---\nIt moves.\n".encode(), "A")
    return MarkdownConverter().parse_note(note).sections[0].text


def rst(text: str) -> str:
    note = NoteRecord("a.rst", text.encode(), "A")
    return "\n\n".join(section.text for section in RstConverter().parse_note(note).sections)


@pytest.mark.parametrize(
    "text",
    [
        markdown("author: [Ann Lee, Ben Ode]\ndate: 2020-01-02\nlastmod: 2021-03-04T10:00:00Z\n"),
        markdown("authors:\n- name: Ann Lee\n- name: Ben Ode <ben@x.example>\ndate: 2020-01-02\nupdated: 2021-03-04\n"),
        html(
            "<meta name=author content='Ann Lee'><meta name=Author content='Ben Ode'>"
            "<meta property='article:published_time' content='2020-01-02T08:00:00+00:00'>"
            "<meta property='article:modified_time' content='2021-03-04'>"
        ),
    ],
)
def test_every_format_keeps_the_byline(text: str) -> None:
    assert text == f"It moves.\n\n{LINE}"
    assert is_byline(LINE)


def test_the_byline_in_a_header_is_kept() -> None:
    header = (
        "<article><header><h1>Page</h1><p class=byline>By Ann Lee</p><time datetime=2020-01-02>2 Jan</time></header>"
    )
    assert html("", header) == "It moves.\n\nAuthor: Ann Lee. Published: 2020-01-02."


def test_authors_of_restructuredtext() -> None:
    text = (
        "Pump\n====\n\n:Author: Ann Lee\n:Date: 2020-01-02\n\n.. sectionauthor:: Ben Ode <ben@x.example>\n\nIt moves.\n"
    )
    assert rst(text) == "Author: Ann Lee\nDate: 2020-01-02\n\nAuthor: Ben Ode.\n\nIt moves."


def test_what_the_lead_says_is_not_repeated() -> None:
    lead = SourceSection((), "By Ann Lee, 2020-01-02. It moves.")
    byline = Byline(("Ann Lee",), "2020-01-02", "2021-03-04")
    assert add_byline([lead], byline)[0].text == f"{lead.text}\n\nUpdated: 2021-03-04."
    assert add_byline([], byline) == ()
    section = SourceSection(("A",), "It moves.")
    assert add_byline([section], byline)[0] == SourceSection((), byline.text())


def test_damaged_metadata_is_no_byline() -> None:
    assert html("<meta name=author content=' '>") == "It moves."
    assert html("<meta name=author content='https://x.example/ann'>") == "It moves."
