"""Hostile input: every reader stays within a time limit that ordinary input never approaches."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wikigr.errors import RecordError, SourceError, UsageError
from wikigr.sources.article import SourceArticle, SourceSection, Triple
from wikigr.sources.detect import detect_format, open_source
from wikigr.sources.documents import NoteRecord
from wikigr.sources.facts import Infobox, add_facts
from wikigr.sources.folder import FolderSource
from wikigr.sources.formats import format_named
from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.html.source import HtmlSource
from wikigr.sources.html.text import parse_html
from wikigr.sources.jsonl import split_sections
from wikigr.sources.plain_text import PlainTextWriter
from wikigr.sources.source_files import Folder
from wikigr.sources.wikitext.page import WikiSite, parse_wikitext
from wikigr.sources.wikitext.preprocess import prepare
from wikigr.sources.wikitext.templates import TemplateCall, expand_template

# CPU time, which does not depend on what else runs; and time in all, for work that waits for ever.
MAX_CPU_S = 10
MAX_WAIT_S = 120


@contextmanager
def limit() -> Iterator[None]:
    """Fail when the work takes more CPU time than ``MAX_CPU_S``; it normally takes well under a second."""

    def stop(signum: int, frame: object) -> None:
        pytest.fail(f"took more than {MAX_CPU_S} s of CPU time, or waited for {MAX_WAIT_S} s")

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
    signal.alarm(MAX_WAIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("root", ["<html>", "<mediawiki >", "nothing known"])
def test_many_comments_before_the_root(tmp_path: Path, root: str) -> None:
    path = tmp_path / "page"
    path.write_text('<?xml version="1.0"?>\n' + "<!-- x -->\n" * 2000 + root)
    with limit():
        if root == "nothing known":
            with pytest.raises(UsageError, match="Cannot detect the format"):
                detect_format(path)
        else:
            assert detect_format(path).name == ("html" if root == "<html>" else "mediawiki")


def test_a_pipe_is_not_a_source(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with limit():
        for format_ in (None, "jsonl", "html"):
            with pytest.raises(UsageError, match=r"is a pipe .*use - for JSON Lines"):
                open_source(pipe, format_)


def test_a_pipe_in_a_folder_is_a_bad_record(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>Words.")
    os.mkfifo(tmp_path / "b.html")
    source = HtmlSource(tmp_path)
    with limit():
        good, bad = source.records()
        assert list(source.parse(good))
        with pytest.raises(RecordError, match=r"b\.html: the file is a pipe"):
            list(source.parse(bad))
        with pytest.raises(SourceError, match="is a pipe"):
            Folder(tmp_path, format_named("html")).read("b.html")


@pytest.mark.trust
@pytest.mark.parametrize(
    "wikitext",
    [
        "<" + "a" * 100_000,
        "[http://" + "a" * 100_000,
        "[http://a" + " " * 100_000,
        "<!-- " * 200_000,
        "<ref>" * 40_000 + "</ref>",
        "[[a" + " " * 100_000 + "b|]]",
    ],
)
def test_wikitext_that_never_closes(wikitext: str) -> None:
    with limit():
        prepare(wikitext)


@pytest.mark.trust
@pytest.mark.parametrize(
    "wikitext",
    [
        "{|\n|-\n| a" + "\n" * 3000 + "b || c\n|}",
        "[[a" + " " * 100_000 + "b|]]",
        "{{ubl|a" + " " * 100_000 + "b}}",
    ],
)
def test_wikitext_with_much_white_space(wikitext: str) -> None:
    with limit():
        parse_wikitext(wikitext, "Page", WikiSite({}))


def test_white_space_in_a_list_template() -> None:
    with limit():
        call = TemplateCall({"1": "a" + " " * 100_000 + "\n b"}, lambda target, label: label)
        assert (expand_template("ubl", call) or "").endswith(" b\n")


def test_an_open_ref_in_a_poem_does_not_hide_the_ends_of_others() -> None:
    wikitext = "<poem>a<ref>b</poem> c<ref>note</ref> d"
    (section,) = parse_wikitext(wikitext, "Page", WikiSite({})).sections
    assert "note" not in section.text and section.text.endswith("d")


def test_list_items_in_a_cell_are_separated() -> None:
    table = '{| class="wikitable"\n|-\n| x ||\n* a\n\n* b\n| y\nz\n|}'
    (section,) = parse_wikitext(table, "Page", WikiSite({})).sections
    assert section.text == "x | a; b | y z"


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("#" + " " * 100_000, None),
        ("# " + "a" + " " * 100_000 + "b", "a" + " " * 100_000 + "b"),
        ("## a ##  ", "a"),
        ("## a # #", "a #"),
        ("# a#", "a#"),
        ("# #", "#"),
        ("#a", None),
    ],
)
def test_jsonl_headings(line: str, heading: str | None) -> None:
    with limit():
        (section,) = split_sections(f"{line}\ntext", "Page")
    assert section.heading_path == (() if heading is None else (heading,))


@pytest.mark.trust
@pytest.mark.parametrize("text", ["[[" * 20_000, "[[a" * 20_000, "[[" * 20_000 + "]]", "![[" * 10_000 + "x]]"])
def test_markdown_wiki_links_that_never_close(text: str) -> None:
    with limit():
        list(FolderSource(Path("a.md"), "markdown").parse(NoteRecord("a.md", text.encode(), "a")))


@pytest.mark.trust
def test_a_run_of_removals() -> None:
    writer = PlainTextWriter("")
    writer.write("a ")
    for _ in range(40_000):
        writer.removed()
    writer.write("b")
    with limit():
        (section,) = writer.sections()
    assert section.text == "a b"


@pytest.mark.trust
def test_elements_nested_without_bound_are_a_bad_record(tmp_path: Path) -> None:
    (tmp_path / "deep.html").write_text("<div>" * 200_000 + "x")
    (tmp_path / "wide.html").write_text("<title>Wide</title>" + "<div>x</div><p>y<li>z" * 20_000)
    source = HtmlSource(tmp_path)
    with limit():
        deep, wide = source.records()
        with pytest.raises(RecordError, match=r"deep\.html: its elements are nested too deeply"):
            list(source.parse(deep))
        assert list(source.parse(wide))
        note = NoteRecord("a.md", b"<div>\n" * 20_000, "a")
        with pytest.raises(RecordError, match=r"a\.md: its elements are nested too deeply"):
            list(FolderSource(tmp_path, "markdown").parse(note))


@pytest.mark.trust
@pytest.mark.parametrize("tag", ["pre", "figcaption", "rt", "dialog"])
def test_elements_that_nest_although_few_do(tag: str) -> None:
    with limit(), pytest.raises(RecordError, match="nested too deeply"):
        parse_html(f"<{tag}>" * 60_000 + "x")


@pytest.mark.trust
@pytest.mark.parametrize("tag", ["q", "label", "some-thing"])
def test_many_elements_around_many_paragraphs(tag: str) -> None:
    with limit():
        parse_html(f"<{tag}>" * 9_000 + "<div>x</div>" * 9_000)
        with pytest.raises(RecordError, match="more than 10,000 of its elements are never closed"):
            parse_html(f"<{tag}>" * 60_000 + "<div>x</div>" * 60_000)
        drawing = f"<svg>{'<path d=z />' * 30_000}</svg>"
        assert parse_html(f"<{tag}>x</{tag}> " * 60_000 + "<img><li>y" * 30_000 + drawing).sections


def test_lines_that_continue_a_deep_quotation_without_its_marks() -> None:
    text = "\n".join("> " * (60 - 59 * (number % 2)) + f"line {number}" for number in range(1_000))
    note = NoteRecord("a.md", text.encode(), "a")
    with limit():
        (article,) = FolderSource(Path("notes"), "markdown").parse(note)
    assert isinstance(article, SourceArticle)
    assert article.sections[0].text.count("line") == 1_000


@pytest.mark.trust
def test_infoboxes_nested_in_each_other_are_read_once() -> None:
    row = '<table class="infobox"><tr><th>k</th><td>'
    with limit():
        page = parse_html("<p>x</p>" + row * 2000 + "v")
    assert [[(x.relation, x.object) for x in box.triples] for box in page.infoboxes] == [[("k", "v")]]


@pytest.mark.trust
def test_superscripts_nested_in_each_other() -> None:
    with limit():
        parse_html("<p>x" + "<sup>n" * 3000)
        for text in ("x" + "<sup>n" * 3000 + "</sup>" * 3000, "<sup>" * 30_000):
            list(FolderSource(Path("a.md"), "markdown").parse(NoteRecord("a.md", text.encode(), "a")))


@pytest.mark.trust
def test_a_tag_of_very_many_attributes_is_refused_before_it_is_parsed() -> None:
    # The parser would take minutes: its time grows with the square of their number.
    with pytest.raises(RecordError, match="more than 20,000 attributes"):
        HtmlDocument("<p " + " ".join(f"a{n}=x" for n in range(200_000)) + ">x")
    assert HtmlDocument("<p " + " ".join(f"a{n}=x" for n in range(2_000)) + ">x").root.text().strip() == "x"


@pytest.mark.trust
@pytest.mark.parametrize(
    "text",
    [
        "a__ " * 10_000,
        ".. _a: b_\n\n" + "a_ " * 13_000,
        "a__ b__\n\n__ http://a.b\n\n" + "c__ " * 10_000,
    ],
)
def test_references_that_lead_nowhere(text: str) -> None:
    with limit():
        list(FolderSource(Path("a.rst"), "rst").parse(NoteRecord("a.rst", text.encode(), "a")))


def text_of(name: str, text: str) -> str:
    items = FolderSource(Path(name)).parse(NoteRecord(name, text.encode(), "a"))
    return "\n".join(s.text for item in items if isinstance(item, SourceArticle) for s in item.sections)


@pytest.mark.trust
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "a,b\n" + 'x","\n' * 20_000),
        ("a.tsv", "a\tb\n" + '\t"x\n\ty"z' * 20_000),
        ("a.csv", "a,b\n" + "1" + "%" * 200_000 + "x y,1\n"),
        ("a.csv", "a," * 30_000 + "\n" + "b,c\n" * 15_000),
        ("a.html", "<table><tr>" + "<td>ab" * 20_000),
        ("a.html", "<sup>" * 2_000 + "a b " * 100_000),
        ("a.html", "<a href=b>" + "<sup>a b</sup> " * 40_000),
        ("a.html", "<li>a<dt>b<dd>c" * 12_000),
        ("a.html", "<b>x <del>y</del>" * 8_000),
        ("a.html", ("<address><s>a" * 2_400 + "</s></address>" * 2_400) * 12),
        ("a.rst", ":aliases: " + ":" * 200_000),
    ],
)
def test_time_grows_with_the_length(name: str, text: str) -> None:
    with limit():
        text_of(name, text)


@pytest.mark.trust
def test_columns_that_most_rows_lack() -> None:
    """A row has a cell for each column, so both together grow with the square of the length."""
    csv = ".. csv-table::\n\n   " + "a," * 3_000 + "\n" + "   b\n" * 3_000
    simple = "= " * 3_000 + "\n" + "a\n" * 3_000 + "= " * 3_000 + "\n"
    with limit():
        for text in (csv, simple, f"- {simple.replace(chr(10), chr(10) + '  ')}"):
            with pytest.raises(RecordError, match="one of its tables has far more cells than text"):
                text_of("a.rst", text)
    assert text_of("a.rst", "= =\na b\n= =\nc d\n= =\n") == "a: c | b: d"
    wide = "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + "bc\n" * 100 + "\n"
    with limit():
        assert text_of("a.md", wide * 60).count("bc") == 6_000


def test_a_table_after_very_wide_ones_is_text() -> None:
    table = "|a|b|\n|-|-|\n|c|d|\n"
    assert text_of("a.md", table) == "a: c | b: d"
    wide = "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "b\n" * 200 + "\n"
    assert text_of("a.md", wide + table).endswith("|a|b| |-|-| |c|d|")


def test_references_that_lead_somewhere_stay_links() -> None:
    text = "See `it <b.rst>`__ and that__.\n\n__ http://a.b/\n"
    (article,) = FolderSource(Path("a.rst"), "rst").parse(NoteRecord("a.rst", text.encode(), "a"))
    assert isinstance(article, SourceArticle) and article.sections[0].text == "See it and that."
    (article,) = FolderSource(Path("a.rst"), "rst").parse(NoteRecord("a.rst", b"See that__.\n", "a"))
    assert isinstance(article, SourceArticle) and article.sections[0].text == "See that."


@pytest.mark.trust
def test_a_document_that_expands_is_a_bad_record(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for _ in range(1_000):
        sheet.append(["x" * 30_000])
    book.save(tmp_path / "a.xlsx")
    source = FolderSource(tmp_path / "a.xlsx")
    (record,) = source.records()
    assert len(record.data) < 200_000
    with limit(), pytest.raises(RecordError, match="expands to more than"):
        list(source.parse(record))


@pytest.mark.trust
def test_braces_that_entities_make() -> None:
    with limit():
        page = parse_wikitext("&#123;&#123;" * 20_000 + "a" + "&#125;&#125;" * 20_000 + " b", "Page", WikiSite({}))
    assert [section.text for section in page.sections] == ["b"]


def test_braces_are_removed_from_the_inside_outwards() -> None:
    entities = {"{": "&#123;", "}": "&#125;"}
    for written, shown in (
        ("a{{b}}c", "ac"),
        ("a{{b{{c}}d}}e", "ae"),
        ("a{{{b}}}c", "a{}c"),
        ("a{{b}c}}d", "ab}cd"),
        ("a{b}}c", "a{bc"),
    ):
        text = "".join(entities.get(character, character) for character in written)
        (section,) = parse_wikitext(text, "Page", WikiSite({})).sections
        assert section.text == shown, written


@pytest.mark.trust
def test_a_conversion_with_many_ranges() -> None:
    arguments = {str(number + 1): ("1", "to")[number % 2] for number in range(300_001)}
    with limit():
        text = expand_template("convert", TemplateCall(arguments, lambda target, label: label))
    assert text is not None and len(text) > 300_000


@pytest.mark.trust
def test_an_infobox_under_each_of_many_headings() -> None:
    paths = [(f"A{number}",) for number in range(20_000)]
    sections = [SourceSection(path, "Words.") for path in paths]
    # The heading above the other boxes has no text.
    boxes = [Infobox((*path, "Box"), (Triple("Page", "born", "1815"),)) for path in paths]
    with limit():
        stated, _ = add_facts(sections, boxes)
    assert len(stated) == 2 * len(paths) and stated[1].heading_path == ("A0", "Facts")
