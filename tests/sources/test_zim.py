"""ZIM files: pages, redirects, links, duplicates and damaged files."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from libzim.writer import Creator, Hint, Item, StringProvider

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import Redirect, Skipped, SourceArticle, SourceItem, Triple
from wikigr.sources.facts import FACTS
from wikigr.sources.zim import ZimRecord, ZimSource

FOOTER = '<a href="https://w.example/wiki/Alkane?oldid=77">Wikipedia</a>'
ALKANE = f"""<html><head><title>Alkane</title></head><body><div id="mw-content-text"><div class="mw-parser-output">
<h1>Alkane</h1>
<table class="infobox"><tr><th>Formula</th><td>CH4</td></tr>
<tr><th>Discoverer(s)</th><td><a href="Ada_(L)">Ada L.</a></td></tr>
<tr><th>Website</th><td>x.example</td></tr></table>
<p>Alkanes are no <a href="Acid">acids</a><sup class="reference">[12]</sup>.
See <a href="./Oil%3F#Use">oil</a>, <a href="Paraffin">itself</a>, <a href="Vinegar">vinegar</a>,
<a href="Nowhere">nowhere</a>, <a href="https://x.example/">outside</a>, <a href="img/a.png">picture</a>.</p>
<h2>Use<span class="mw-editsection">[edit]</span></h2><p>Fuel.</p>
<h2>References</h2><p>Doe 1999.</p>
</div></div>{FOOTER}</body></html>"""
PAGES = {
    "Alkane": ("Alkane", ALKANE),
    "Acid": (
        "Acid",
        "<title>Acid</title><p>An acid is sour. <a href='Alkane'>Not an alkane</a>.</p>"
        "<h2>Notes</h2><p>Kept: no wiki.</p>",
    ),
    "Ada_(L)": ("Ada L., chemist", "<p>Ada was a chemist.</p>"),
    "Oil?": ("Oil?", "<p>Oil is a liquid.</p>"),
    "Petroleum": ("Oil?", "<p>Oil is a liquid.</p>"),
    "guide/start": ("Start", "<p>Begin with <a href='../Acid'>acids</a> or <a href='next.html'>go on</a>.</p>"),
    "guide/next.html": ("Start", "<p>Another page of that title.</p>"),
    "moved": ("Moved", '<html><head><meta http-equiv="refresh" content="0;url=Acid"></head></html>'),
    "index": ("Home", "<ul><li><a href='Alkane'>Alkane</a></li><li><a href='Acid'>Acid</a></li></ul>"),
}


class _Page(Item):  # type: ignore[misc]
    def __init__(self, path: str, title: str, content: str, mimetype: str = "text/html") -> None:
        super().__init__()
        self._fields = (path, title, mimetype, content)

    def get_path(self) -> str:
        return self._fields[0]

    def get_title(self) -> str:
        return self._fields[1]

    def get_mimetype(self) -> str:
        return self._fields[2]

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self._fields[3])

    def get_hints(self) -> dict[Hint, bool]:
        return {Hint.FRONT_ARTICLE: True}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zim") / "small.zim"
    with Creator(path).config_indexing(False, "eng") as creator:
        creator.set_mainpath("index")
        for name, (title, content) in PAGES.items():
            creator.add_item(_Page(name, title, content))
        creator.add_item(_Page("img/a.png", "", "not really", "image/png"))
        creator.add_item(_Page("style.css", "", "p {}", "text/css"))
        creator.add_redirection("Paraffin", "Paraffin", "Alkane", {Hint.FRONT_ARTICLE: True})
        creator.add_redirection("Vinegar", "Vinegar", "Acetic", {Hint.FRONT_ARTICLE: True})
        creator.add_redirection("Acetic", "Acetic", "Acid", {Hint.FRONT_ARTICLE: True})
        creator.add_redirection("Picture", "Picture", "img/a.png", {})
        creator.add_metadata("Title", "Small")
    return path


def read(path: Path) -> list[SourceItem]:
    source = ZimSource(path)
    return [item for record in source.records() for item in source.parse(record)]


def articles(path: Path) -> dict[str, SourceArticle]:
    return {item.source_id: item for item in read(path) if isinstance(item, SourceArticle)}


def test_pages_become_articles(archive: Path) -> None:
    found = articles(archive)
    article = found["Alkane"]
    assert (article.title, article.url, article.revision) == ("Alkane", "https://w.example/wiki/Alkane", "77")
    lines = ("Alkane — formula: CH4.", "Alkane — discoverer: Ada L.")
    assert [section.heading_path for section in article.sections] == [(), ("Use",), (FACTS,)]
    assert article.sections[0].text.startswith("Alkanes are no acids. See oil,")
    assert [section.text for section in article.sections[1:]] == ["Fuel.", "\n".join(lines)]
    assert article.triples == (
        Triple("Alkane", "formula", "CH4", None, lines[0]),
        Triple("Alkane", "discoverer", "Ada L.", "Ada L., chemist", lines[1]),
    )
    # Links are paths of pages and follow redirects.
    assert article.links == ("Ada_(L)", "Acid", "Oil?")
    assert found["guide/start"].links == ("Acid", "guide/next.html")
    # Sections of references are dropped from wikis alone.
    assert [section.heading_path for section in found["Acid"].sections] == [(), ("Notes",)]


def test_redirects_copies_and_moved_pages_become_aliases(archive: Path) -> None:
    redirects = [item for item in read(archive) if isinstance(item, Redirect)]
    assert redirects == [
        Redirect("Acetic", "Acid"), Redirect("Paraffin", "Alkane"), Redirect("Petroleum", "Oil?"),
        Redirect("Vinegar", "Acid"), Redirect("Moved", "Acid"),
    ]  # fmt: skip


def test_titles_are_unique_and_paths_sorted(archive: Path) -> None:
    found = articles(archive)
    assert list(found) == sorted(found) == ["Acid", "Ada_(L)", "Alkane", "Oil?", "guide/next.html", "guide/start"]
    titles = [article.title for article in found.values()]
    assert len(set(titles)) == len(titles)
    assert sorted(title for title in titles if title.startswith("Start"))[0] == "Start"


def test_main_page_of_links_is_skipped(archive: Path) -> None:
    assert [item for item in read(archive) if isinstance(item, Skipped)] == [Skipped("index", "main page")]


def test_source_and_records_can_be_sent_to_other_processes(archive: Path) -> None:
    source = ZimSource(archive)
    copy = pickle.loads(pickle.dumps(source))
    records = pickle.loads(pickle.dumps(list(source.records())))
    assert [item for record in records for item in copy.parse(record)] == read(archive)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", r"Cannot open .*bad\.zim as a ZIM file"),
        (lambda data: data[:40], r"Cannot open .*bad\.zim as a ZIM file"),
        (lambda data: data[: len(data) // 2], r"Cannot open .*bad\.zim as a ZIM file"),
        (lambda data: data[:-1], r"Cannot open .*bad\.zim as a ZIM file"),
        (lambda data: b"hello " * 100, r"Cannot open .*bad\.zim as a ZIM file"),
        (
            lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 0xFF]) + data[len(data) // 2 + 1 :],
            r"bad\.zim is damaged",
        ),
        (None, "does not exist"),
    ],
    ids=["empty", "head", "half", "end", "foreign", "damaged", "missing"],
)
def test_a_file_that_is_not_whole_is_a_source_error(
    archive: Path, tmp_path: Path, change: Callable[[bytes], bytes] | None, message: str
) -> None:
    bad = tmp_path / "bad.zim"
    if change is not None:
        bad.write_bytes(change(archive.read_bytes()))
    with pytest.raises(SourceError, match=message):
        list(ZimSource(bad).records())


def test_a_replaced_file_is_read_again(archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.zim"
    path.write_bytes(archive.read_bytes())
    assert list(ZimSource(path).records())
    path.unlink()
    path.write_bytes(b"hello " * 100)
    with pytest.raises(SourceError, match="Cannot open"):
        list(ZimSource(path).records())


def test_problem_of_one_entry_is_a_record_error(archive: Path) -> None:
    with pytest.raises(RecordError, match="big: the page is larger"):
        list(ZimSource(archive).parse(ZimRecord("big", "Big", problem="the page is larger than 64 MiB")))
