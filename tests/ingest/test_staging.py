from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from wikigr.errors import BuildError
from wikigr.ingest import staging as module
from wikigr.ingest.staging import Staging, batches
from wikigr.sources.article import SourceArticle, SourceSection, Triple

ARTICLE = SourceArticle(
    "Alkane",
    "docs/1",
    (SourceSection(("Names", "Old"), "Paraffin."),),
    links=("Methane",),
    categories=("Hydrocarbons",),
    aliases=("Paraffin",),
    url="https://example.org/1",
    revision="7",
    triples=(Triple("Alkane", "is a", "hydrocarbon", "Hydrocarbon", "Alkane is a hydrocarbon"),),
)


def test_a_record_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    staging = Staging(tmp_path / "s")
    assert staging.add_article(ARTICLE)
    assert list(staging.records_by_title()) == [("Alkane", [ARTICLE])]
    staging.close()


def test_titles_are_stored_in_one_unicode_form(tmp_path: Path) -> None:
    staging = Staging(tmp_path / "s")
    for number, title in enumerate(("Caf\u00e9", "Cafe\u0301", "Caf\udce9")):
        staging.add_article(SourceArticle(title, str(number), (SourceSection((), "x"),)))
    assert [(title, len(records)) for title, records in staging.records_by_title()] == [("Caf?", 1), ("Caf\u00e9", 2)]
    assert staging.has_title("Cafe\u0301")
    staging.close()


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    staging = Staging(tmp_path / "s")
    with pytest.raises(KeyError), staging.transaction():
        staging.add_article(ARTICLE)
        raise KeyError
    assert staging.count("record") == 0
    with staging.transaction():
        staging.add_article(ARTICLE)
    staging.close()
    reopened = Staging(tmp_path / "s")
    assert reopened.count("record") == 1
    reopened.close()


@pytest.mark.parametrize(("layout", "kept"), [("same", 1), ("0.0.1 of another schema", 0)])
def test_the_next_build_keeps_vectors_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, kept: int
) -> None:
    monkeypatch.setattr(module, "_LAYOUT", "same")
    staging = Staging.begin(tmp_path / "s")
    staging.add_article(ARTICLE)
    with staging.transaction():
        staging.write("INSERT INTO vector VALUES (?, ?)", [(b"h", b"v")])
        staging.write("INSERT INTO extraction VALUES (?, ?)", [(b"h", "{}")])
        staging.set_meta("encoder", "e")
    staging.close()
    monkeypatch.setattr(module, "_LAYOUT", layout)
    staging = Staging.begin(tmp_path / "s")
    assert [staging.count(table) for table in ("record", "vector", "extraction")] == [0, kept, 0]
    assert staging.meta("encoder") == "e"
    assert staging.add_article(ARTICLE)
    staging.close()


def test_a_store_with_the_tables_of_an_earlier_release_is_replaced(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "s")) as earlier:
        earlier.execute("CREATE TABLE section (id INTEGER PRIMARY KEY, text TEXT)")
    staging = Staging.begin(tmp_path / "s")
    assert staging.add_article(ARTICLE)
    staging.close()


def test_a_damaged_file_is_an_error_that_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"not a database" * 100)
    with pytest.raises(BuildError, match="are damaged") as caught:
        Staging.begin(tmp_path / "s")
    assert f"Delete {tmp_path / 's'}" in (caught.value.hint or "")


def test_a_failing_disk_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    staging = Staging(tmp_path / "s")
    message = "Cannot read or write the build's working files: disk I/O error"
    with pytest.raises(BuildError, match=message) as caught, staging.transaction():
        raise sqlite3.OperationalError("disk I/O error")
    assert "same command again" in (caught.value.hint or "")
    staging.close()


def test_batches_hold_all_rows_in_order() -> None:
    rows = [(n,) for n in range(7)]
    assert list(batches(rows, 3)) == [rows[:3], rows[3:6], rows[6:]]
    assert list(batches([], 3)) == []
