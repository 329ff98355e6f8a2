"""PDF, e-books, office files and notebooks: headings, tables with the names of their columns, places, and bad files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from fpdf import FPDF
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pypdfium2 import PdfDocument, PdfiumError
from tests.sources.office import files

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart, RawDocument, SourceArticle, SourceSection
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource
from wikigr.sources.header import names_columns
from wikigr.sources.office import document
from wikigr.sources.office.pdf_pages import check_content
from wikigr.sources.office.source import OfficeConverter

LONG = "The harbor master decides in which order ships enter, and the pilot may refuse a ship that is too deep for it. "
TABLE = "Team: North | Lead: Ines Roth | People: 14\nTeam: South | Lead: Karim Haddad | People: 9"


def sections(data: bytes, name: str = "file") -> tuple[SourceSection, ...]:
    source = FolderSource(Path(name), "office")
    (item,) = source.parse(NoteRecord(name, data, "file"))
    assert isinstance(item, SourceArticle)
    return item.sections


def texts(data: bytes) -> dict[tuple[str, ...], str]:
    return {section.heading_path: section.text for section in sections(data)}


PAGES: list[files.Page] = [
    [(1, "Berths"), "Berth 4 is kept free for the pilot boat.", (2, "Fees"), LONG * 4],
    [(1, "Tides"), "High water follows the moon. The pilot boat leaves when the"],
    ["flag is down. It returns at noon.", LONG * 3],
]
PDF = {
    ("Page 1", "Berths"): "Berth 4 is kept free for the pilot boat.",
    ("Page 1", "Berths", "Fees"): (LONG * 4).strip(),
    # A paragraph that goes on belongs to the page where it begins.
    ("Page 2", "Tides"): (
        "High water follows the moon. The pilot boat leaves when the flag is down. It returns at noon."
    ),
    ("Page 3", "Tides"): (LONG * 3).strip(),
}
CANALS = [["Flight", "Locks", "Completed"], ["Neptune's Stairs", "8", "1811"], ["Muirtown", "4", "1813"]]
STYLED = [("Title", "Rules"), ("HTML Preformatted", "a"), ("HTML Preformatted", "  b"), ("toc 1", "x 3")]
ODT_BODY = (
    '<text:p text:style-name="Title">Rules</text:p><text:p text:style-name="P1">a</text:p>'
    '<text:p text:style-name="P1">b</text:p><text:list text:style-name="L1"><text:list-item><text:p>Moor.</text:p>'
    "</text:list-item></text:list>"
)
ODT_STYLES = (
    '<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/>'
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>'
)
READ: dict[str, tuple[Callable[[], bytes], dict[tuple[str, ...], str]]] = {
    "pdf with outline": (lambda: files.pdf(PAGES), PDF),
    "pdf with headings in larger letters": (lambda: files.pdf(PAGES, outline=False), PDF),
    "pdf with a table and code": (lambda: files.pdf_table(files.CREW),
     {("Page 1",): f"{TABLE}\n\ntide --next\n    --station norderney"}),
    "pdf with wrapped cells and narrow gaps": (
        lambda: files.pdf_cells(CANALS, [(0, 34, 50), (0, 33, 50), (0, 33, 50)], {2: (50, "and 1820")}),
        {
            ("Page 1",): "Flight: Neptune's Stairs | Locks: 8 | Completed: 1811\n"
            "Flight: Muirtown | Locks: 4 | Completed: 1813 and 1820"
        },
    ),
    "docx": (files.docx, {("Berths",): "Berth 4 is kept free for the pilot boat.",
     ("Berths", "Fees"): f"See the list.\n\n{TABLE}\n\n1. Moor the boat.\n2. Pay the fee."}),
    "docx with styles": (lambda: files.docx_of(STYLED, files.CREW), {("Rules",): f"a\n  b\n\n{TABLE}"}),
    "odt": (files.odt, {("Berths",): f"Berth 4 is kept free.\n\ntide --next\n\n- Moor the boat.\n\n{TABLE}"}),
    "odt with styles": (lambda: files.odt(ODT_BODY, ODT_STYLES, has_header=False),
     {("Rules",): f"a\nb\n\n1. Moor.\n\n{TABLE}"}),
    "pptx": (
        files.pptx,
        {("Slide 1", "Decisions"):
         "- The night shift starts at 22:00.\n- Handover takes 15 minutes.\n\nAsk Ines about the trial.",
         ("Slide 2", "Staffing"): TABLE,
         ("Slide 3", "Catch"): "Category: Cod | Tons: 82\nCategory: Herring | Tons: 4.5", ("Slide 4",): "The end."},
    ),
    "notebook": (
        files.notebook,
        {("Cell 1", "Tides"): "High water follows the moon with a delay.\n\n12 * 60 + 25\n\n745",
         ("Cell 3", "Tides", "Stations"):
         "The gauge is read every ten minutes.\n\ndf\n\nstation: Norderney | level: 3.1"},
    ),
    "notebook of code": (lambda: files.notebook(files.code_cell("import sea"), files.code_cell("sea.level()")),
     {("Cell 1",): "import sea", ("Cell 2",): "sea.level()"}),
    "epub in the order of its spine": (
        lambda: files.epub({"b.xhtml": "<h1>One</h1><p>First.</p>", "a.xhtml": "<h1>Two</h1><p>Second.</p>"}),
        {("Document 2", "One"): "First.", ("Document 3", "Two"): "Second."},
    ),
}  # fmt: skip


@pytest.mark.parametrize("make, expected", READ.values(), ids=READ)
def test_text_under_headings_and_places(make: Callable[[], bytes], expected: dict[tuple[str, ...], str]) -> None:
    assert list(texts(make()).items()) == list(expected.items())


def test_a_sheet_is_read_as_it_looks() -> None:
    found = texts(files.xlsx(rows=120))
    prices = {cells: found.pop((cells, "Prices")) for cells in ("Prices!A3:E53", "Prices!A54:E103", "Prices!A104:E123")}
    assert found == {
        ("Prices!A1:A1", "Prices"): "Price list 2026",
        ("Buses!B2:B2", "Buses"): "Timetable",
        (
            "Buses!B3:D5",
            "Buses",
        ): "Line: 12 | Stop: Harbor | First bus: 05:06\nLine: 12 | Stop: Mill | First bus: 05:21",
        ("Hours!A1:B3", "Hours"): "Day | Hours\nMonday | closed\nTuesday | 10:00-19:00",
        ("Hours!D1:E4", "Hours"): "Room: Hall | Seats: 120\nRoom: Map room | Seats: 14\nRoom: Attic | Seats: 9",
        ("Budget!A1:C3", "Budget"): "Item: Staff | 2025: 1220 | Change: 100%\nItem: Books | 2025: 410 | Change: 5%",
    }
    first = "Item: Still water | Size: 500 ml | Price: 3.2 | Since: 2026-01-05 | Discount: 25%"
    assert prices["Prices!A3:E53"].splitlines()[0] == first
    assert prices["Prices!A104:E123"].startswith("Item: Water 100 | ")


def _xlsx_called(title: str) -> bytes:
    from openpyxl import Workbook

    made = Workbook()
    made.properties.title = title
    made.active.append(["Berth", "Fee"])
    return files.saved(made)


CALLED: dict[str, Callable[[str], bytes]] = {
    "a.docx": lambda title: files.docx_called(title),
    "a.xlsx": _xlsx_called,
    "a.pdf": lambda title: files.pdf([["Text."]], title=title),
    "a.epub": lambda title: files.epub({"a.xhtml": "<p>Text.</p>"}, title),
    "a.odt": lambda title: files.odt_of("<text:p>Text.</text:p>", title=title),
}


TITLES = {
    "Harbor rules": "Harbor rules", " Harbor\n rules ": "Harbor rules", "Title of the harbor": "Title of the harbor",
    "Document of April": "Document of April",
    # What programs write.
    **dict.fromkeys(("", "Microsoft Word - rules v2.doc", "PowerPoint Presentation", "rules_final.docx"), "a"),
    **dict.fromkeys(("Document1", "untitled", "x" * 300), "a"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_the_title_is_the_one_that_a_document_states(tmp_path: Path, name: str) -> None:
    # The same rules hold for all kinds.
    for stated, title in TITLES.items() if name == "a.odt" else list(TITLES.items())[1:5:3]:
        (tmp_path / name).write_bytes(CALLED[name](stated))
        source = FolderSource(tmp_path / name, "office")
        (record,) = source.records()
        (article,) = source.parse(record)
        assert isinstance(article, SourceArticle)
        assert (article.title, article.aliases) == (title, () if title == "a" else ("a",)), stated


def test_the_content_decides_what_a_file_is() -> None:
    assert sections(files.docx(), "wrong.pdf") == sections(files.docx(), "right.docx")


@pytest.mark.parametrize(
    "rows, expected",
    [
        ([["Item", "2024", "2025"], ["Staff", "12", "13"]], True),
        ([["Ines", "1961", "2004"], ["Karim", "1970", "2011"]], False),
        ([["Name", "Pixmill"], ["Version", "3.2"], ["License", "MIT"]], False),
        ([["Item", "Price"], ["Water", "3"], ["Tea", "4"], ["Milk", "5"]], True),
        ([["Item", "Size", "Price"]], False),
    ],
)
def test_a_row_of_names_or_years_is_a_header(rows: list[list[str]], expected: bool) -> None:
    assert names_columns(rows) is expected


@pytest.mark.parametrize(
    "damaged, place, reason",
    [
        ([2], "file, page 2", "the page is damaged"),
        ([1, 3, 4, 5, 7, 8, 9], "file, pages 1, 3, 4, 5, 7 and 2 more", "the pages are damaged"),
    ],
)
def test_damaged_pages_of_a_pdf_are_named_and_the_others_are_read(damaged: list[int], place: str, reason: str) -> None:
    names = "alder birch cedar elm fir hazel larch maple oak".split()
    data = files.pdf_with_damaged_pages([f"{name.title()} and {name} stand there." for name in names], *damaged)
    bad, article = FolderSource(Path("file"), "office").parse(NoteRecord("file", data, "file"))
    assert bad == BadPart(place, reason)
    assert isinstance(article, SourceArticle)
    whole = [page for page in range(1, 10) if page not in damaged]
    assert [section.heading_path for section in article.sections] == [(f"Page {page}",) for page in whole]
    for page, section in zip(whole, article.sections, strict=True):
        assert [name for name in names if name in section.text] == [names[page - 1]]


def test_a_page_of_a_pdf_that_shows_nothing_because_its_content_is_damaged_is_named() -> None:
    before, second, third, *rest = re.split(rb"(?<!end)stream\n", files.pdf([["Alder."], ["Birch."], ["Cedar."]]))
    data = b"stream\n".join([before, second, b"\xff" * 40 + third[40:], *rest])
    bad, article = FolderSource(Path("file"), "office").parse(NoteRecord("file", data, "file"))
    assert bad == BadPart("file, page 2", "the page is damaged")
    assert isinstance(article, SourceArticle)
    assert {section.anchor for section in article.sections} == {"page=1", "page=3"}


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "text": (lambda: b"plain text", "the file is none of these: PDF, EPUB, DOCX, PPTX, XLSX, ODT, notebook"),
    "an archive": (lambda: files.archive({"a.txt": "x"}), "the file is none of these: "),
    "no pages": (lambda: b"%PDF-1.7\n%%EOF", "the file is damaged or not supported (PdfiumError"),
    "encrypted": (lambda: files.pdf([["Text."]], password="pw"), "the file is encrypted"),
    "old": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "the file is encrypted, or an Office file from"),
    "damaged pages": (lambda: files.pdf_with_damaged_pages(["A", "B"], 1, 2),
     "the file is damaged or not supported (Pdfium"),
    "images": (lambda: files.pdf_of_images(12), "no text; 12 pages are images"),
    "truncated": (lambda: files.docx()[:900], "the file is damaged or not supported (BadZipFile"),
    "no notebook": (lambda: b'{"a": 1', "the notebook is not valid JSON: "),
    "empty": (lambda: b"", "the file is empty"),
    "no letters": (lambda: files.pdf_without_letters(), "its letters cannot be read"),
    "encrypted text": (lambda: files.archive({"content.xml": "?",
     "META-INF/manifest.xml": "<a><manifest:encryption-data/></a>"}), "the file is encrypted"),
    "deep": (lambda: files.docx_of([], depth=120), "its elements are nested too deeply"),
    "encrypted book": (lambda: files.epub({"a.xhtml": "\0\0\0"}),
     "none of its 1 pages can be read: the file is not HTML"),
    "empty book": (lambda: files.archive({"META-INF/container.xml": "<a/>"}), "the book has no pages"),
}  # fmt: skip


@pytest.mark.parametrize("make, reason", BAD.values(), ids=BAD)
def test_a_bad_file_is_named_with_what_is_wrong(make: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(RecordError) as raised:
        sections(make(), "bad.pdf")
    assert raised.value.where.split(",")[0] == "bad.pdf"
    assert raised.value.reason.startswith(reason)


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 1_000_000)
    bomb = files.archive({"word/document.xml": "a" * 1_000_001})
    assert len(bomb) < 10_000
    with pytest.raises(RecordError, match="the file unpacks to more than"):
        sections(bomb)


def test_entities_of_a_document_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    content = (
        f'<!DOCTYPE a [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
        '<office:a xmlns:office="urn:o" xmlns:text="urn:t">'
        "<office:body><text:p>Not &e; this</text:p></office:body></office:a>"
    )
    (section,) = sections(files.archive({"content.xml": content}))
    assert section.text == "Not this"


def pdf_of(*streams: bytes, name: bytes = b"/FlateDecode") -> PdfDocument:
    """Return a PDF of one page whose content are the ``streams``, compressed with the filter ``name``."""
    numbers = b" ".join(b"%d 0 R" % number for number in range(4, 4 + len(streams)))
    contents = numbers if len(streams) == 1 else b"[" + numbers + b"]"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents " + contents + b">>",
        *(b"<</Filter%s/Length %d>>stream\n%s\nendstream" % (name, len(part), part) for part in streams),
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % pair for pair in enumerate(objects, start=1))
    return PdfDocument(b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>")


def flushed(content: bytes) -> bytes:
    """Return ``content`` compressed without a final block."""
    deflater = zlib.compressobj()
    return deflater.compress(content) + deflater.flush(zlib.Z_SYNC_FLUSH)


BLANK = zlib.compress(b"q 0 0 1 rg Q " * 40)
TEXT = zlib.compress(b"BT /F1 12 Tf 50 700 Td (The harbor master decides.) Tj ET")


@pytest.mark.parametrize(
    ("streams", "is_damaged"),
    [
        ((BLANK,), False),
        # The checksum is missing or wrong, which no reader of PDF minds.
        ((BLANK[:-4],), False),
        ((BLANK[:-1] + b"x",), False),
        # The end of the compressed data is missing as well: it is cut off, or was flushed and never finished.
        ((BLANK[:-5],), False),
        ((flushed(b"q 0 0 1 rg Q " * 40),), False),
        ((b"",), False),
        ((b"", BLANK), False),
        ((zlib.compress(b"q Q " * 500_000),), False),
        ((bytes(len(TEXT)),), True),
        ((b"\xff\xff" + TEXT[2:],), True),
        ((TEXT[:2] + b"\xff" * (len(TEXT) - 2),), True),
        ((TEXT[:3],), True),
        ((b"", b"\xff" * 40), True),
    ],
)
@pytest.mark.parametrize("name", [b"/FlateDecode", b"[/FlateDecode]"])
def test_a_page_that_shows_nothing_is_damaged_if_its_content_is(
    streams: tuple[bytes, ...], is_damaged: bool, name: bytes
) -> None:
    with pytest.raises(PdfiumError, match="decompress") if is_damaged else nullcontext():
        check_content(pdf_of(*streams, name=name), 0)


def test_a_page_with_nothing_in_it_or_a_picture_is_not_damaged() -> None:
    empty = FPDF()
    empty.add_page()
    for data in (bytes(empty.output()), files.pdf_of_images(1), files.pdf([["Berth 4 is free."]])):
        check_content(PdfDocument(data), 0)


FORM = [
    (50, 700, "Name: ____________ Date: ________"),
    (50, 680, "City"),
    (300, 680, "Rent"),
    (70, 660, "Furnished"),
    (200, 660, "Pets"),
    (50, 640, "Remarks:"),
    (50, 600, "The lease begins in May."),
]
FIELDS = [
    "/Subtype/Widget/FT/Tx/T(date)/V(3 May 2024)/Rect[190 696 260 712]LOOK",
    "/Subtype/Widget/FT/Tx/T(name)/V(Mira Stone)/Rect[85 696 150 712]LOOK",
    "/Subtype/Widget/FT/Tx/T(city)/V(Oslo)/Rect[80 676 200 692]LOOK",
    "/Subtype/Widget/FT/Ch/Ff 131072/T(r)/Opt[[(a)(950 euros)][(b)(1000 euros)]]/V(a)/Rect[330 676 420 692]LOOK",
    "/Subtype/Widget/FT/Btn/T(f)/V/Yes/AS/Yes/Rect[52 658 64 670]/AP<</N<</Yes 6 0 R/Off 6 0 R>>>>",
    "/Subtype/Widget/FT/Btn/T(p)/V/Off/AS/Off/Rect[180 658 192 670]/AP<</N<</Yes 6 0 R/Off 6 0 R>>>>",
    "/Subtype/Widget/FT/Tx/T(rem)/Ff 4096/V(Keys with\nthe neighbor)/Rect[110 615 400 655]LOOK",
    "/Subtype/Widget/FT/Tx/T(secret)/Ff 8192/V(hunter2)/Rect[110 500 400 515]LOOK",
    "/Subtype/Widget/FT/Tx/TU(Phone number)/T(Text5)/V(5551234)/Rect[110 480 400 495]LOOK",
    "/Subtype/Widget/FT/Btn/T(Accepted_rules)/V/Yes/AS/Yes/Rect[52 440 64 452]/AP<</N<</Yes 6 0 R/Off 6 0 R>>>>",
    "/Subtype/FreeText/Contents(Paid by Anna)/Rect[300 596 500 612]LOOK",
    "/Subtype/FreeText/F 2/Contents(hidden)/Rect[300 400 500 412]LOOK",
    "/Subtype/Widget/FT/Btn/Ff 65536/T(push)/Rect[52 300 64 310]LOOK",
]
FILLED = """Name: Mira Stone Date: 3 May 2024

City Oslo | Rent 950 euros
[x] Furnished | [ ] Pets

Remarks: Keys with the neighbor

The lease begins in May.
Paid by Anna

Phone number: 5551234

- [x] Accepted rules"""


@pytest.mark.parametrize("look", ["LOOK", ""])
@pytest.mark.parametrize("needs_look", [True, False])
def test_fields_of_a_form_are_in_the_lines_beside_them(look: str, needs_look: bool) -> None:
    fields = [field.replace("LOOK", look) for field in FIELDS]
    assert texts(files.pdf_form(FORM, fields, needs_look=needs_look)) == {("Page 1",): FILLED}


def test_text_typed_into_blanks_is_in_their_line_and_a_remark_is_not() -> None:
    lines = [(50, 700, "Name:"), (50, 680, "Owner ......"), (50, 660, "The boat is blue.")]
    typed = [(680, "Ines Roth"), (696, "Elsa"), (656, "Not so.")]
    notes = [f"/Subtype/FreeText/Contents({text})/Rect[120 {y} 300 {y + 16}]" for y, text in typed]
    assert texts(files.pdf_form(lines, notes)) == {
        ("Page 1",): "Name: Elsa\nOwner Ines Roth\nThe boat is blue.\nNot so."
    }


def test_a_form_of_fields_alone_is_read() -> None:
    fields = [
        f"/Subtype/Widget/FT/Tx/TU({name})/T({name})/V({name} 1)/Rect[50 {y} 90 {y + 12}]"
        for name, y in (("A", 9), ("B", 50))
    ]
    assert texts(files.pdf_form([], fields)) == {("Page 1",): "B: B 1\n\nA: A 1"}


UNITS: list[files.Spanned] = ["Units", "Sales", "Units", "Sales"]
SALES: list[list[files.Spanned]] = [["North", "120", "43", "150", "51"], ["South", "90", "21", "95", "25"]]
YEARS = "Region: North | 2024 Units: 120 | 2024 Sales: 43 | 2025 Units: 150 | 2025 Sales: 51"
LEVELS: dict[str, tuple[list[list[files.Spanned]], str]] = {
    "merged": ([[("Region", 1, 2), ("2024", 2, 1), ("2025", 2, 1)], UNITS, *SALES], YEARS),
    "empty cells": ([["Region", "2024", "", "2025", ""], ["", *UNITS], *SALES], YEARS),
    "three": (
        [[("Region", 1, 3), ("2024", 4, 1)], [("First half", 2, 1), ("Second half", 2, 1)], UNITS, *SALES],
        "Region: North | 2024 First half Units: 120 | 2024 First half Sales: 43 | 2024 Second half Units: 150"
        " | 2024 Second half Sales: 51",
    ),
}


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "odt"])
@pytest.mark.parametrize(("rows", "line"), LEVELS.values(), ids=LEVELS)
def test_levels_of_a_header_are_joined(kind: str, rows: list[list[files.Spanned]], line: str) -> None:
    *_, section = sections(files.with_table(kind, rows))
    assert line in section.text.splitlines()
    (table,) = [block for block in section.blocks if block.kind == "table"]
    names = [part.partition(": ")[0] for part in line.split(" | ")]
    assert list(table.columns) == names
    assert [section.text[cell.start : cell.end] for cell in table.rows[0]] == [
        part.partition(": ")[2] for part in line.split(" | ")
    ]


@pytest.mark.parametrize(
    ("paragraphs", "title"),
    [
        ([("Title", "Harbor rules"), ("Heading 1", "Berths"), ("Heading 1", "Fees")], "Harbor rules"),
        ([("Heading 1", "Harbor rules"), ("Heading 2", "Berths"), ("Heading 2", "Fees")], "Harbor rules"),
        ([("Heading 1", "Berths"), ("Heading 1", "Fees")], ""),
        ([("Normal", "Draft of May."), ("Title", "Harbor rules")], ""),
        ([("Title", "Document1")], ""),
    ],
)
def test_a_text_without_a_stated_title_is_called_by_what_stands_first(
    paragraphs: list[tuple[str, str]], title: str
) -> None:
    data = files.changed(files.docx_of(paragraphs), {}, {"docProps/core.xml": "<core/>"})
    assert OfficeConverter().scan(RawDocument("a.docx", data)).title == title
    tags = {"Title": 'p text:style-name="Title"', "Normal": "p"}
    levels = {f"Heading {level}": f'h text:outline-level="{level}"' for level in (1, 2)}
    body = "".join(
        f"<text:{(tags | levels)[style]}>{text}</text:{(tags | levels)[style][0]}>" for style, text in paragraphs
    )
    assert OfficeConverter().scan(RawDocument("a.odt", files.odt_of(body))).title == title


def test_comments_and_formulas_of_a_workbook_are_kept() -> None:
    from openpyxl import Workbook
    from openpyxl.comments import Comment

    made = Workbook()
    sheet = made.active
    sheet.title = "Berths"
    for row in (["Boat", "Fee", "Sum"], ["Elsa", 12, "=B2*2"], ["Gull", 9, "=B3*2"], ["Tern", 7, 14]):
        sheet.append(row)
    comments = {"B1": "In euros", "A3": "Sold in May", "B4": "Paid\nby Ann", "F9": "Ask the owner"}
    for cell, text in comments.items():
        sheet[cell].comment = Comment(text, "Ines")
    data = files.saved(made)
    bad, article = FolderSource(Path("x"), "office").parse(NoteRecord("fees.xlsx", data, "x"))
    assert isinstance(bad, BadPart) and (bad.where, bad.is_lost) == ("fees.xlsx, Berths!C2, C3", True)
    assert isinstance(article, SourceArticle)
    assert [section.text for section in article.sections] == [
        "Boat: Elsa | Fee: 12 | Sum: =B2*2 (not calculated)\nBoat: Gull | Fee: 9 | Sum: =B3*2 (not calculated)\n"
        "Boat: Tern | Fee: 7 | Sum: 14\n\n"
        "Fee: In euros\n\nGull, Boat: Sold in May\n\nTern, Fee: Paid by Ann",
        "Ask the owner",
    ]
    notes = [block.label for block in article.sections[0].blocks if block.kind == "footnote"]
    assert notes == ["B1", "A3", "B4"]


def test_comments_in_threads_replace_their_copies() -> None:
    from openpyxl import Workbook
    from openpyxl.comments import Comment

    made = Workbook()
    made.active.append(["Boat", "Fee", "Sum"])
    made.active["A1"].comment = Comment("[Threaded comment] Your version cannot read it.", "x")
    relation = (
        '<Relationship Id="t" Type="http://x/threadedComment" Target="../threadedComments/t1.xml"/></Relationships>'
    )
    thread = "".join(f'<threadedComment ref="A1"><text>{text}</text></threadedComment>' for text in ("Which?", "All."))
    data = files.changed(
        files.saved(made),
        {"xl/worksheets/_rels/sheet1.xml.rels": ("</Relationships>", relation)},
        {"xl/threadedComments/t1.xml": f'<ThreadedComments xmlns="x">{thread}</ThreadedComments>'},
    )
    assert [section.text for section in sections(data)] == ["Boat | Fee | Sum\n\nBoat: Which? All."]


@pytest.mark.parametrize(
    "left_out", ['w:type="paragraph" ', 'w:styleId="Quote"', '<w:name w:val="Quote"/>'], ids=["type", "id", "name"]
)
def test_a_style_may_lack_its_optional_parts(left_out: str) -> None:
    paragraphs = [("Heading 1", "Boats"), ("Normal", "They float."), ("Heading 1", "Gulls"), ("Normal", "They fly.")]
    made = files.docx_of(paragraphs)
    # Struck text makes the names of styles matter.
    struck = files.changed(made, {"word/styles.xml": ("<w:i/>", "<w:strike/>")}, {})
    for data in (made, struck):
        found = sections(files.changed(data, {"word/styles.xml": (left_out, "")}, {}))
        assert [section.heading_path for section in found] == [("Boats",), ("Gulls",)]


def test_a_symbol_without_a_number_is_left_out() -> None:
    symbols = '<w:r><w:sym w:font="Wingdings"/><w:sym w:font="Wingdings" w:char="F028"/></w:r>'
    hidden = '<w:r><w:rPr><w:vanish/></w:rPr><w:sym w:font="Wingdings"/></w:r>'
    (section,) = sections(files.docx_with(paragraph(run("Call "), symbols, hidden, run(" now."))))
    assert section.text == "Call \N{BLACK TOUCHTONE TELEPHONE} now."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<cellStyle name="Normal" ', "<cellStyle "),
        ("</styleSheet>", "<colors><indexedColors><rgbColor/></indexedColors></colors></styleSheet>"),
    ],
    ids=["name", "color"],
)
def test_styles_of_a_workbook_may_lack_optional_attributes(before: str, after: str) -> None:
    made = files.xlsx()
    data = files.changed(made, {"xl/styles.xml": (before, after)}, {})
    assert data != files.changed(made, {}, {}) and sections(data) == sections(made)


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*parts: str) -> str:
    return f"<w:p>{''.join(parts)}</w:p>"


def item(text: str, number: int, level: int = 0) -> str:
    place = f'<w:ilvl w:val="{level}"/><w:numId w:val="{number}"/>'
    return f"<w:p><w:pPr><w:numPr>{place}</w:numPr></w:pPr>{text}</w:p>"


def check_box(state: int) -> str:
    box = f'<w14:checkbox><w14:checked w14:val="{state}"/></w14:checkbox>'
    return f"<w:sdt><w:sdtPr>{box}</w:sdtPr><w:sdtContent>{run('☐')}</w:sdtContent></w:sdt>"


def math(markup: str) -> str:
    """Return an equation; ``'x'`` stands for a run of it."""
    return "<m:oMath>" + re.sub("'([^']*)'", r"<m:r><m:t>\1</m:t></m:r>", markup) + "</m:oMath>"


FIELD = '<w:fldSimple w:instr=" REF x ">{}</w:fldSimple>'
ROOTS = (
    "'x='<m:f><m:num>'-b±'<m:rad><m:deg/><m:e><m:sSup><m:e>'b'</m:e><m:sup>'2'</m:sup></m:sSup>'-4ac'</m:e></m:rad>"
    "</m:num><m:den>'2a'</m:den></m:f>"
)
SUM = (
    "<m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr><m:sub>'i=1'</m:sub><m:sup>'n'</m:sup>"
    "<m:e><m:sSub><m:e>'x'</m:e><m:sub>'i'</m:sub></m:sSub></m:e></m:nary>"
)
SINE = (
    '<m:func><m:fName>\'sin\'</m:fName><m:e><m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>'
    "<m:e>'a+b'</m:e></m:d></m:e></m:func>"
)
PROMPT = f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Click here.')}</w:sdtContent></w:sdt>"
ENTRIES = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList>'
FORM_LIST = (
    f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{ENTRIES}</w:ffData></w:fldChar></w:r>'
    '<w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
OLD_BOX = (
    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData>'
    '</w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
NOTE = '<w:r><w:footnoteReference w:id="0"/></w:r>'
CELL = "<w:tc>{}</w:tc>"
WORD: dict[str, tuple[list[str], str]] = {
    "a simple field": ([paragraph(run("Due on "), FIELD.format(run("3 May")), run("."))], "Due on 3 May."),
    "a field in a field": ([paragraph(FIELD.format(run("See ") + FIELD.format(run("2.1"))))], "See 2.1"),
    "a fraction and a root": ([paragraph(run("So "), math(ROOTS))], "So x=(-b±√(b^2-4ac))/(2a)"),
    "a sum": ([paragraph("<m:oMathPara>", math(SUM), "</m:oMathPara>")], "∑_(i=1)^n x_i"),
    "brackets and a function": ([paragraph(math(SINE))], "sin [a+b]"),
    "check boxes in a line": ([paragraph(run("Fuel: "), check_box(1), run(" diesel "), check_box(0), run(" petrol"))],
     "Fuel: [x] diesel [ ] petrol"),
    "tasks": ([paragraph(check_box(1), run(" Buy rope")), paragraph(check_box(0), run("Paint")),
     paragraph(run("☐ Call")), paragraph(run("☑"), run(" Pay")), paragraph(OLD_BOX, run(" Sail"))],
     "- [x] Buy rope\n- [ ] Paint\n- [ ] Call\n- [x] Pay\n- [x] Sail"),
    "a check box in a table": (["<w:tbl><w:tr>", CELL.format(paragraph(run("Insured"))),
     CELL.format(paragraph(check_box(1))), CELL.format(paragraph(check_box(0), run(" sold"))), "</w:tr></w:tbl>"],
     "Insured | [x] | [ ] sold"),
    "a list of a form, and a prompt": ([paragraph(run("Hull: "), FORM_LIST), paragraph(run("Owner: "), PROMPT)],
     "Hull: blue\n\nOwner:"),
    "struck text": ([paragraph(run("Fee "), run("10 ", "<w:strike/>"), run("9 ", "<w:dstrike/>"), run("12")),
     paragraph(run("Closed", "<w:dstrike/>"))], "Fee 12\n\n~~Closed~~"),
    "text that is not struck": ([paragraph(run("Fee "), run("10", '<w:strike w:val="0"/>'))], "Fee 10"),
    "numbers that go on after a paragraph": ([item(run("Cast off"), 1), item(run("Steer"), 1), paragraph(run("Then:")),
     item(run("Moor"), 1)], "1. Cast off\n2. Steer\n\nThen:\n\n3. Moor"),
    "letters from the third on, with numbers inside": ([item(run("Bow"), 2), item(run("Rail"), 2, 1),
     item(run("Stern"), 2), item(run("Rail"), 2, 1)], "c. Bow\n   1. Rail\nd. Stern\n   1. Rail"),
    "a list that begins again": ([item(run("Cast off"), 4), item(run("Steer"), 4), paragraph(run("Back:")),
     item(run("Row"), 3)], "1. Cast off\n2. Steer\n\nBack:\n\n1. Row"),
    "typed bullets": ([paragraph(run("• Rope")), paragraph(run("•"), "<w:r><w:tab/></w:r>", run("Oars")),
     paragraph(run("▪ Sail"))], "- Rope\n- Oars\n- Sail"),
    "hidden text": ([paragraph(run("Fee "), run("secret ", "<w:vanish/>"), run("12", '<w:vanish w:val="0"/>'))],
     "Fee 12"),
    "the hidden mark of a paragraph": (["<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>", run("Fee 12"), "</w:p>"],
     "Fee 12"),
    "text under its pronunciation": ([paragraph("<w:r><w:ruby><w:rt>", run("みなと"), "</w:rt><w:rubyBase>", run("港"),
     "</w:rubyBase></w:ruby></w:r>", run(" is a harbor"))], "港 is a harbor"),
    "a note": ([paragraph(run("Elsa sails"), NOTE, run(" on Sunday."))], "Elsa sails on Sunday.\n\n1. Built in 1911."),
}  # fmt: skip


LISTS = (
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="2"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/>'
    '</w:lvlOverride></w:num><w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num>'
)


def test_fields_equations_and_boxes_of_word(subtests: pytest.Subtests) -> None:
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{}</w:p>'
    parts = [part for name, (own, _) in WORD.items() for part in (heading.format(run(name)), *own)]
    note = paragraph(run("Built in "), FIELD.format(run("1911")), run("."))
    found = {section.heading_path: section for section in sections(files.docx_with(*parts, notes=[note], lists=LISTS))}
    assert len(found) == len(WORD)
    for name, (_, expected) in WORD.items():
        with subtests.test(name=name):
            assert found[name,].text == expected
            kinds = {block.kind for block in found[name,].blocks}
            assert ("task" in kinds, "footnote" in kinds) == (expected.startswith("- ["), "1. Built" in expected)


STRUCK = (
    '<style:style style:name="T1"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="T2"><style:text-properties style:text-line-through-style="none"/></style:style>'
)
CONTROL = '<office:forms><form:checkbox form:id="c1" form:current-state="{}" form:label="Insured"/></office:forms>'
BOX = "<draw:frame><draw:text-box><text:p>No dogs.</text:p></draw:text-box></draw:frame>"
CONTENT = (
    '<loext:content-control loext:checkbox="true" loext:checked="{}"><text:span>x</text:span></loext:content-control>'
)
LIST = '<text:list text:style-name="{}" {}><text:list-item><text:p>{}</text:p></text:list-item></text:list>'
ROW = (
    "<table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell>"
    "<table:table-cell {}><text:p>{}</text:p></table:table-cell></table:table-row>"
)
TWICE = 'table:number-columns-repeated="2"'
NUMBERED = "".join(
    f'<text:list-style style:name="{name}">'
    + "".join(
        f'<text:list-level-style-number text:level="{level}" style:num-format="{form}" text:start-value="{first}"/>'
        for level, form, first in levels
    )
    + "</text:list-style>"
    for name, levels in {"L1": [(1, "1", 1)], "L2": [(1, "a", 3), (2, "i", 1)]}.items()
)
OPEN_DOCUMENT = {
    "a text box in a paragraph": (f"<text:p>Elsa sails{BOX} on Sunday.</text:p>", "Elsa sails on Sunday.\n\nNo dogs."),
    "a text box at a page": (f"{BOX}<text:p>Elsa sails.</text:p>", "Elsa sails.\n\nNo dogs."),
    "a text box in a heading's paragraph, and a shape": (
        f"<text:p>{BOX}</text:p><text:p>Elsa<draw:custom-shape><text:p>Ahoy!</text:p></draw:custom-shape></text:p>",
        "No dogs.\n\nElsa\n\nAhoy!",
    ),
    "a picture": ("<text:p>Elsa<draw:frame><draw:image><text:p>x</text:p></draw:image></draw:frame></text:p>", "Elsa"),
    "a note": (
        "<text:p>Elsa<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A boat.</text:p>"
        "</text:note-body></text:note> sails.</text:p>",
        "Elsa sails.\n\n1. A boat.",
    ),
    "a checked control": (CONTROL.format("checked") + '<text:p><draw:control draw:control="c1"/></text:p>',
     "- [x] Insured"),
    "an open control": (CONTROL.format("unchecked") + '<text:p><draw:control draw:control="c1"/></text:p>',
     "- [ ] Insured"),
    "a content control": (f"<text:p>Fuel {CONTENT.format('true')} diesel</text:p>", "Fuel [x] diesel"),
    "typed boxes": ("<text:p>☐ Call</text:p><text:p>☒ Pay</text:p>", "- [ ] Call\n\n- [x] Pay"),
    "numbers that go on after a paragraph": (
        f"{LIST.format('L1', '', 'Cast off')}<text:p>Then:</text:p>"
        + LIST.format("L1", 'text:continue-numbering="true"', "Steer")
        + "<text:p>Back:</text:p>"
        + LIST.format("L1", "", "Row"),
        "1. Cast off\n\nThen:\n\n2. Steer\n\nBack:\n\n1. Row",
    ),
    "a list that another one continues by its name": (
        LIST.format("L1", 'xml:id="a"', "Cast off") + LIST.format("L2", "", "Bow")
        + LIST.format("L1", 'text:continue-list="a"', "Steer"),
        "1. Cast off\n\nc. Bow\n\n2. Steer",
    ),
    "a numbered list in a list": (LIST.format("L2", "",
     "Bow</text:p><text:list><text:list-item><text:p>Rail</text:p></text:list-item></text:list><text:p>"),
     "c. Bow\n\n   i. Rail"),
    "repeated cells": (
        f"<table:table>{ROW.format('Boat', '', 'Mast')}{ROW.format('Elsa', TWICE, '9')}{ROW.format('Ida', '', '7')}"
        f"</table:table>",
        "Boat: Elsa | Mast: 9 | 9\nBoat: Ida | Mast: 7",
    ),
    "hidden parts": (
        '<text:section text:display="none"><text:p>Old</text:p></text:section><text:section><text:p>New</text:p>'
        "</text:section><text:p>Fee<text:hidden-text> 10</text:hidden-text> 12</text:p>",
        "New\n\nFee 12",
    ),
    "struck text": (
        '<text:p>Fee <text:span text:style-name="T1">10</text:span> '
        '<text:span text:style-name="T2">12</text:span></text:p>',
        "Fee 12",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), OPEN_DOCUMENT.values(), ids=OPEN_DOCUMENT)
def test_boxes_notes_and_struck_text_of_opendocument(body: str, expected: str) -> None:
    (section,) = sections(files.odt_of(body, STRUCK + NUMBERED))
    assert section.text == expected


DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"


def deck(shape: str = "", *, diagram: str = "", paragraphs: Sequence[tuple[int, str, str]] = ()) -> bytes:
    """Return a presentation of one slide with a shape in XML and a box of paragraphs: their level, look and text."""
    from pptx import Presentation
    from pptx.oxml import parse_xml
    from pptx.util import Inches

    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    names = (
        f'xmlns:a="{DRAWING}/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
        'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    )
    if diagram:
        part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, diagram.encode())
        shape = shape.replace("DATA", slide.part.relate_to(part, f"{DRAWING}/diagramData"))
    if shape:
        name, rest = shape.split(">", 1)
        slide.shapes._spTree.append(parse_xml(f"{name} {names}>{rest}"))
    frame = slide.shapes.add_textbox(*map(Inches, (1, 1, 4, 4))).text_frame
    for number, (level, look, text) in enumerate(paragraphs):
        added = frame.add_paragraph() if number else frame.paragraphs[0]
        added.text, added.level = text, level
        if look:
            added._p.get_or_add_pPr().append(parse_xml(look.replace("/>", f' xmlns:a="{DRAWING}/main"/>')))
    return files.saved(made)


NUMBER = '<a:buAutoNum type="{}"/>'
BULLET = '<a:buChar char="•"/>'


@pytest.mark.parametrize(
    ("paragraphs", "expected"),
    [
        ([(0, "", "Load:"), (0, BULLET, "rope"), (0, BULLET, "oars")], "Load:\n\n- rope\n- oars"),
        ([(0, NUMBER.format("arabicPeriod"), word) for word in ("Row", "Steer")], "1. Row\n2. Steer"),
        ([(0, NUMBER.format('romanLcPeriod" startAt="4'), word) for word in ("Row", "Steer")], "iv. Row\nv. Steer"),
        ([(0, NUMBER.format("alphaLcParenBoth"), "Bow"), (1, NUMBER.format("arabicPeriod"), "Rail"),
         (0, NUMBER.format("alphaLcParenBoth"), "Stern"), (1, NUMBER.format("arabicPeriod"), "Rail")],
         "a. Bow\n   1. Rail\nb. Stern\n   1. Rail"),
        ([(0, "<a:buNone/>", "Row"), (0, "<a:buNone/>", "Steer")], "Row\n\nSteer"),
    ],
)  # fmt: skip
def test_bullets_and_numbers_of_a_slide(paragraphs: list[tuple[int, str, str]], expected: str) -> None:
    (section,) = sections(deck(paragraphs=paragraphs))
    assert section.text == expected


SHAPE = (
    "<p:sp><p:nvSpPr><p:cNvPr id='9' name='x'/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>"
    "<p:txBody><a:bodyPr/>{}</p:txBody></p:sp>"
)
EQUATION = "<a:p><a:r><a:t>Speed </a:t></a:r><a14:m><m:oMath><m:r><m:t>v=s/t</m:t></m:r></m:oMath></a14:m></a:p>"
DIAGRAM = (
    "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='9' name='x'/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>"
    "<p:xfrm/><a:graphic><a:graphicData uri='d'><d:relIds xmlns:d='d' r:dm='DATA'/></a:graphicData></a:graphic>"
    "</p:graphicFrame>"
)
POINTS = f"<d:m xmlns:d='d' xmlns:a='{DRAWING}/main'><d:pt/>{{}}</d:m>"
POINT = "<d:pt><d:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></d:t></d:pt>"


@pytest.mark.parametrize(
    ("shape", "diagram", "expected"),
    [
        (SHAPE.format(EQUATION), "", "Speed v=s/t"),
        (
            f"<mc:AlternateContent><mc:Choice Requires='a14'>{SHAPE.format(EQUATION)}</mc:Choice>"
            f"<mc:Fallback>{SHAPE.format('<a:p/>')}</mc:Fallback></mc:AlternateContent>",
            "",
            "Speed v=s/t",
        ),
        (DIAGRAM, POINTS.format(POINT.format("Cast off") + POINT.format("Steer")), "- Cast off\n- Steer"),
    ],
)
def test_equations_and_diagrams_of_a_slide(shape: str, diagram: str, expected: str) -> None:
    (section,) = sections(deck(shape, diagram=diagram))
    assert section.text == expected


@pytest.mark.trust
def test_cells_that_are_repeated_in_each_other_do_not_multiply() -> None:
    inside = "Rope"
    for _ in range(4):
        cell = f'<table:table-cell table:number-columns-repeated="50"><text:p>{inside}</text:p></table:table-cell>'
        inside = f'<table:table><table:table-row table:number-rows-repeated="50">{cell}</table:table-row></table:table>'
    assert sum(len(section.text) for section in sections(files.odt_of(inside))) < 2_000_000


def test_a_chart_is_a_table_with_the_values_as_they_look() -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData, XyChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    share, depth, nested = CategoryChartData(number_format="0%"), XyChartData(), CategoryChartData()
    share.categories = ["Elsa", "Ida"]
    share.add_series("Share", (0.25, None))
    depth.add_series("Depth").add_data_point(1.5, 20)
    for name in ("North", "South"):
        nested.add_category(name).add_sub_category("May")
    nested.add_series("Boats", (3, 4))
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    for data, kind in ((share, "COLUMN_CLUSTERED"), (depth, "XY_SCATTER"), (nested, "BAR_CLUSTERED")):
        slide.shapes.add_chart(XL_CHART_TYPE[kind], *map(Inches, (1, 1, 4, 3)), data)
    assert sections(files.saved(made))[0].text.splitlines() == [
        "Category: Elsa | Share: 25%", "Category: Ida", "", "Category: 1.5 | Depth: 20", "",
        "Category: North May | Boats: 3", "Category: South May | Boats: 4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (["It ground 1200", "SUP 3", " bags of flour."], "It ground 1200 bags of flour."),
        (["Ada wrote it.", "SUP 12", " She left."], "Ada wrote it. She left."),
        (["It weighs 10", "SUP 24", " kg on 300 m", "SUP 2", "."], "It weighs 10^24 kg on 300 m^2."),
        (["Water is H", "SUB 2", "O, in 1984", "SUP *", " too."], "Water is H2O, in 1984 too."),
        (["SUP 3", "Counted by Ida."], "3Counted by Ida."),
    ],
)
def test_raised_digits_of_a_pdf_do_not_run_into_numbers(parts: list[str], line: str) -> None:
    made = FPDF()
    made.add_page()
    made.set_font("Helvetica", size=11)
    for part in parts:
        place, _, text = part.rpartition(" ") if part[:3] in ("SUP", "SUB") else ("LINE", "", part)
        made.char_vpos = place
        made.write(8, text)
    (section,) = sections(bytes(made.output()))
    assert section.text == line
