"""The build's working store: one SQLite file in the pack's work folder.

It holds the results of every stage, which bounds memory. Of an interrupted build, the vectors are kept, which are keyed
by the text that they belong to: the next build starts over and is quick. Every batch is one transaction, so SQLite's
journal keeps the store consistent if the process is killed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Self

from wikigr import __version__
from wikigr.errors import BuildError
from wikigr.index.stored_blocks import decode_blocks, encode_blocks
from wikigr.sources.article import Dropped, Redirect, SourceArticle, Triple
from wikigr.sources.block import compose
from wikigr.text import fold, one_line, scrub
from wikigr.validation import validated

_SCHEMA = """
CREATE TABLE IF NOT EXISTS record (
    n INTEGER PRIMARY KEY, source_id TEXT UNIQUE, title_fold TEXT, title TEXT, payload TEXT, blocks TEXT);
CREATE INDEX IF NOT EXISTS record_title ON record (title, n);
CREATE TABLE IF NOT EXISTS redirect (alias_fold TEXT, alias TEXT, target TEXT, target_fold TEXT);
CREATE INDEX IF NOT EXISTS redirect_alias ON redirect (alias);
CREATE TABLE IF NOT EXISTS bad (n INTEGER PRIMARY KEY, place TEXT, reason TEXT);
CREATE TABLE IF NOT EXISTS alias (alias_fold TEXT, alias TEXT, target TEXT, target_fold TEXT);
CREATE TABLE IF NOT EXISTS skipped (reason TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dropped (template TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS article (
    id INTEGER PRIMARY KEY, title TEXT UNIQUE, title_fold TEXT, categories TEXT, word_count INTEGER,
    content TEXT, url TEXT, revision TEXT);
CREATE TABLE IF NOT EXISTS section (
    id INTEGER PRIMARY KEY, article INTEGER, section_id TEXT, title TEXT, heading_path TEXT, content TEXT,
    start INTEGER, end INTEGER, position INTEGER, source_id TEXT, anchor TEXT, embedding_text TEXT, hash BLOB,
    blocks TEXT);
CREATE INDEX IF NOT EXISTS section_article ON section (article, position);
CREATE INDEX IF NOT EXISTS section_hash ON section (hash);
CREATE TABLE IF NOT EXISTS name (name TEXT PRIMARY KEY, fold TEXT, article INTEGER, rank INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS name_fold ON name (fold, rank, name);
CREATE INDEX IF NOT EXISTS name_article ON name (article, fold);
CREATE TABLE IF NOT EXISTS link (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mention (source INTEGER, target INTEGER, PRIMARY KEY (source, target)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS raw_link (article INTEGER, target TEXT, target_fold TEXT);
CREATE TABLE IF NOT EXISTS triple (
    n INTEGER PRIMARY KEY, article INTEGER, subject TEXT, relation TEXT, object TEXT, object_link TEXT,
    position INTEGER, target INTEGER, object_name TEXT);
CREATE TABLE IF NOT EXISTS extraction (hash BLOB PRIMARY KEY, reply TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extracted_entity (id TEXT PRIMARY KEY, name TEXT, type TEXT, aliases TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extracted_owner (
    article TEXT, entity TEXT, PRIMARY KEY (article, entity)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extracted_fact (
    subject TEXT, object TEXT, relation TEXT, section_id TEXT,
    PRIMARY KEY (subject, object, relation, section_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entity (
    id TEXT PRIMARY KEY, name TEXT, type TEXT, aliases TEXT DEFAULT '[]') WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS label (entity TEXT, fold TEXT, label TEXT, PRIMARY KEY (entity, fold)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS owned (article TEXT, entity TEXT, PRIMARY KEY (article, entity)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fact (
    subject TEXT, object TEXT, relation TEXT, section_id TEXT,
    PRIMARY KEY (subject, object, relation, section_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vector (hash BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;
"""
# Another schema or version may chunk the same source differently, and then has other vectors.
_LAYOUT = f"{__version__} {hashlib.sha256(_SCHEMA.encode()).hexdigest()[:16]}"


class Staging:
    """One build's working store. Its methods are grouped by the stage that writes them."""

    def __init__(self, path: Path) -> None:
        """Open the store at ``path``, or create it; one with another layout is emptied."""
        self._path = path
        with self._as_build_error():
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.create_function(
                "wikigr_fold", 1, lambda name: None if name is None else fold(name), deterministic=True
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
            if self.meta("layout") != _LAYOUT:
                self._start_over()

    @classmethod
    def begin(cls, path: Path) -> Self:
        """Start a build's store at ``path``; of an interrupted one, keep the vectors."""
        staging = cls(path)
        staging._start_over("vector")
        return staging

    def _start_over(self, *kept: str) -> None:
        """Create empty tables, apart from those in ``kept``."""
        with self.transaction():
            found = {str(name) for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for name in sorted(found - {"meta", *kept}):
                self._db.execute(f'DROP TABLE "{name}"')
            self._db.execute("DELETE FROM meta WHERE key != 'encoder'")
            for statement in filter(str.strip, _SCHEMA.split(";\n")):
                self._db.execute(statement)
            self.set_meta("layout", _LAYOUT)

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all writes made inside the block, or none; raises ``BuildError`` if the disk refuses them."""
        with self._as_build_error():
            self._db.execute("BEGIN")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    # -- the build's own state

    def meta(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def forget_vectors(self) -> None:
        with self.transaction():
            self._db.execute("DELETE FROM vector")

    # -- reading

    def add_article(self, article: SourceArticle) -> bool:
        """Store one record; return ``False`` if its ``source_id`` is already stored."""
        payload, blocks = _encode_article(article)
        if not unicodedata.is_normalized("NFC", payload):
            payload, blocks = _encode_article(_composed(article))
        title = _name(article.title)
        done = self._db.execute(
            "INSERT OR IGNORE INTO record (source_id, title_fold, title, payload, blocks) VALUES (?, ?, ?, ?, ?)",
            (scrub(article.source_id), fold(title), title, payload, _compact_json(blocks) if any(blocks) else ""),
        )
        return done.rowcount == 1

    def add_redirect(self, redirect: Redirect) -> None:
        self._db.execute(
            "INSERT INTO redirect VALUES (?, ?, ?, ?)",
            (fold(scrub(redirect.alias)), _name(redirect.alias), _name(redirect.target), fold(scrub(redirect.target))),
        )

    def count_skipped(self, reason: str) -> None:
        self._db.execute(
            "INSERT INTO skipped VALUES (?, 1) ON CONFLICT (reason) DO UPDATE SET count = count + 1",
            (reason,),
        )

    def count_dropped(self, dropped: Dropped) -> None:
        self._db.executemany(
            "INSERT INTO dropped VALUES (?, ?) ON CONFLICT (template) DO UPDATE SET count = count + excluded.count",
            ((scrub(name), count) for name, count in dropped.templates),
        )

    def has_title(self, title: str) -> bool:
        query = "SELECT 1 FROM record WHERE title = ? LIMIT 1"
        return self._db.execute(query, (_name(title),)).fetchone() is not None

    def add_bad(self, place: str, reason: str) -> None:
        self._db.execute("INSERT INTO bad (place, reason) VALUES (?, ?)", (scrub(place), scrub(reason)))

    def skipped(self) -> dict[str, int]:
        return dict(self._db.execute("SELECT reason, count FROM skipped ORDER BY reason"))

    def dropped_templates(self) -> dict[str, int]:
        """Return the names of dropped templates and the number of their calls, the most frequent first."""
        return dict(self._db.execute("SELECT template, count FROM dropped ORDER BY count DESC, template"))

    def count(self, table: str) -> int:
        return int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def titles(self) -> int:
        return int(self._db.execute("SELECT count(DISTINCT title) FROM record").fetchone()[0])

    def records_by_title(self) -> Iterator[tuple[str, list[SourceArticle]]]:
        """Yield each title, in order, with its records in source order."""
        rows = self._db.execute("SELECT title, payload, blocks FROM record ORDER BY title, n")
        for title, group in groupby(rows, key=lambda row: str(row[0])):
            yield title, [_read_article(payload, blocks) for _, payload, blocks in group]

    def sample_records(self, count: int) -> Iterator[SourceArticle]:
        """Yield at most ``count`` records, spread over the source, in its order."""
        step = max(1, self.count("record") // count)
        query = "SELECT payload, blocks FROM record WHERE n % ? = 0 ORDER BY n LIMIT ?"
        for payload, blocks in self._db.execute(query, (step, count)):
            yield _read_article(payload, blocks)

    # -- chunking

    def add_article_row(
        self, title: str, content: str, words: int, records: Sequence[SourceArticle], evidence: Sequence[int]
    ) -> int:
        """Store an article's row, raw links, aliases and triples; return its number.

        ``evidence`` holds, for each triple of the records in order, the position of the section that states it.
        """
        positions = iter(evidence)
        categories = list(dict.fromkeys(one_line(c) for r in records for c in r.categories))
        number = self._db.execute(
            "INSERT INTO article (title, title_fold, categories, word_count, content, url, revision) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                title,
                fold(title),
                json.dumps(categories, ensure_ascii=False),
                words,
                content,
                one_line(next((r.url for r in records if r.url), "")),
                next((r.revision for r in records if r.revision), ""),
            ),
        ).lastrowid
        assert number is not None
        for record in records:
            self._db.executemany(
                "INSERT INTO raw_link VALUES (?, ?, ?)", [(number, _name(t), fold(t)) for t in record.links]
            )
            self._db.executemany(
                "INSERT INTO alias VALUES (?, ?, ?, ?)",
                [(fold(a), _name(a), title, fold(title)) for a in record.aliases],
            )
            self._db.executemany(
                "INSERT INTO triple (article, subject, relation, object, object_link, position) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        number,
                        _name(t.subject),
                        one_line(t.relation),
                        one_line(t.object),
                        t.object_link and _name(t.object_link),
                        next(positions),
                    )
                    for t in record.triples
                ],
            )
        return number

    def add_sections(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._db.executemany(
            "INSERT INTO section (article, section_id, title, heading_path, content, start, end, position, "
            "source_id, anchor, embedding_text, hash, blocks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    # -- SQL that belongs to a single stage goes through these two

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query and yield its rows."""
        with self._as_build_error():
            yield from self._db.execute(sql, parameters)

    def write(self, sql: str, rows: Iterable[Sequence[Any] | Mapping[str, Any]]) -> None:
        """Run a statement once for each row of parameters."""
        self._db.executemany(sql, rows)

    @contextmanager
    def _as_build_error(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise BuildError(
                f"Cannot read or write the build's working files: {error}.",
                hint="Check the disk space and the folder's permissions (or choose another folder with -o), then run "
                "the same command again. Finished vectors are kept.",
            ) from error
        except sqlite3.DatabaseError as error:
            raise BuildError(
                f"The build's working files are damaged: {error}.",
                hint=f"Delete {self._path}, then run the same command again.",
            ) from error


def batches(rows: Iterable[tuple[Any, ...]], size: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield ``rows`` in lists of at most ``size``."""
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


def _name(name: str) -> str:
    """Return a title or alias in its stored form: one line in NFC, without unpaired surrogates."""
    return unicodedata.normalize("NFC", scrub(one_line(name))).strip()


def _compact_json(value: Any) -> str:
    return scrub(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _encode_article(article: SourceArticle) -> tuple[str, list[str]]:
    """Return a record as JSON, and the blocks of each of its sections, which are stored beside it."""
    blocks = [encode_blocks(section.text, section.blocks) for section in article.sections]
    if any(blocks):
        article = replace(article, sections=tuple(replace(section, blocks=()) for section in article.sections))
    return _compact_json(asdict(article)), blocks


def _composed(article: SourceArticle) -> SourceArticle:
    """Return a record with its text and its names in the normalization form NFC, in which questions are matched."""
    nfc = partial(unicodedata.normalize, "NFC")
    sections = []
    for section in article.sections:
        text, blocks = compose(section.text, section.blocks)
        sections.append(replace(section, heading_path=tuple(map(nfc, section.heading_path)), text=text, blocks=blocks))
    triples = (
        Triple(nfc(fact.subject), nfc(fact.relation), nfc(fact.object), fact.object_link, nfc(fact.line))
        for fact in article.triples
    )
    return replace(
        article,
        title=nfc(article.title),
        sections=tuple(sections),
        categories=tuple(map(nfc, article.categories)),
        aliases=tuple(map(nfc, article.aliases)),
        triples=tuple(triples),
    )


def _read_article(payload: str, blocks: str) -> SourceArticle:
    article = validated(SourceArticle, payload)
    if not blocks:
        return article
    pairs = zip(article.sections, json.loads(blocks), strict=True)
    sections = (replace(section, blocks=decode_blocks(section.text, stored)) for section, stored in pairs)
    return replace(article, sections=tuple(sections))
