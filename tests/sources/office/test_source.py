"""PDF, e-books, office files and notebooks: headings, tables with the names of their columns, places, and bad files."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from fpdf import FPDF
from pypdfium2 import PdfDocument, PdfiumError
from tests.sources.office import files

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart, SourceArticle, SourceSection
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource
from wikigr.sources.office import document
from wikigr.sources.office.document import names_columns
from wikigr.sources.office.pdf_pages import check_content

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
    '<text:list-style style:name="L1"><text:list-level-style-number/></text:list-style>'
)
READ: dict[str, tuple[Callable[[], bytes], dict[tuple[str, ...], str]]] = {
    "pdf with outline": (lambda: files.pdf(PAGES), PDF),
    "pdf with headings in larger letters": (lambda: files.pdf(PAGES, outline=False), PDF),
    "pdf with a table and code": (
        lambda: files.pdf_table(files.CREW),
        {("Page 1",): f"{TABLE}\n\ntide --next\n    --station norderney"},
    ),
    "pdf with wrapped cells and narrow gaps": (
        lambda: files.pdf_cells(CANALS, [(0, 34, 50), (0, 33, 50), (0, 33, 50)], {2: (50, "and 1820")}),
        {
            ("Page 1",): "Flight: Neptune's Stairs | Locks: 8 | Completed: 1811\n"
            "Flight: Muirtown | Locks: 4 | Completed: 1813 and 1820"
        },
    ),
    "docx": (
        files.docx,
        {
            ("Berths",): "Berth 4 is kept free for the pilot boat.",
            ("Berths", "Fees"): f"See the list.\n\n{TABLE}\n\n1. Moor the boat.\n2. Pay the fee.",
        },
    ),
    "docx with styles": (lambda: files.docx_of(STYLED, files.CREW), {("Rules",): f"a\n  b\n\n{TABLE}"}),
    "odt": (
        files.odt,
        {("Berths",): f"Berth 4 is kept free.\n\ntide --next\n\n- Moor the boat.\n\n{TABLE}"},
    ),
    "odt with styles": (
        lambda: files.odt(ODT_BODY, ODT_STYLES, has_header=False),
        {("Rules",): f"a\nb\n\n1. Moor.\n\n{TABLE}"},
    ),
    "pptx": (
        files.pptx,
        {
            ("Slide 1", "Decisions"): (
                "- The night shift starts at 22:00.\n- Handover takes 15 minutes.\n\nAsk Ines about the trial."
            ),
            ("Slide 2", "Staffing"): TABLE,
            ("Slide 3", "Catch"): "Category: Cod | Tons: 82\nCategory: Herring | Tons: 4.5",
            ("Slide 4",): "The end.",
        },
    ),
    "notebook": (
        files.notebook,
        {
            ("Cell 1", "Tides"): "High water follows the moon with a delay.\n\n12 * 60 + 25\n\n745",
            ("Cell 3", "Tides", "Stations"): (
                "The gauge is read every ten minutes.\n\ndf\n\nstation: Norderney | level: 3.1"
            ),
        },
    ),
    "notebook of code": (
        lambda: files.notebook(files.code_cell("import sea"), files.code_cell("sea.level()")),
        {("Cell 1",): "import sea", ("Cell 2",): "sea.level()"},
    ),
    "epub in the order of its spine": (
        lambda: files.epub({"b.xhtml": "<h1>One</h1><p>First.</p>", "a.xhtml": "<h1>Two</h1><p>Second.</p>"}),
        {("Document 2", "One"): "First.", ("Document 3", "Two"): "Second."},
    ),
}


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


def test_the_title_of_the_document_is_an_alias(tmp_path: Path) -> None:
    for name, data, alias in (
        ("rules.docx", files.docx(), "Harbor rules"),
        ("book.epub", files.epub({"a.xhtml": "<p>Text.</p>"}), "Harbor book"),
        ("manual.pdf", files.pdf([["Text."]], title="Harbor manual"), "Harbor manual"),
    ):
        (tmp_path / name).write_bytes(data)
        source = FolderSource(tmp_path / name, "office")
        (record,) = source.records()
        (article,) = source.parse(record)
        assert isinstance(article, SourceArticle)
        assert (article.title, article.aliases) == (Path(name).stem, (alias,))


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
    "damaged pages": (
        lambda: files.pdf_with_damaged_pages(["A", "B"], 1, 2),
        "the file is damaged or not supported (Pdfium",
    ),
    "images": (lambda: files.pdf_of_images(12), "no text; 12 pages are images"),
    "truncated": (lambda: files.docx()[:900], "the file is damaged or not supported (BadZipFile"),
    "no notebook": (lambda: b'{"a": 1', "the notebook is not valid JSON: "),
    "empty": (lambda: b"", "the file is empty"),
    "no letters": (lambda: files.pdf_without_letters(), "its letters cannot be read"),
    "encrypted text": (
        lambda: files.archive({"content.xml": "?", "META-INF/manifest.xml": "<a><manifest:encryption-data/></a>"}),
        "the file is encrypted",
    ),
    "deep": (lambda: files.docx_of([], depth=120), "its elements are nested too deeply"),
    "encrypted book": (
        lambda: files.epub({"a.xhtml": "\0\0\0"}),
        "none of its 1 pages can be read: the file is not HTML",
    ),
    "empty book": (lambda: files.archive({"META-INF/container.xml": "<a/>"}), "the book has no pages"),
}


@pytest.mark.parametrize("make, reason", BAD.values(), ids=BAD)
def test_a_bad_file_is_named_with_what_is_wrong(make: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(RecordError) as raised:
        sections(make(), "bad.pdf")
    assert raised.value.where == "bad.pdf"
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


def test_damaged_files_give_an_error_or_some_text() -> None:
    rng = random.Random(7)
    whole = [files.pdf([[(1, "Berths"), LONG * 5]]), files.docx(), files.pptx(), files.xlsx(), files.odt()]
    outcomes = {"text": 0, "refused": 0}
    for _ in range(60):
        data = bytearray(rng.choice(whole))
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        for _ in range(rng.choice((1, 20, 200))):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            list(FolderSource(Path("x"), "office").parse(NoteRecord("x", bytes(data), "x")))
            outcomes["text"] += 1
        except RecordError:
            outcomes["refused"] += 1
    assert all(outcomes.values()), outcomes


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
