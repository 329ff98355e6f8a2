"""PDF, e-books, office files and notebooks: headings, tables with the names of their columns, places, and bad files."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sources.office import files

from wikigr.errors import RecordError
from wikigr.sources.article import SourceArticle, SourceSection
from wikigr.sources.note_folder import NoteRecord
from wikigr.sources.office import archive
from wikigr.sources.office.source import OfficeSource

LONG = "The harbor master decides in which order ships enter, and the pilot may refuse a ship that is too deep for it. "
TABLE = "Team: North | Lead: Ines Roth | People: 14\nTeam: South | Lead: Karim Haddad | People: 9"


def sections(data: bytes, name: str = "file") -> tuple[SourceSection, ...]:
    source = OfficeSource(Path(name))
    (item,) = source.parse(NoteRecord(name, data, "file"))
    assert isinstance(item, SourceArticle)
    return item.sections


def texts(data: bytes) -> dict[tuple[str, ...], str]:
    return {section.heading_path: section.text for section in sections(data)}


@pytest.mark.parametrize("outline", [True, False])
def test_a_pdf_has_the_headings_of_its_outline_or_of_its_letters(outline: bool) -> None:
    pages: list[files.Page] = [
        [(1, "Berths"), "Berth 4 is kept free for the pilot boat.", (2, "Fees"), LONG * 4],
        [(1, "Tides"), "High water follows the moon."],
        ["Low water does not."],
    ]
    found = texts(files.pdf(pages, outline=outline))
    assert found == {
        ("Page 1", "Berths"): "Berth 4 is kept free for the pilot boat.",
        ("Page 1", "Berths", "Fees"): (LONG * 4).strip(),
        ("Page 2", "Tides"): "High water follows the moon.",
        ("Page 3", "Tides"): "Low water does not.",
    }


def test_a_paragraph_that_goes_on_belongs_to_the_page_where_it_begins() -> None:
    pages: list[files.Page] = [
        [(1, "Berths"), "The pilot boat leaves when the"],
        ["flag is down. It returns at noon.", LONG * 3],
    ]
    found = texts(files.pdf(pages))
    assert found["Page 1", "Berths"] == "The pilot boat leaves when the flag is down. It returns at noon."
    assert found["Page 2", "Berths"] == (LONG * 3).strip()


def test_tables_and_code_of_a_pdf_keep_their_rows() -> None:
    (section,) = sections(files.pdf_table(files.CREW))
    assert section.text == f"{TABLE}\n\ntide --next\n    --station norderney"


def test_word_and_opendocument_keep_headings_tables_and_lists() -> None:
    word = texts(files.docx())
    assert word["Berths",] == "Berth 4 is kept free for the pilot boat."
    assert word["Berths", "Fees"] == f"See the list.\n\n{TABLE}\n\n1. Moor the boat.\n2. Pay the fee."
    assert texts(files.odt()) == {("Berths",): f"Berth 4 is kept free.\n\ntide --next\n\n- Moor the boat.\n\n{TABLE}"}


def test_slides_and_cells_are_places() -> None:
    assert texts(files.pptx()) == {
        ("Slide 1", "Decisions"): (
            "- The night shift starts at 22:00.\n- Handover takes 15 minutes.\n\nAsk Ines about the trial."
        ),
        ("Slide 2", "Staffing"): TABLE,
    }
    found = texts(files.xlsx(rows=120))
    assert found["Prices!A1:A1", "Prices"] == "Price list 2026"
    first = "Item: Still water | Size: 500 ml | Price: 3.2 | Since: 2026-01-05 | Discount: 25%"
    assert found["Prices!A3:E53", "Prices"].splitlines()[0] == first
    assert list(found)[1:] == [(f"Prices!{cells}", "Prices") for cells in ("A3:E53", "A54:E103", "A104:E123")]
    assert found["Prices!A104:E123", "Prices"].startswith("Item: Water 100 | ")


def test_the_cells_of_a_notebook_follow_its_notes() -> None:
    assert texts(files.notebook()) == {
        ("Cell 1", "Tides"): "High water follows the moon with a delay.\n\n12 * 60 + 25\n\n745",
        ("Cell 3", "Tides", "Stations"): (
            "The gauge is read every ten minutes.\n\ndf\n\nstation: Norderney | level: 3.1"
        ),
    }


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    book = files.epub({"b.xhtml": "<h1>One</h1><p>First.</p>", "a.xhtml": "<h1>Two</h1><p>Second.</p>"})
    assert list(texts(book).items()) == [
        (("Document 2", "One"), "First."),
        (("Document 3", "Two"), "Second."),
    ]


def test_the_title_of_the_document_is_an_alias(tmp_path: Path) -> None:
    for name, data, alias in (
        ("rules.docx", files.docx(), "Harbor rules"),
        ("book.epub", files.epub({"a.xhtml": "<p>Text.</p>"}), "Harbor book"),
        ("manual.pdf", files.pdf([["Text."]], title="Harbor manual"), "Harbor manual"),
    ):
        (tmp_path / name).write_bytes(data)
        source = OfficeSource(tmp_path / name)
        (record,) = source.records()
        (article,) = source.parse(record)
        assert isinstance(article, SourceArticle)
        assert (article.title, article.aliases) == (Path(name).stem, (alias,))


def test_the_content_decides_what_a_file_is() -> None:
    assert sections(files.docx(), "wrong.pdf") == sections(files.docx(), "right.docx")


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "text": (lambda: b"plain text", "the file is none of these: PDF, EPUB, DOCX, PPTX, XLSX, ODT, notebook"),
    "an archive": (lambda: files.archive({"a.txt": "x"}), "the file is none of these: "),
    "no pages": (lambda: b"%PDF-1.7\n%%EOF", "the file is damaged or not supported (PdfiumError"),
    "encrypted": (lambda: files.pdf([["Text."]], password="pw"), "the file is encrypted"),
    "old": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "the file is encrypted, or an Office file from"),
    "images": (lambda: files.pdf_of_images(12), "no text; 12 pages are images"),
    "truncated": (lambda: files.docx()[:900], "the file is damaged or not supported (BadZipFile"),
    "no notebook": (lambda: b'{"a": 1', "the file is damaged or not supported (NotJSONError"),
    "empty book": (lambda: files.archive({"META-INF/container.xml": "<a/>"}), "the file is damaged or not supported"),
}


@pytest.mark.parametrize("make, reason", BAD.values(), ids=BAD)
def test_a_bad_file_is_named_with_what_is_wrong(make: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(RecordError) as raised:
        sections(make(), "bad.pdf")
    assert raised.value.where == "bad.pdf"
    assert raised.value.reason.startswith(reason)


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 1_000_000)
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
            list(OfficeSource(Path("x")).parse(NoteRecord("x", bytes(data), "x")))
            outcomes["text"] += 1
        except RecordError:
            outcomes["refused"] += 1
    assert all(outcomes.values()), outcomes
