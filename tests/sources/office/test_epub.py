"""E-books that are partly broken are read as far as they can be, and what is missing is named."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import pytest

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart, RawDocument, SourceArticle, SourceItem
from wikigr.sources.documents import NoteRecord
from wikigr.sources.folder import FolderSource
from wikigr.sources.office.source import OfficeConverter

CONTAINER = "<container><rootfiles><rootfile full-path='{}'/></rootfiles></container>"
PAGE = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{0}</h1><p>{0} grind oats.</p></body></html>"
MILLS = {"OEBPS/a.xhtml": PAGE.format("Mills"), "OEBPS/b.xhtml": PAGE.format("Stones")}
BOTH = "Mills grind oats.|Stones grind oats."


def package(
    pages: Mapping[str, str], spine: Sequence[str], *, title: str = "Mills", kind: str = "application/xhtml+xml"
) -> str:
    items = "".join(f'<item id="{name}" href="{href}" media-type="{kind}"/>' for name, href in pages.items())
    refs = "".join(f'<itemref idref="{name}"/>' for name in spine)
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{refs}</spine></package>"
    )


def book(members: Mapping[str, str], container: str = CONTAINER.format("OEBPS/x.opf")) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as opened:
        opened.writestr("mimetype", "application/epub+zip")
        for name, text in ({"META-INF/container.xml": container} | dict(members)).items():
            if text:
                opened.writestr(name, text)
    return data.getvalue()


def parse(data: bytes) -> tuple[SourceArticle, list[BadPart]]:
    items: list[SourceItem] = list(FolderSource(Path("x"), "office").parse(NoteRecord("x.epub", data, "x")))
    (article,) = (item for item in items if isinstance(item, SourceArticle))
    return article, [item for item in items if isinstance(item, BadPart)]


AB = {"a": "a.xhtml", "b": "b.xhtml"}
GOOD = {**MILLS, "OEBPS/x.opf": package(AB, "ab")}
LIST = "x.epub, OEBPS/x.opf"
BOOKS: dict[str, tuple[bytes, str, list[str]]] = {
    "good": (book(GOOD), BOTH, []),
    "a page that is not there": (book({**MILLS, "OEBPS/x.opf": package({"c": "cover.xhtml", **AB}, "cab")}), BOTH,
     ["x.epub, cover.xhtml"]),
    "a page that is not listed": (book({**MILLS, "OEBPS/x.opf": package(AB, "azb")}), BOTH, ["x.epub, page 2"]),
    "other case": (book({**MILLS, "OEBPS/x.opf": package({"a": "A.xhtml", "b": "B.XHTML"}, "ab")}), BOTH, []),
    "backslashes": (book({"OEBPS/t/a.xhtml": MILLS["OEBPS/a.xhtml"], "OEBPS\\b.xhtml": MILLS["OEBPS/b.xhtml"],
     "OEBPS/x.opf": package({"a": "t\\a.xhtml", "b": "b.xhtml"}, "ab")}), BOTH, []),
    "escaped": (book({"OEBPS/a b.xhtml": MILLS["OEBPS/a.xhtml"], "OEBPS/b%20c.xhtml": MILLS["OEBPS/b.xhtml"],
     "OEBPS/x.opf": package({"a": "a%20b.xhtml", "b": "b%20c.xhtml"}, "ab")}), BOTH, []),
    "entities": (book({**MILLS, "OEBPS/x.opf": package(AB, "ab", title="Mills&nbsp;&eacute;")}), BOTH, []),
    "a wrong type": (book({**MILLS, "OEBPS/x.opf": package(AB, "ab", kind="text/plain")}), BOTH, []),
    "no spine": (book({**MILLS, "OEBPS/x.opf": package(AB, "")}), BOTH, []),
    "a damaged list": (book({**MILLS, "OEBPS/x.opf": package(AB, "ab")[:-70]}), BOTH, [LIST]),
    "no list": (book(MILLS), BOTH, ["x.epub, package"]),
    "no container": (book(GOOD, ""), BOTH, []),
    "a container that leads nowhere": (book(GOOD, CONTAINER.format("gone.opf")), BOTH, []),
    "a page twice": (book({**MILLS, "OEBPS/x.opf": package({**AB, "c": "./a.xhtml"}, "ababcc" * 50)}), BOTH, []),
    "a page that is no text": (book({**GOOD, "OEBPS/b.xhtml": "\0\1\2" * 9}), "Mills grind oats.", ["x.epub, b.xhtml"]),
    "a damaged page": (book(GOOD).replace(b"Stones grind", b"Stonez grind"), "Mills grind oats.", ["x.epub, b.xhtml"]),
}  # fmt: skip


@pytest.mark.parametrize(("data", "text", "missing"), BOOKS.values(), ids=BOOKS)
def test_what_is_there_is_read(data: bytes, text: str, missing: list[str]) -> None:
    article, bad = parse(data)
    assert "|".join(section.text for section in article.sections) == text
    assert [part.where for part in bad] == missing
    assert all(part.is_lost for part in bad)


def test_a_book_without_any_page_that_can_be_read_is_refused() -> None:
    with pytest.raises(RecordError, match="it has none of its 2 pages"):
        parse(book({"OEBPS/x.opf": package(AB, "ab")}))
    with pytest.raises(RecordError, match="none of its 1 pages can be read: the file is not HTML"):
        parse(book({"OEBPS/a.xhtml": "\0\0", "OEBPS/x.opf": package({"a": "a.xhtml"}, "a")}))


def test_the_entities_of_a_title_are_letters() -> None:
    data = book({**MILLS, "OEBPS/x.opf": package(AB, "ab", title="Caf&eacute;&nbsp;Mills")})
    assert OfficeConverter().scan(RawDocument("mills.epub", data)).title == "Café Mills"
