"""Statements of a knowledge graph, scattered over a file, gathered into one article for each subject."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby, islice

from wikigr.errors import BuildError, RecordError
from wikigr.sources.article import Skipped, SourceArticle, SourceItem, SourceSection, Triple
from wikigr.sources.plain_text import collapse_spaces
from wikigr.text import fold

# Characters. A longer cell or literal is text, which a section holds in full; an entity gets its beginning.
MAX_NAME_LENGTH = 300
FACTS = "Facts"

_BATCH = 2_000
_CACHE_KIB = 64 * 1024
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])(?=[a-z])")

_SCHEMA = """
CREATE TABLE statement (
    subject TEXT, role INTEGER, priority INTEGER, relation TEXT, object TEXT, kind INTEGER, language TEXT);
CREATE TABLE spelling (key TEXT, name TEXT, uses INTEGER, PRIMARY KEY (key, name)) WITHOUT ROWID;
CREATE TABLE node (key TEXT PRIMARY KEY, name TEXT, spelled TEXT, fold TEXT, has_article INTEGER) WITHOUT ROWID;
"""
# What a node's ``has_article`` says: its own article, or, for a name, that of the thing so labeled.
_OWN, _OF_THAT_NAME = 1, 2
_ONE_ARTICLE = f"SELECT fold FROM node WHERE has_article = {_OWN} GROUP BY fold HAVING count(*) = 1"


class Role(IntEnum):
    """What a statement is for."""

    FACT = 0
    TYPE = 1  # a fact that also is a category of its subject
    NAME = 2
    ALIAS = 3
    TEXT = 4


class Kind(IntEnum):
    """What an object is."""

    LITERAL = 0
    NODE = 1
    # A number or a date in a table: a literal, unless it is the subject of another row.
    PERHAPS_NODE = 2


@dataclass(frozen=True, slots=True)
class Node:
    """A thing in the graph: ``key`` tells it from others, ``name`` is what to call it without a label."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One triple. ``object`` is a node or the text of a literal, whose language may be known.

    ``priority`` ranks the relations that give names or descriptions: the lowest wins.
    """

    subject: Node
    relation: str
    object: Node | str
    role: Role = Role.FACT
    is_value: bool = False
    language: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class BadStatement:
    """A place in the input that is no triple, and why; it becomes a ``RecordError``."""

    where: str
    reason: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One statement about a subject, as its record holds it. ``has_article`` speaks of the object."""

    role: Role
    priority: int
    relation: str
    object: str
    kind: Kind
    has_article: bool
    language: str


@dataclass(frozen=True, slots=True)
class SubjectRecord:
    """All that is said of one subject. ``spelled`` is its name where no label replaces it."""

    key: str
    title: str
    spelled: str
    said: tuple[Said, ...]


GraphRecord = SubjectRecord | BadStatement


def gather(
    statements: Iterable[Statement | BadStatement], qualifiers: Callable[[str, str, str], Sequence[str]]
) -> Iterator[GraphRecord]:
    """Yield the bad places as they come, then a record for each subject, ordered by title.

    The same statements in another order give the same records. ``qualifiers(key, name, spelled)`` says what tells
    a node from another of the same name, best first. The statements wait in a temporary SQLite file (in
    ``TMPDIR``), so that memory stays bounded by its cache and the largest subject.
    """
    # An empty name is SQLite's own temporary file, which vanishes with the process however it ends.
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        try:
            db.create_function("wikigr_fold", 1, fold, deterministic=True)
            db.create_function("language_rank", 1, _language_rank, deterministic=True)
            db.create_function(
                "qualified",
                4,
                lambda key, name, spelled, n: f"{name} ({qualifiers(key, name, spelled)[n]})",
                deterministic=True,
            )
            db.execute("PRAGMA journal_mode = OFF")
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            db.executescript(_SCHEMA)
            yield from _store(db, statements)
            _name_nodes(db)
            yield from _records(db)
        except sqlite3.OperationalError as error:
            raise BuildError(
                f"The temporary file for the graph cannot be written: {error}.",
                hint="Make space, or name another folder with the environment variable TMPDIR.",
            ) from error


def parse_graph_record(record: GraphRecord, url: str = "") -> Iterator[SourceItem]:
    """Turn what is said of one subject into its article: the description first, then a line for each fact."""
    if isinstance(record, BadStatement):
        raise RecordError(record.where, record.reason, hint=record.hint)
    facts = [said for said in record.said if said.role in (Role.FACT, Role.TYPE)]
    texts = _preferred(record.said, Role.TEXT)
    if not facts and not texts:
        yield Skipped(record.key, "a name without facts")
        return
    lines = [_line(record.title, said) for said in facts]
    sections = []
    if texts:
        sections.append(SourceSection((), "\n\n".join(texts)))
    if lines:
        sections.append(SourceSection((FACTS,), "\n".join(dict.fromkeys(lines))))
    nodes = [said for said in facts if said.kind is Kind.NODE]
    names = [*_preferred(record.said, Role.NAME), *_preferred(record.said, Role.ALIAS)]
    # What was typed stays a name when a label replaces it; a bare number would be "mentioned" everywhere.
    if any(character.isalpha() for character in record.spelled):
        names.append(record.spelled)
    yield SourceArticle(
        title=record.title,
        source_id=record.key,
        sections=tuple(sections),
        links=tuple(dict.fromkeys(said.object for said in nodes if said.has_article)),
        categories=tuple(dict.fromkeys(_capped(said.object) for said in facts if said.role is Role.TYPE)),
        aliases=tuple(name for name in dict.fromkeys(names) if not _is_title(name, record.title)),
        url=url,
        triples=tuple(
            Triple(
                record.title,
                said.relation,
                _capped(said.object),
                said.object if said.kind is Kind.NODE else None,
                line[:MAX_NAME_LENGTH],
            )
            for said, line in zip(facts, lines, strict=True)
        ),
    )


def readable_relation(relation: str) -> str:
    """``birthPlace`` and ``birth_place`` as words: ``birth place``."""
    return collapse_spaces(_CAMEL.sub(lambda match: f" {match[1].lower()}", relation.replace("_", " ")))


def _is_title(name: str, title: str) -> bool:
    """Whether ``name`` is the title, or the title without what tells it from others of that name."""
    return fold(name) == fold(title) or title.startswith(f"{name} (")


def _line(title: str, said: Said) -> str:
    shown = collapse_spaces(said.object)
    return f"{title} — {readable_relation(said.relation)}: {shown}" + ("" if shown.endswith((".", "!", "?")) else ".")


def _capped(text: str) -> str:
    text = collapse_spaces(text)
    return text if len(text) <= MAX_NAME_LENGTH else text[: MAX_NAME_LENGTH - 1].rstrip() + "…"


def _language_rank(language: str) -> int:
    if language == "en":
        return 0
    return 1 if language.startswith("en-") else 2 if not language else 3


def _preferred(said: Iterable[Said], role: Role) -> list[str]:
    """The texts of one role in English or without a language, best first; without any, those of one language."""
    chosen = sorted(
        (_language_rank(s.language), s.language, s.priority, s.object) for s in said if s.role is role and s.object
    )
    if chosen and chosen[0][0] == 3:
        chosen = [entry for entry in chosen if entry[1] == chosen[0][1]]
    else:
        chosen = [entry for entry in chosen if entry[0] < 3]
    return list(dict.fromkeys(text for *_, text in chosen))


def _store(db: sqlite3.Connection, statements: Iterable[Statement | BadStatement]) -> Iterator[BadStatement]:
    iterator = iter(statements)
    while batch := list(islice(iterator, _BATCH)):
        rows = []
        names = []
        bad = []
        for item in batch:
            if isinstance(item, BadStatement):
                bad.append(item)
                continue
            names.append((item.subject.key, item.subject.name))
            value = item.object
            if isinstance(value, Node):
                kind = Kind.PERHAPS_NODE if item.is_value else Kind.NODE
                names.append((value.key, value.name))
                text = value.key
            else:
                kind = Kind.LITERAL
                text = _CONTROL.sub("", value).strip()
            rows.append(
                (
                    item.subject.key,
                    item.role,
                    item.priority,
                    collapse_spaces(item.relation),
                    text,
                    kind,
                    item.language,
                )
            )
        db.execute("BEGIN")
        db.executemany("INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        db.executemany(
            "INSERT INTO spelling VALUES (?, ?, 1) ON CONFLICT (key, name) DO UPDATE SET uses = uses + 1", names
        )
        db.execute("COMMIT")
        yield from bad


def _name_nodes(db: sqlite3.Connection) -> None:
    """Fill ``node``: every subject and object with a name that no other has, in whatever case it is written."""
    db.execute(
        "INSERT INTO node SELECT key, name, name, '', 0 FROM (SELECT key, name, row_number() OVER "
        "(PARTITION BY key ORDER BY uses DESC, name) AS place FROM spelling) WHERE place = 1"
    )
    db.execute(
        "UPDATE node SET has_article = ? WHERE key IN (SELECT subject FROM statement WHERE role IN (?, ?, ?))",
        (_OWN, Role.FACT, Role.TYPE, Role.TEXT),
    )
    labels = db.execute(
        "SELECT object, subject FROM (SELECT subject, object, row_number() OVER (PARTITION BY subject "
        "ORDER BY language_rank(language), language, priority, object) AS place "
        "FROM statement WHERE role = ?) WHERE place = 1",
        (Role.NAME,),
    )
    db.executemany("UPDATE node SET name = ? WHERE key = ?", labels)
    db.execute("CREATE INDEX node_fold ON node (fold)")
    db.execute("UPDATE node SET fold = wikigr_fold(name)")
    # Where keys are names, what has no label may be the name of something that has one.
    db.execute(
        f"UPDATE node SET has_article = ? WHERE has_article = 0 AND key = fold AND fold IN ({_ONE_ARTICLE})",
        (_OF_THAT_NAME,),
    )
    for attempt in (0, 1):
        # Of several things of one name, the only one that has an article keeps it.
        db.execute(
            "UPDATE node SET name = qualified(key, name, spelled, ?) WHERE key != fold AND fold IN "
            "(SELECT fold FROM node GROUP BY fold HAVING count(*) > 1) AND NOT "
            f"(has_article AND fold IN ({_ONE_ARTICLE}))",
            (attempt,),
        )
        db.execute("UPDATE node SET fold = wikigr_fold(name)")


def _records(db: sqlite3.Connection) -> Iterator[SubjectRecord]:
    rows = db.execute(
        "SELECT s.subject, n.name, n.spelled, s.role, s.priority, s.relation, coalesce(o.name, s.object), "
        "CASE WHEN s.kind = 2 THEN o.has_article > 0 ELSE s.kind END, coalesce(o.has_article, 0), s.language "
        "FROM statement s JOIN node n ON n.key = s.subject "
        "LEFT JOIN node o ON s.kind != 0 AND o.key = s.object ORDER BY n.name, s.subject"
    )
    for (key, title, spelled), group in groupby(rows, key=lambda row: (str(row[0]), str(row[1]), str(row[2]))):
        # Sorted, so that neither the order nor the repetition of rows shows; ties are equal in all that counts.
        said = sorted({tuple(row[3:]) for row in group}, key=lambda row: (row[0] > Role.TYPE, row[2], row[3], row))
        yield SubjectRecord(
            key,
            title,
            spelled,
            tuple(
                Said(Role(role), priority, relation, shown, Kind(kind), bool(has_article), language)
                for role, priority, relation, shown, kind, has_article, language in said
            ),
        )
