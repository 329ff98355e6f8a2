"""Multistream dumps: the splits give the same records as the whole file, and a wrong index is an error."""

from __future__ import annotations

import bz2
from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr.errors import RecordError, SourceError
from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.parsing import read_source
from wikigr.ingest.staging import Staging
from wikigr.progress import Silent
from wikigr.sources.mediawiki import MediaWikiSource

HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10"><siteinfo>'
    "<base>https://w.example/wiki/Main_Page</base><case>first-letter</case><namespaces>"
    '<namespace key="0" case="first-letter" /></namespaces></siteinfo>\n'
)


def page(number: int) -> str:
    return (
        f"<page><title>Page {number}</title><ns>{int(number % 5 == 4)}</ns><id>{number}</id>"
        f"<revision><id>{1000 + number}</id><model>wikitext</model><text>See [[page {number + 1}]].</text></revision>"
        "</page>\n"
    )


def write(folder: Path, pages: list[str], size: int, *, index: str = "-index.txt.bz2") -> MediaWikiSource:
    """Write a dump with ``size`` pages in a split, and its index."""
    dump = folder / "w-pages-articles-multistream.xml.bz2"
    data, lines = bz2.compress(HEAD.encode()), []
    for first in range(0, len(pages), size):
        split = pages[first : first + size]
        lines += [f"{len(data)}:{first + n}:Page: {first + n}\n" for n in range(len(split))]
        data += bz2.compress("".join(split).encode())
    dump.write_bytes(data + bz2.compress(b"</mediawiki>\n"))
    text = "".join(lines).encode()
    path = folder / f"w-pages-articles-multistream{index}"
    path.write_bytes(bz2.compress(text) if index.endswith("bz2") else text)
    return MediaWikiSource(dump)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_the_splits_contain_the_records_of_the_whole_dump(tmp_path: Path, size: int) -> None:
    source = write(tmp_path, [page(n) for n in range(20)], size, index="-index.txt" if size == 7 else "-index.txt.bz2")
    splits = source.splits()
    assert [split.records for split in splits[:-1]] == [size] * (len(splits) - 1)
    assert [record for split in splits for record in source.read_split(split)] == list(source.records())


def test_numbered_parts_have_their_own_index(tmp_path: Path) -> None:
    source = write(tmp_path, [page(0)], 1)
    part = tmp_path / "w-pages-articles-multistream2.xml-p10p20.bz2"
    source.path.rename(part)
    index = tmp_path / "w-pages-articles-multistream-index.txt.bz2"
    assert MediaWikiSource(part).splits() == []
    index.rename(tmp_path / "w-pages-articles-multistream-index2.txt-p10p20.bz2")
    assert len(MediaWikiSource(part).splits()) == 1


def staged(source: MediaWikiSource, path: Path, jobs: int, *, keep_going: bool = False) -> list[list[object]]:
    staging = Staging.begin(path)
    try:
        read_source(source, staging, limit=None, keep_going=keep_going, progress=Silent(), engine=LocalEngine(jobs))
        return [list(staging.rows(f"SELECT * FROM {table}")) for table in ("record", "redirect", "skipped", "bad")]
    finally:
        staging.close()


def test_several_processes_stage_the_same(tmp_path: Path) -> None:
    pages = [page(n) for n in range(1200)]
    pages[1000] = page(7)  # an id that is taken
    source = write(tmp_path, pages, 100)
    expected = staged(source, tmp_path / "one.db", 1, keep_going=True)
    assert len(expected[0]) == 959 and expected[3]
    with pytest.raises(RecordError, match="occurs twice"):
        staged(source, tmp_path / "several.db", 2)
    assert staged(source, tmp_path / "several.db", 2, keep_going=True) == expected


def damage_index(change: Callable[[str], str]) -> Callable[[MediaWikiSource], None]:
    def damage(source: MediaWikiSource) -> None:
        index = source.path.with_name("w-pages-articles-multistream-index.txt")
        index.write_text(change(index.read_text()))

    return damage


def cut(source: MediaWikiSource) -> None:
    source.path.write_bytes(source.path.read_bytes()[:-60])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (damage_index(lambda text: "x" + text), "does not begin with a number"),
        (damage_index(lambda text: text + "99999999:1:Page\n"), "do not ascend"),
        (damage_index(lambda text: text + text), "do not ascend"),
        (damage_index(lambda text: text.split("\n", 3)[3]), "pages before its first offset"),
        (damage_index(lambda text: text.rsplit("\n", 2)[0] + "\n"), "where its index has"),
        (damage_index(lambda text: text + text.rsplit("\n", 2)[1] + "\n"), "where its index has"),
        (cut, "truncated"),
    ],
)
def test_an_index_that_does_not_fit_is_an_error(
    tmp_path: Path, damage: Callable[[MediaWikiSource], None], reason: str
) -> None:
    source = write(tmp_path, [page(n) for n in range(9)], 3, index="-index.txt")
    damage(source)
    with pytest.raises(SourceError, match=reason):
        for split in source.splits():
            list(source.read_split(split))


def test_a_split_that_is_not_one_is_an_error(tmp_path: Path) -> None:
    source = write(tmp_path, [page(n) for n in range(9)], 3)
    first = source.splits()[0]
    with pytest.raises(SourceError, match=f"begins at byte {first.start + 1}"):
        list(source.read_split(first._replace(start=first.start + 1)))


def test_a_dump_without_an_index_has_no_splits(tmp_path: Path) -> None:
    source = write(tmp_path, [page(0)], 1)
    (tmp_path / "w-pages-articles-multistream-index.txt.bz2").unlink()
    assert source.splits() == []
