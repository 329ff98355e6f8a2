"""Group the statements of a knowledge graph by subject and turn each subject into an article."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby, islice
from typing import NamedTuple

from wikigr.errors import BuildError, RecordError
from wikigr.sources.article import Skipped, SourceArticle, SourceItem, SourceSection, Triple
from wikigr.sources.facts import MAX_LINE_START, fact_line, facts_section
from wikigr.sources.plain_text import collapse_spaces
from wikigr.text import fold

# In characters. Longer cells and literals are text: the section holds all of it, the entity name is cut.
MAX_NAME_LENGTH = 300

# The rank of a language other than English.
_FOREIGN = 3
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_SCHEMA = """
CREATE TABLE statement (
    subject TEXT, role INTEGER, priority INTEGER, relation TEXT, object TEXT, kind INTEGER, language TEXT);
CREATE TABLE spelling (key TEXT, name TEXT, uses INTEGER, PRIMARY KEY (key, name)) WITHOUT ROWID;
CREATE TABLE node (key TEXT PRIMARY KEY, name TEXT, spelled TEXT, fold TEXT, has_article INTEGER) WITHOUT ROWID;
"""
# Values of ``node.has_article``: the node has an article, or its name is the label of a node that has one.
_OWN, _OF_THAT_NAME = 1, 2
_ONE_ARTICLE = f"SELECT fold FROM node WHERE has_article = {_OWN} GROUP BY fold HAVING count(*) = 1"


class Role(IntEnum):
    """How a statement is used."""

    FACT = 0
    TYPE = 1  # a fact that is also a category of its subject
    NAME = 2
    ALIAS = 3
    TEXT = 4


_VOCABULARIES = {
    Role.NAME: "rdfs:label skos:prefLabel schema:name foaf:name dct:title dc:title",
    Role.ALIAS: "skos:altLabel schema:alternateName foaf:nick",
    Role.TEXT: "dbo:abstract dct:abstract schema:description dct:description dc:description skos:definition "
    "rdfs:comment",
    Role.TYPE: "rdf:type",
}
RELATIONS = {
    name: (role, priority)
    for role, names in _VOCABULARIES.items()
    for priority, name in enumerate(names.split(), start=1)
}
"""The relations of common vocabularies that are not plain facts, with their priority among those of their role."""


class Kind(IntEnum):
    """The kind of a statement's object."""

    LITERAL = 0
    NODE = 1
    # A number or a date in a table: a literal unless it is the subject of another row.
    PERHAPS_NODE = 2


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph: ``key`` identifies it, ``name`` is its display name unless a label replaces it."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One triple; ``object`` is a node or the text of a literal, ``language`` the literal's language tag if any.

    ``priority`` ranks the relations that give names or descriptions; the lowest wins.
    """

    subject: Node
    relation: str
    object: Node | str
    role: Role = Role.FACT
    is_value: bool = False
    language: str = ""
    priority: int = 0


class SubjectStatement(NamedTuple):
    """One statement in a ``SubjectRecord``: a ``Role`` and a ``Kind``; ``has_article`` refers to the object."""

    role: int
    priority: int
    relation: str
    object: str
    kind: int
    has_article: int
    language: str


@dataclass(frozen=True, slots=True)
class SubjectRecord:
    """All statements about one subject; ``spelled`` is the name that the input uses for it, apart from labels."""

    key: str
    title: str
    spelled: str
    statements: tuple[SubjectStatement, ...]

    @property
    def where(self) -> str:
        return self.title


GraphRecord = SubjectRecord | RecordError


def gather(
    statements: Iterable[Statement | RecordError], qualifiers: Callable[[str, str, str], Sequence[str]]
) -> Iterator[GraphRecord]:
    """Yield bad statements as they occur, then one record per subject, ordered by title.

    The result does not depend on the order of the statements. ``qualifiers(key, name, spelled)`` returns two texts
    that distinguish a node from others of the same name, the better one first. The statements are stored in a
    temporary SQLite file in ``TMPDIR``, so memory is bounded by SQLite's cache and the largest subject. Raises
    ``BuildError`` when that file cannot be written.
    """
    # With an empty name, SQLite makes a temporary file that disappears however the process ends.
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
            db.execute("PRAGMA cache_size = -65536")  # KiB
            db.executescript(_SCHEMA)
            yield from _store(db, statements)
            _name_nodes(db)
            yield from _records(db)
        except sqlite3.OperationalError as error:
            raise BuildError(
                f"Cannot write the temporary file of the graph: {error}.",
                hint="Free disk space, or set the environment variable TMPDIR to another folder.",
            ) from error


def parse_graph_record(record: GraphRecord, url: str = "") -> Iterator[SourceItem]:
    """Turn a subject into its article: the description first, then one line per fact.

    Raises ``RecordError`` for a bad statement.
    """
    if isinstance(record, RecordError):
        raise record
    facts = [statement for statement in record.statements if statement.role in (Role.FACT, Role.TYPE)]
    lines = [fact_line(record.title, fact.relation, (fact.object,)) for fact in facts]
    stated = facts_section((), zip(lines, (fact.relation for fact in facts), strict=True))
    texts = "\n\n".join(_preferred(record.statements, Role.TEXT))
    sections = tuple(section for section in (SourceSection((), texts), stated) if section.text)
    if not sections:
        yield Skipped(record.key, "a name without facts")
        return
    names = [*_preferred(record.statements, Role.NAME), *_preferred(record.statements, Role.ALIAS)]
    # The input's spelling stays an alias when a label replaces it. A bare number would match mentions everywhere.
    if any(character.isalpha() for character in record.spelled):
        names.append(record.spelled)
    yield SourceArticle(
        title=record.title,
        source_id=record.key,
        sections=sections,
        links=tuple(dict.fromkeys(fact.object for fact in facts if fact.kind == Kind.NODE and fact.has_article)),
        categories=tuple(dict.fromkeys(_shorten(fact.object) for fact in facts if fact.role == Role.TYPE)),
        # Without the title itself, with or without its qualifier in parentheses.
        aliases=tuple(
            name
            for name in dict.fromkeys(names)
            if fold(name) != fold(record.title) and not record.title.startswith(f"{name} (")
        ),
        url=url,
        triples=tuple(
            Triple(
                record.title,
                fact.relation,
                _shorten(fact.object),
                fact.object if fact.kind == Kind.NODE else None,
                line[:MAX_LINE_START],
            )
            for fact, line in zip(facts, lines, strict=True)
        ),
    )


def _shorten(text: str) -> str:
    text = collapse_spaces(text)
    return text if len(text) <= MAX_NAME_LENGTH else text[: MAX_NAME_LENGTH - 1].rstrip() + "…"


def _language_rank(language: str) -> int:
    return 0 if language == "en" else 1 if language.startswith("en-") else 2 if not language else _FOREIGN


def _preferred(statements: Iterable[SubjectStatement], role: Role) -> list[str]:
    """Return the texts of one role, best first: in English or without a language tag, else in the first language."""
    found = sorted(
        (_language_rank(statement.language), statement.language, statement.priority, statement.object)
        for statement in statements
        if statement.role == role and statement.object
    )
    is_foreign = bool(found) and found[0][0] == _FOREIGN
    chosen = (entry for entry in found if (entry[1] == found[0][1] if is_foreign else entry[0] < _FOREIGN))
    return list(dict.fromkeys(text for *_, text in chosen))


def _store(db: sqlite3.Connection, statements: Iterable[Statement | RecordError]) -> Iterator[RecordError]:
    iterator = iter(statements)
    while batch := list(islice(iterator, 2_000)):
        good = [item for item in batch if isinstance(item, Statement)]
        nodes = [node for item in good for node in (item.subject, item.object) if isinstance(node, Node)]
        db.execute("BEGIN")
        db.executemany("INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?, ?)", map(_row, good))
        db.executemany(
            "INSERT INTO spelling VALUES (?, ?, 1) ON CONFLICT (key, name) DO UPDATE SET uses = uses + 1",
            [(node.key, node.name) for node in nodes],
        )
        db.execute("COMMIT")
        yield from (item for item in batch if isinstance(item, RecordError))


def _row(item: Statement) -> tuple[str | int, ...]:
    if isinstance(item.object, Node):
        text, kind = item.object.key, Kind.PERHAPS_NODE if item.is_value else Kind.NODE
    else:
        text, kind = _CONTROL.sub("", item.object).strip(), Kind.LITERAL
    relation = collapse_spaces(item.relation)
    return item.subject.key, item.role, item.priority, relation, text, kind, item.language


def _name_nodes(db: sqlite3.Connection) -> None:
    """Fill the table ``node`` with every subject and object, each with a name that is unique after folding."""
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
    # Where keys are names, a node without a label may be named like a labeled node.
    db.execute(
        f"UPDATE node SET has_article = ? WHERE has_article = 0 AND key = fold AND fold IN ({_ONE_ARTICLE})",
        (_OF_THAT_NAME,),
    )
    for attempt in (0, 1):
        # Among nodes with the same name, one keeps it if it is the only one with an article.
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
        # Removing duplicates and sorting makes the record independent of the order of the input.
        unique = sorted({tuple(row[3:]) for row in group}, key=lambda row: (row[0] > Role.TYPE, row[2], row[3], row))
        yield SubjectRecord(key, title, spelled, tuple(map(SubjectStatement._make, unique)))
