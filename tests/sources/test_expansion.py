"""A small file does not become millions of characters, whatever it repeats."""

from __future__ import annotations

import tracemalloc
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from tests.sources.office.files import changed, docx_with, epub, odt_of, saved

from wikigr.errors import RecordError
from wikigr.sources.article import SourceArticle
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource

PAGE = "<p>" + "The harbor opens at six. " * 400 + "</p>"
WORDS = "Harbor gate " * 2_000


def read(name: str, data: bytes) -> str:
    """Return the text of a file."""
    source = FolderSource(Path(name))
    items = source.parse(NoteRecord(name, data, "Harbor"))
    return "\n".join(s.text for item in items if isinstance(item, SourceArticle) for s in item.sections)


@pytest.mark.parametrize(
    ("item", "reference"),
    [
        ("", '<itemref idref="a.html"/>'),
        ('<item id="b{}" href="a.html" media-type="application/xhtml+xml"/>', '<itemref idref="b{}"/>'),
        ('<item id="b{}" href="./%61.html" media-type="application/xhtml+xml"/>', '<itemref idref="b{}"/>'),
    ],
)
def test_a_page_that_a_spine_repeats(item: str, reference: str) -> None:
    items, spine = ("".join(form.format(number) for number in range(500)) for form in (item, reference))
    book = changed(epub({"a.html": PAGE}), {"OEBPS/book.opf": ("</manifest>", f"{items}</manifest>")}, {})
    book = changed(book, {"OEBPS/book.opf": ("</spine>", f"{spine}</spine>")}, {})
    assert len(read("a.epub", book)) < 2 * len(PAGE)


@pytest.mark.parametrize(
    "around",
    [
        "<w:p>{}</w:p>",
        "<w:p><w:r><w:t>Gate.</w:t></w:r>{}</w:p>" * 2,
        "<w:tbl><w:tr><w:tc><w:p>{}</w:p></w:tc></w:tr></w:tbl>",
    ],
)
def test_a_footnote_with_many_marks(around: str) -> None:
    mark = '<w:r><w:footnoteReference w:id="0"/></w:r>'
    note = f"<w:p><w:r><w:t>{WORDS}</w:t></w:r></w:p>"
    text = read("a.docx", docx_with(*[around.replace("{}", mark)] * 300, notes=[note]))
    assert len(WORDS) <= len(text) < 2 * len(WORDS)


def test_footnotes_with_a_mark_each_are_all_read() -> None:
    marks = "".join(f'<w:r><w:t>Gate {n}</w:t></w:r><w:r><w:footnoteReference w:id="{n}"/></w:r>' for n in range(3))
    notes = [f"<w:p><w:r><w:t>Note {n}.</w:t></w:r></w:p>" for n in range(3)]
    text = read("a.docx", docx_with(f"<w:p>{marks}</w:p>", notes=notes))
    assert [f"Note {n}." in text for n in range(3)] == [True] * 3


def packed(data: bytes) -> bytes:
    """Return an archive with its members compressed."""
    out = BytesIO()
    with ZipFile(BytesIO(data)) as stored, ZipFile(out, "w", ZIP_DEFLATED) as written:
        for name in stored.namelist():
            written.writestr(name, stored.read(name))
    return out.getvalue()


def workbook(rows: str, after: str = "") -> bytes:
    """Return a workbook with these rows; its string 0 is ``WORDS``."""
    from openpyxl import Workbook

    types = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    names = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    data = changed(
        saved(Workbook()),
        {
            "xl/worksheets/sheet1.xml": ("<sheetData></sheetData>", f"<sheetData>{rows}</sheetData>{after}"),
            "[Content_Types].xml": (
                "</Types>",
                f'<Override PartName="/xl/sharedStrings.xml" ContentType="{types}"/></Types>',
            ),
        },
        {"xl/sharedStrings.xml": f'<sst xmlns="{names}"><si><t>{WORDS}</t></si><si><t>b</t></si></sst>'},
    )
    return packed(data)


@pytest.mark.trust
@pytest.mark.parametrize(
    ("row", "after"),
    [
        ('<row><c t="s"><v>0</v></c></row>', ""),
        ("<row>" + '<c t="s"><v>0</v></c>' * 20 + "</row>", ""),
        (
            '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>',
            '<mergeCells><mergeCell ref="A1:A9000"/></mergeCells>',
        ),
    ],
)
def test_a_string_that_many_cells_share_is_not_read_to_the_end(row: str, after: str) -> None:
    data = workbook(row * 9_000, after)
    assert len(data) < 60_000
    tracemalloc.start()
    try:
        with pytest.raises(RecordError, match="expands to more than"):
            read("a.xlsx", data)
        # All cells together would have 200 MB and more.
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


HTML_SPANS = '<table><tr><td colspan="1000" rowspan="65534">{}</td></tr>' + "<tr><td>b</td></tr>" * 500 + "</table>"
HTML_ROWS = "<table>" + '<tr><td rowspan="500">{}</td><td>b</td></tr>' * 100 + "</table>"
HTML_COLUMNS = "<table>" + '<tr><td colspan="1000">{}</td><th colspan="1000">b</th></tr>' * 100 + "</table>"
ODT = (
    '<table:table><table:table-row><table:table-cell table:number-columns-spanned="1000" '
    'table:number-rows-spanned="9000"><text:p>{}</text:p></table:table-cell></table:table-row>'
    + "<table:table-row><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>" * 300
    + "</table:table>"
)
CELL = '<w:tc><w:tcPr><w:gridSpan w:val="1000"/>{}</w:tcPr><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>'


@pytest.mark.trust
@pytest.mark.parametrize("name", ["spans.html", "rows.html", "columns.html", "a.odt", "grid.docx", "down.docx"])
def test_a_cell_that_spans_thousands_of_others(name: str) -> None:
    words = WORDS[:6_000]
    if name.endswith(".docx"):
        down = ('<w:vMerge w:val="restart"/>', "<w:vMerge/>") if name == "down.docx" else ("", "")
        other = "<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc>"
        rows = [
            f"<w:tr>{CELL.format(down[number > 0], '' if number else words)}{other}</w:tr>" for number in range(300)
        ]
        data = docx_with(f"<w:tbl>{''.join(rows)}</w:tbl>")
        size = sum(map(len, rows))
    else:
        form = {"spans.html": HTML_SPANS, "rows.html": HTML_ROWS, "columns.html": HTML_COLUMNS, "a.odt": ODT}[name]
        markup = form.replace("{}", words, 1).replace("{}", "c")
        data, size = odt_of(markup) if name == "a.odt" else markup.encode(), len(markup)
    text = read(name, data)
    assert words.split()[0] in text
    assert len(text) <= 21 * size


def test_a_long_string_in_one_cell_is_read() -> None:
    assert "Harbor gate" in read("a.xlsx", workbook('<row><c t="s"><v>0</v></c></row>'))


@pytest.mark.trust
@pytest.mark.parametrize("name", ["a.epub", "a.odt", "a.docx"])
def test_a_small_file_that_unpacks_to_millions_of_characters(name: str) -> None:
    words = "The harbor opens at six. " * 300_000
    if name == "a.epub":
        data = epub({"a.html": f"<p>{words}</p>"})
    elif name == "a.odt":
        data = odt_of(f"<text:p>{words}</text:p>")
    else:
        data = packed(docx_with(f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>"))
    assert len(data) < 60_000
    with pytest.raises(RecordError, match="expands to more than"):
        read(name, data)
