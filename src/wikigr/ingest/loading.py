"""The staged pack goes into its final files: LadybugDB in bulk, the tantivy index, and a digest of the content."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.graph.engine import Graph
from wikigr.graph.link_graph import LinkGraph
from wikigr.graph.neighborhood import STRUCTURAL
from wikigr.graph.schema import ddl, section_id
from wikigr.index.dense import create_vector_index, load_vector_extension
from wikigr.index.lexical import LexicalWriter
from wikigr.ingest.extracted_graph import MAX_MERGED_ALIASES
from wikigr.ingest.linking import aliases_of
from wikigr.ingest.staging import Staging
from wikigr.names import bare_name
from wikigr.pack.digest import ARTICLE_PAGE, ENTITY_PAGE, SECTION_PAGE, digest_rows
from wikigr.pack.layout import DATABASE, LEXICAL
from wikigr.progress import Progress
from wikigr.text import fold, word_count

# Edges, and triples read, at a time. Nodes are copied by the pages of ``pack.digest``; all of them bound memory to
# some tens of megabytes.
_EDGES = 100_000
_TRIPLES_AT_ONCE = 10_000

_STRINGS = pa.list_(pa.string())

# What may stand after a link in the text of a fact: "Swiss (1901–55)", "Pretoria, Union of South Africa".
_REMARK = re.compile(r"(?:\s*+[,(;:]|\s[–—-]\s|\sin\s).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each thing a pack holds."""

    articles: int
    sections: int
    links: int
    mentions: int
    aliases: int
    entities: int
    triples: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded, and by which engine."""

    counts: Counts
    engine: str
    engine_version: str
    storage_version: int
    vector_index: bool


def load(staging_path: Path, folder: Path, identity: EncoderIdentity, progress: Progress) -> Loaded:
    """Write the database and the lexical index of the staged pack into ``folder``."""
    staging = Staging(staging_path)
    try:
        loaded = load_database(staging, folder / DATABASE, identity, progress)
        load_lexical(staging, folder / LEXICAL, progress)
        return loaded
    finally:
        staging.close()


def load_database(staging: Staging, path: Path, identity: EncoderIdentity, progress: Progress) -> Loaded:
    """Write the database at ``path`` (which must not exist), in order of title; returns what it holds."""
    sections = staging.count("section")
    progress.start("loading", sections, "sections")
    # Not closed when something fails: see ``build.isolation``.
    graph = Graph(path, read_only=False)
    for statement in ddl(identity.dimension):
        graph.execute(statement)
    articles, aliases = _load_articles(graph, staging)
    _load_sections(graph, staging, identity.dimension, progress)
    links = _load_edges(graph, staging, "LINKS_TO", "link")
    mentions = _load_edges(graph, staging, "MENTIONS", "mention")
    entities, triples = _load_triples(graph, staging, progress)
    vector_index = _try_vector_index(graph)
    graph.execute("CHECKPOINT")
    graph.close()
    counts = Counts(articles, sections, links, mentions, aliases, entities, triples)
    return Loaded(counts, graph.engine, graph.version, graph.storage_version, vector_index)


def _try_vector_index(graph: Graph) -> bool:
    """Create the vector index where the engine's extension loads; the exact scan serves elsewhere."""
    if not load_vector_extension(graph):
        return False
    create_vector_index(graph)
    return True


def load_lexical(staging: Staging, folder: Path, progress: Progress) -> None:
    """Write the tantivy index into ``folder`` (created)."""
    progress.start("indexing", staging.count("section"), "sections")
    rows = staging.rows(
        "SELECT s.section_id, a.title, s.heading_path, s.content FROM section s JOIN article a ON a.id = s.article "
        "ORDER BY a.title, s.position"
    )
    with LexicalWriter(folder) as writer:
        for section_id, title, path, content in rows:
            writer.add(section_id, title, " ".join(json.loads(path)), content)
            progress.advance(1)


def content_digest(staging: Staging, identity: EncoderIdentity) -> str:
    """Return the SHA-256 of everything that the source and the build put into a pack (see ``pack.digest``).

    Entities and facts are those that ``load`` has derived.
    """
    return digest_rows(
        identity,
        {
            "article": staging.rows("SELECT title, categories, content, url, revision FROM article ORDER BY title"),
            "section": staging.rows(
                "SELECT section_id, s.title, heading_path, start, end, source_id FROM section s "
                "JOIN article a ON a.id = s.article ORDER BY a.title, s.position"
            ),
            "alias": staging.rows(
                "SELECT n.name, a.title FROM name n JOIN article a ON a.id = n.article WHERE n.rank = 1 "
                "ORDER BY n.fold, n.name"
            ),
            "link": staging.rows(_edge_query("link")),
            "mention": staging.rows(_edge_query("mention")),
            "entity": (
                (*entity, json.dumps(json.loads(aliases), ensure_ascii=False))
                for *entity, aliases in staging.rows(_ENTITIES)
            ),
            "owned": staging.rows(_OWNED),
            "fact": staging.rows(_FACTS),
        },
    )


def article_links(staging: Staging, table: Literal["link", "mention"] = "link") -> LinkGraph:
    """Return the hyperlinks, or the mentions, between the articles that are to be loaded."""
    titles: list[str] = []
    number: dict[int, int] = {}
    for article, title in staging.rows("SELECT id, title FROM article ORDER BY title"):
        number[article] = len(titles)
        titles.append(title)
    count = staging.count(table)
    flat = np.fromiter(
        (number[end] for edge in staging.rows(f"SELECT source, target FROM {table}") for end in edge),
        dtype=np.int32,
        count=2 * count,
    )
    return LinkGraph(titles, flat[0::2], flat[1::2])


def _chunks(rows: Iterable[tuple[Any, ...]], size: int) -> Iterator[list[tuple[Any, ...]]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _load_articles(graph: Graph, staging: Staging) -> tuple[int, int]:
    rows = staging.rows("SELECT id, title, categories, word_count, content, url, revision FROM article ORDER BY title")
    articles = aliases = 0
    for chunk in _chunks(rows, ARTICLE_PAGE):
        ids, titles, categories, counts, contents, urls, revisions = zip(*chunk, strict=True)
        lists = [[str(c) for c in json.loads(stored)] for stored in categories]
        names = [aliases_of(staging, number) for number in ids]
        graph.copy(
            "Article",
            pa.table(
                {
                    "title": titles,
                    "category": [group[0] if group else "" for group in lists],
                    "categories": pa.array(lists, type=_STRINGS),
                    "word_count": counts,
                    "content": contents,
                    "url": urls,
                    "revision": revisions,
                    "aliases": pa.array(names, type=_STRINGS),
                }
            ),
        )
        articles += len(chunk)
        aliases += sum(map(len, names))
    return articles, aliases


def _load_sections(graph: Graph, staging: Staging, dimension: int, progress: Progress) -> None:
    rows = staging.rows(
        "SELECT a.title, s.section_id, s.title, s.heading_path, s.content, v.value, s.position, s.start, s.end, "
        "s.source_id FROM section s JOIN article a ON a.id = s.article JOIN vector v ON v.hash = s.hash "
        "ORDER BY a.title, s.position"
    )
    for chunk in _chunks(rows, SECTION_PAGE):
        articles, ids, titles, paths, contents, vectors, positions, starts, ends, sources = zip(*chunk, strict=True)
        headings = [json.loads(path) for path in paths]
        flat = np.frombuffer(b"".join(vectors), dtype=np.float32)
        graph.copy(
            "Section",
            pa.table(
                {
                    "section_id": ids,
                    "title": titles,
                    "heading_path": pa.array(headings, type=_STRINGS),
                    "content": contents,
                    "embedding": pa.FixedSizeListArray.from_arrays(pa.array(flat), dimension),
                    "position": positions,
                    "level": [len(path) for path in headings],
                    "word_count": [word_count(content) for content in contents],
                    "start_offset": starts,
                    "end_offset": ends,
                    "source_id": sources,
                    "article_title": articles,
                }
            ),
        )
        graph.copy("HAS_SECTION", pa.table({"from": articles, "to": ids, "position": positions}))
        progress.advance(len(chunk))


def _edge_query(table: str) -> str:
    return (
        f"SELECT a.title, b.title FROM {table} e JOIN article a ON a.id = e.source "
        "JOIN article b ON b.id = e.target ORDER BY a.title, b.title"
    )


def _load_edges(graph: Graph, staging: Staging, relation: str, table: str) -> int:
    loaded = 0
    for chunk in _chunks(staging.rows(_edge_query(table)), _EDGES):
        sources, targets = zip(*chunk, strict=True)
        graph.copy(relation, pa.table({"from": sources, "to": targets}))
        loaded += len(chunk)
    return loaded


# subject, relation, object as shown, title of the article that the object links to (or null), name of a linked object
# (null for a plain value), stating article, position of the section that states it
_TRIPLES = (
    "SELECT t.subject, t.relation, t.object, o.title, coalesce(o.title, t.object_name), a.title, t.position "
    "FROM triple t JOIN article a ON a.id = t.article LEFT JOIN article o ON o.id = t.target ORDER BY a.title, t.n"
)


def derive_entities(staging: Staging) -> list[str]:
    """Fill ``entity``, ``owned`` and ``fact`` from the triples; what was there is made anew.

    An entity is an article's subject (``type`` "article"), a linked thing without an article of its own
    ("entity"), or a plain value ("value"); a value that is spelled like a known entity is that entity. How links to a
    thing without an article are labeled is kept as its aliases. What was read from the text (see
    ``extracted_graph.merge``) joins them, with types of its own. An entity whose id is the folded title of an article
    has that title as its name.

    Relations called as the graph's own structure (``LINKS_TO``, ``MENTIONS``, ``HAS_ENTITY``, whatever the case) get
    ``RENAMED`` at their end; returns their names as they were, in order.
    """
    with staging.transaction():
        for table in _DERIVED_FROM_TRIPLES:
            staging.write(f"DELETE FROM {table}", [()])
        for triples in _chunks(staging.rows(_TRIPLES), _TRIPLES_AT_ONCE):
            entities: list[tuple[str, str, str]] = []
            owned: list[tuple[str, str]] = []
            facts: list[tuple[str, str, str, str]] = []
            labels: list[tuple[str, str, str]] = []
            for subject, relation, shown, linked_title, linked_name, article, position in triples:
                name = linked_name or shown
                subject_id, object_id = fold(subject), fold(name)
                if not subject_id or not object_id:
                    continue
                kind = "article" if linked_title else "entity" if linked_name else "value"
                entities.append((subject_id, subject, "article" if subject == article else "entity"))
                entities.append((object_id, name, kind))
                if kind == "entity" and (label := _label(shown, name)):
                    labels.append((object_id, fold(label), label))
                owned.append((article, subject_id))
                if kind != "value":
                    owned.append((article, object_id))
                facts.append((subject_id, object_id, relation, section_id(article, position)))
            # "article" before "entity" before "value", which is their alphabetical order.
            staging.write(
                "INSERT INTO entity (id, name, type) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "name = excluded.name, type = excluded.type WHERE excluded.type < entity.type",
                entities,
            )
            staging.write("INSERT OR IGNORE INTO label VALUES (?, ?, ?)", labels)
            staging.write("INSERT OR IGNORE INTO owned VALUES (?, ?)", owned)
            staging.write("INSERT OR IGNORE INTO fact VALUES (?, ?, ?, ?)", facts)
        for statement in (*_ADD_EXTRACTED, _ADD_LABELS, _NAME_ARTICLES):
            staging.write(statement, [()])
        renamed = [str(name) for (name,) in staging.rows(_STRUCTURAL_FACTS)]
        if renamed:
            staging.write(_RENAME_FACTS, [(RENAMED,)])
    return renamed


def _label(shown: str, name: str) -> str:
    """Return what else a linked thing is called where it is ``shown``; empty where that is no name, or no other one."""
    label = _REMARK.sub("", shown).strip()
    # "parliamentary", "16th", "T"
    if len(label) < 2 or label.islower() or not any(c.isalpha() for c in label):
        return ""
    return "" if {fold(shown), fold(label)} & {fold(name), fold(bare_name(name))} else label


def _load_triples(graph: Graph, staging: Staging, progress: Progress) -> tuple[int, int]:
    """Load entities and the triples between them; returns how many of each."""
    for name in derive_entities(staging):
        progress.note(f"The relation {name!r} is stored as {name + RENAMED!r}: the graph itself has one of that name.")
    for chunk in _chunks(staging.rows(_ENTITIES), ENTITY_PAGE):
        ids, names, kinds, lists = zip(*chunk, strict=True)
        aliases = pa.array([json.loads(stored) for stored in lists], type=_STRINGS)
        graph.copy("Entity", pa.table({"entity_id": ids, "name": names, "type": kinds, "aliases": aliases}))
    for chunk in _chunks(staging.rows(_OWNED), _EDGES):
        articles, ids = zip(*chunk, strict=True)
        graph.copy("HAS_ENTITY", pa.table({"from": articles, "to": ids}))
    for chunk in _chunks(staging.rows(_FACTS), _EDGES):
        subjects, objects, relations, evidence = zip(*chunk, strict=True)
        graph.copy(
            "RELATED_TO",
            pa.table({"from": subjects, "to": objects, "relation": relations, "section_id": evidence}),
        )
    return staging.count("entity"), staging.count("fact")


# What was read from text joins the triples. A type that was read says more than that something has an article or is
# linked; an article keeps its title as its entity's name.
_ADD_EXTRACTED = (
    "INSERT INTO entity SELECT id, name, type, aliases FROM extracted_entity WHERE true ON CONFLICT (id) DO UPDATE SET "
    "name = CASE entity.type WHEN 'article' THEN entity.name ELSE excluded.name END, "
    "type = CASE excluded.type WHEN 'value' THEN entity.type ELSE excluded.type END, aliases = excluded.aliases",
    "INSERT OR IGNORE INTO owned SELECT article, entity FROM extracted_owner",
    "INSERT OR IGNORE INTO fact SELECT subject, object, relation, section_id FROM extracted_fact",
)
# In order of the alphabet, as those of ``extracted_graph``.
_ADD_LABELS = (
    "UPDATE entity SET aliases = (SELECT json_group_array(alias) FROM (SELECT value AS alias FROM json_each(aliases) "
    "UNION SELECT label FROM label l WHERE l.entity = entity.id "
    "AND l.fold NOT IN (SELECT wikigr_fold(value) FROM json_each(aliases)) "
    f"ORDER BY alias LIMIT {MAX_MERGED_ALIASES})) "
    "WHERE type != 'article' AND id IN (SELECT entity FROM label)"
)
# A plain value may spell the title in another case; the entity is found by its name.
_NAME_ARTICLES = (
    "UPDATE entity SET name = "
    "(SELECT n.name FROM name n WHERE n.fold = entity.id AND n.rank = 0 ORDER BY n.name LIMIT 1) "
    "WHERE EXISTS (SELECT 1 FROM name n WHERE n.fold = entity.id AND n.rank = 0) "
    "AND NOT EXISTS (SELECT 1 FROM article a WHERE a.title = entity.name)"
)
RENAMED = " (fact)"
"""What a relation gets at its end whose name the graph itself needs."""
# "~LINKS_TO" would read as LINKS_TO walked backwards.
_IS_STRUCTURAL = f"upper(ltrim(relation, '~ ')) IN ({', '.join(repr(name) for name in STRUCTURAL)})"
_STRUCTURAL_FACTS = f"SELECT DISTINCT relation FROM fact WHERE {_IS_STRUCTURAL} ORDER BY 1"
_RENAME_FACTS = f"UPDATE OR REPLACE fact SET relation = relation || ? WHERE {_IS_STRUCTURAL}"
_DERIVED_FROM_TRIPLES = ("entity", "label", "owned", "fact")
_ENTITIES = "SELECT id, name, type, aliases FROM entity ORDER BY id"
_OWNED = "SELECT article, entity FROM owned ORDER BY 1, 2"
_FACTS = "SELECT subject, object, relation, section_id FROM fact ORDER BY 1, 2, 3, 4"
