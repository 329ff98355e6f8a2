from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from wikigr.errors import RecordError
from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.parsing import MAX_ID_CHARS, MAX_TITLE_CHARS, read_source
from wikigr.ingest.staging import Staging
from wikigr.progress import Silent
from wikigr.sources.article import BadPart, Redirect, Skipped, SourceArticle, SourceItem, SourceSection


def article(source_id: str, title: str = "", text: str = "Text.") -> SourceArticle:
    return SourceArticle(title or source_id, source_id, (SourceSection((), text),))


@dataclass
class ListRecord:
    item: SourceItem | tuple[SourceItem, ...] | str
    where: str = ""


class ListSource:
    """A source of records in memory: an item, several of them, or a string for a bad record."""

    format = "list"

    def __init__(self, *items: SourceItem | tuple[SourceItem, ...] | str) -> None:
        self.items = items
        self.parsed = 0
        self.opened = 0

    def records(self) -> Iterator[ListRecord]:
        self.opened += 1
        yield from map(ListRecord, self.items)

    def parse(self, record: ListRecord) -> Iterator[SourceItem]:
        self.parsed += 1
        if isinstance(record.item, str):
            raise RecordError(record.item, "it is bad")
        yield from record.item if isinstance(record.item, tuple) else (record.item,)


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[Staging]:
    staging = Staging(tmp_path / "staging")
    yield staging
    staging.close()


def read(source: ListSource, staging: Staging, *, limit: int | None = None, keep_going: bool = False) -> None:
    read_source(source, staging, limit=limit, keep_going=keep_going, progress=Silent(), engine=LocalEngine())  # type: ignore[arg-type]


def test_articles_redirects_and_skipped_items_are_staged(staging: Staging) -> None:
    read(
        ListSource(
            article("1", "Alpha"), Redirect("A", "Alpha"), Skipped("p1", "talk page"), Skipped("p2", "talk page")
        ),
        staging,
    )
    assert [title for title, _ in staging.records_by_title()] == ["Alpha"]
    assert staging.count("redirect") == 1
    assert staging.skipped() == {"talk page": 2}


def test_every_record_is_reported_as_soon_as_it_is_parsed(staging: Staging) -> None:
    source = ListSource(article("1"), article("2"), article("3"))
    events: list[int] = []

    class Recorder(Silent):
        def advance(self, count: int) -> None:
            events.append(source.parsed)

    read_source(source, staging, limit=None, keep_going=False, progress=Recorder(), engine=LocalEngine())  # type: ignore[arg-type]
    assert events == [1, 2, 3]


def test_the_limit_counts_titles_and_keeps_all_records_of_a_title(staging: Staging) -> None:
    read(ListSource(article("1", "Alpha"), article("2", "Alpha"), article("3", "Beta"), article("4")), staging, limit=2)
    assert [(title, len(records)) for title, records in staging.records_by_title()] == [("Alpha", 2), ("Beta", 1)]


def test_a_bad_record_stops_the_reading_and_keep_going_skips_it(staging: Staging) -> None:
    source = ListSource(article("1"), "line 2", article("3"))
    with pytest.raises(RecordError, match="line 2: it is bad") as caught:
        read(source, staging)
    assert "--keep-going" in (caught.value.hint or "")
    assert staging.count("record") == 0
    read(source, staging, keep_going=True)
    assert [title for title, _ in staging.records_by_title()] == ["1", "3"]
    assert list(staging.rows("SELECT place, reason FROM bad")) == [("line 2", "it is bad")]
    assert staging.skipped() == {"bad record": 1}


def test_a_bad_part_of_a_record_stops_the_reading_and_keep_going_keeps_the_rest(staging: Staging) -> None:
    source = ListSource((BadPart("a.pdf, page 2", "the page is damaged"), article("a.pdf")), article("b"))
    with pytest.raises(RecordError, match=r"a\.pdf, page 2: the page is damaged"):
        read(source, staging)
    read(source, staging, keep_going=True)
    assert [title for title, _ in staging.records_by_title()] == ["a.pdf", "b"]
    assert list(staging.rows("SELECT place, reason FROM bad")) == [("a.pdf, page 2", "the page is damaged")]
    assert staging.skipped() == {"bad part of a record": 1}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (article("1"), "the id '1' occurs twice"),
        (article("2", "T" * (MAX_TITLE_CHARS + 1)), "the title 'TTT"),
        (article("i" * (MAX_ID_CHARS + 1), "Long"), "the id 'iii"),
    ],
)
def test_duplicate_ids_and_long_names_are_bad_records(staging: Staging, bad: SourceArticle, reason: str) -> None:
    with pytest.raises(RecordError, match=f"record 2: {reason}"):
        read(ListSource(article("1"), bad), staging)


def test_a_lost_part_of_a_record_is_listed_and_the_reading_goes_on(staging: Staging) -> None:
    lost = BadPart("a.epub, c.xhtml", "the book names this page but does not contain it", is_lost=True)
    read(ListSource((lost, article("a.epub")), article("b")), staging)
    assert staging.skipped() == {"bad part of a record": 1}
    assert staging.has_title("a.epub")
    assert staging.has_title("b")
