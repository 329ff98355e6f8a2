"""MediaWiki exports: pages, redirects, skipped pages and damaged files."""

from __future__ import annotations

import bz2
import gzip
import inspect
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Redirect, Skipped, SourceArticle, SourceItem
from wikigr.sources.mediawiki import MediaWikiSource

SITEINFO = """<siteinfo><sitename>W</sitename><base>https://w.example/wiki/Main_Page</base>
<case>first-letter</case><namespaces><namespace key="0" case="first-letter" />
<namespace key="14" case="first-letter">Kategorie</namespace></namespaces></siteinfo>"""
HEAD = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10">{SITEINFO}\n'


def page(number: int, title: str, text: str, *, ns: int = 0, redirect: str = "", model: str = "wikitext") -> str:
    moved = f'<redirect title="{escape(redirect)}" />' if redirect else ""
    return (
        f"<page><title>{escape(title)}</title><ns>{ns}</ns><id>{number}</id>{moved}"
        f"<revision><id>{1000 + number}</id><timestamp>2020-01-01T00:00:00Z</timestamp>"
        f"<contributor><username>u</username><id>1</id></contributor><model>{model}</model>"
        f'<format>text/x-wiki</format><text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


PAGES = (
    page(10, "Alkane", "'''Alkanes''' are [[Acid|acids]]' kin. [[Kategorie:Chemie]]\n== Use ==\nFuel."),
    page(11, "Paraffin", "#WEITERLEITUNG [[Alkane]]", redirect="Alkane#Use"),
    page(12, "Old style", "#redirect [[alkane#Use|x]]"),
    page(13, "Talk:Alkane", "chat", ns=1),
    page(14, "Mercury", "* [[a]]\n{{disambig}}"),
    page(15, "Venus (disambiguation)", "* [[a]]"),
    page(16, "Data", "{}", model="json"),
    page(17, "A/C++: more & all?", "Text."),
)
EXPORT = HEAD + "".join(PAGES) + "</mediawiki>\n"


def write(folder: Path, data: bytes | str, name: str = "dump.xml") -> MediaWikiSource:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return MediaWikiSource(path)


def read(source: MediaWikiSource) -> list[SourceItem]:
    return [item for record in source.records() for item in source.parse(record)]


def test_pages_become_articles_redirects_and_skipped(tmp_path: Path) -> None:
    items = read(write(tmp_path, EXPORT))
    first = items[0]
    assert isinstance(first, SourceArticle)
    assert (first.title, first.source_id, first.revision) == ("Alkane", "10", "1010")
    assert first.url == "https://w.example/wiki/Alkane"
    assert [(section.heading_path, section.text) for section in first.sections] == [
        ((), "Alkanes are acids' kin."),
        (("Use",), "Fuel."),
    ]
    assert (first.links, first.categories) == (("Acid",), ("Chemie",))
    assert items[1:7] == [
        Redirect("Paraffin", "Alkane"), Redirect("Old style", "Alkane"), Skipped("13", "other namespace"),
        Skipped("14", "disambiguation page"), Skipped("15", "disambiguation page"), Skipped("16", "no wikitext"),
    ]  # fmt: skip
    last = items[7]
    assert isinstance(last, SourceArticle)
    assert last.url == "https://w.example/wiki/A/C%2B%2B:_more_%26_all%3F"


def test_compressed_and_multistream_exports_read_the_same(tmp_path: Path) -> None:
    plain = read(write(tmp_path, EXPORT))
    data = EXPORT.encode()
    parts = [data[:700], data[700:1500], data[1500:]]
    assert read(write(tmp_path, b"".join(map(bz2.compress, parts)), "multi.xml.bz2")) == plain
    assert read(write(tmp_path, gzip.compress(data), "a.xml.gz")) == plain


def test_source_and_records_can_be_sent_to_other_processes(tmp_path: Path) -> None:
    source = write(tmp_path, EXPORT)
    records = list(source.records())
    copy = pickle.loads(pickle.dumps(source))
    again = pickle.loads(pickle.dumps(records))
    assert [list(copy.parse(record)) for record in again] == [list(source.parse(record)) for record in records]


def test_last_revision_of_a_history_counts(tmp_path: Path) -> None:
    def revision(number: int, text: str) -> str:
        return f"<revision><id>{number}</id><timestamp>2020-01-01T00:00:00Z</timestamp><text>{text}</text></revision>"

    history = f"<page><title>A</title><ns>0</ns><id>1</id>{revision(5, 'old')}{revision(6, 'new')}</page>"
    (article,) = read(write(tmp_path, HEAD + history + "</mediawiki>"))
    assert isinstance(article, SourceArticle)
    assert (article.revision, article.sections[0].text) == ("6", "new")


def test_records_stream(tmp_path: Path) -> None:
    # The end is missing, yet what comes before is handed out.
    source = write(tmp_path, HEAD + "".join(page(n, f"P{n}", "x" * 2000) for n in range(400)))
    records = source.records()
    assert [next(records).title for _ in range(3)] == ["P0", "P1", "P2"]


@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress])
def test_truncated_compressed_file_is_a_source_error(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = compress((HEAD + "".join(page(n, f"P{n}", f"text {n} " * 500) for n in range(60)) + "</mediawiki>").encode())
    source = write(tmp_path, data[: len(data) - 20], "cut.xml.zz")
    with pytest.raises(SourceError, match=r"cut\.xml\.zz is truncated: .* ends too early\. [\d,]+ pages were read"):
        list(source.records())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (HEAD + PAGES[0] + PAGES[1][:100], r"truncated\. 1 pages were read"),
        (HEAD + PAGES[0] + PAGES[1], r"truncated\. 2 pages were read"),
        (HEAD + PAGES[0] + "<page><title>x</page></mediawiki>", r"mismatched tag.*1 pages were read"),
        (HEAD + "<page><title>x</title><ns>zero</ns></page></mediawiki>", "zero"),
        (HEAD + "<page><title/><ns>0</ns><id>1</id></page></mediawiki>", "Cannot read .* as a MediaWiki export"),
        (HEAD + "<banana/></mediawiki>", "banana"),
        ((HEAD + PAGES[0]).encode().replace(b"kin", b"k\xffn") + b"</mediawiki>", "not UTF-8"),
        ("<html><body>hi</body></html>", "not a MediaWiki export: its root element is <html>"),
        ("no xml at all", "Cannot read .* as a MediaWiki export"),
        ("", "Cannot read .* as a MediaWiki export"),
    ],
)
def test_damaged_exports_are_source_errors(tmp_path: Path, data: bytes | str, message: str) -> None:
    source = write(tmp_path, data)
    with pytest.raises(SourceError, match=message) as caught:
        list(source.records())
    assert "dump.xml" in caught.value.message
    assert not isinstance(caught.value, RecordError)


def test_missing_file_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        list(MediaWikiSource(tmp_path / "none.xml").records())


def test_a_page_the_parser_cannot_read_is_a_record_error(tmp_path: Path) -> None:
    deep = "{{nowrap|" * 20 + "}}" * 20
    source = write(tmp_path, HEAD + page(10, "Alkane", deep) + "</mediawiki>")
    (record,) = source.records()
    # Nesting is bounded well below the interpreter's limit, so the limit has to come down.
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 50)
    try:
        with pytest.raises(RecordError, match="page 'Alkane'"):
            list(source.parse(record))
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.trust
def test_pages_that_were_read_do_not_stay_in_memory(tmp_path: Path) -> None:
    source = write(tmp_path, HEAD + "".join(page(n, f"P{n}", "", ns=1) for n in range(6000)) + "</mediawiki>")
    records = source.records()
    for _ in range(1000):
        next(records)
    tracemalloc.start()
    for _ in records:
        pass
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 200_000


def test_an_export_without_siteinfo_says_so(tmp_path: Path) -> None:
    path = tmp_path / "export.xml"
    path.write_text("<mediawiki><page><title>A</title><ns>0</ns><id>1</id></page></mediawiki>")
    with pytest.raises(SourceError, match="without <siteinfo>") as caught:
        list(MediaWikiSource(path).records())
    assert "ownload" not in (caught.value.hint or "")
