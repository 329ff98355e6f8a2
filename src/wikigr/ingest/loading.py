"""Fifth stage: bulk-load the staged pack into LadybugDB and tantivy, and compute the digest of its content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.graph.engine import Graph
from wikigr.graph.link_graph import LinkGraph
from wikigr.graph.schema import ddl
from wikigr.index.dense import MIN_QUANTIZED_SECTIONS, create_vector_index, load_vector_extension
from wikigr.index.lexical import LexicalWriter
from wikigr.index.quantized import QuantizedWriter
from wikigr.ingest.entities import RENAMED, derive_entities
from wikigr.ingest.linking import aliases_of
from wikigr.ingest.staging import Staging, batches
from wikigr.languages import ENGLISH, Language, language_of
from wikigr.pack.digest import ARTICLE_PAGE, ENTITY_PAGE, Row, digest_rows
from wikigr.pack.layout import DATABASE, LEXICAL, VECTORS
from wikigr.progress import Progress
from wikigr.text import word_count

# Edges copied at a time. Articles and entities are copied in the page sizes of ``pack.digest``. Both bound memory to
# some tens of megabytes.
_EDGE_PAGE = 100_000

# Bytes of Arrow data in one transaction. Every commit rewrites the last rows of a table (up to 131,072), so that
# committing each copy takes quadratic time; until the commit, the engine holds several times the data in memory.
_TRANSACTION_BYTES = 24 << 20

_STRINGS = pa.list_(pa.string())

_ENTITIES = "SELECT id, name, type, aliases FROM entity ORDER BY id"
_OWNED = "SELECT article, entity FROM owned ORDER BY 1, 2"
_FACTS = "SELECT subject, object, relation, section_id FROM fact ORDER BY 1, 2, 3, 4"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded, and the engine that loaded it.

    ``counts`` are the numbers of rows of each kind, and ``digest`` is the content digest of the pack.
    """

    counts: Mapping[str, int]
    digest: str
    engine: str
    engine_version: str
    storage_version: int
    vector_index: bool


class _Transactions:
    """Copies tables into the database at ``path`` in transactions of limited size.

    The database is closed and opened again after each, because the engine keeps memory for every row that it has
    written: 2 kB for a section.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bytes = 0
        self.graph = Graph(path, read_only=False)

    def copy(self, table: str, rows: pa.Table) -> None:
        if not self._bytes:
            self.graph.execute("BEGIN TRANSACTION")
        self.graph.copy(table, rows)
        self._bytes += rows.nbytes
        if self._bytes >= _TRANSACTION_BYTES:
            self.commit()

    def commit(self) -> None:
        """Commit what was copied since the last transaction; call it after the last copy."""
        if self._bytes:
            self.graph.execute("COMMIT")
            self.graph.execute("CHECKPOINT")  # leaves nothing to write for closing, which hangs if the disk is full
            self.graph.close()
            self._bytes = 0
            self.graph = Graph(self._path, read_only=False)


def load(staging_path: Path, folder: Path, identity: EncoderIdentity, language: str, progress: Progress) -> Loaded:
    """Write the database and the lexical index of the pack staged at ``staging_path`` into ``folder``."""
    staging = Staging(staging_path)
    try:
        loaded = load_database(staging, folder, identity, progress)
        load_lexical(staging, folder / LEXICAL, progress, language_of(language))
        return loaded
    finally:
        staging.close()


def load_database(staging: Staging, folder: Path, identity: EncoderIdentity, progress: Progress) -> Loaded:
    """Write the database into ``folder``, in order of title, and for a large pack its quantized vectors."""
    sections = staging.count("section")
    is_large = sections >= MIN_QUANTIZED_SECTIONS
    progress.start("loading", sections, "sections")
    for name in derive_entities(staging):
        progress.note(f"The relation {name!r} is stored as {name + RENAMED!r}: the graph has a table of that name.")
    digest = content_digest(staging, identity)
    # Not closed if something fails, because closing may hang (see ``wikigr.sandbox.isolation``).
    database = _Transactions(folder / DATABASE)
    for statement in ddl(identity.dimension):
        database.graph.execute(statement)
    articles, aliases = _load_articles(database, staging)
    with ExitStack() as stack:
        quantized = None
        if is_large:
            quantized = stack.enter_context(QuantizedWriter(folder / VECTORS, sections, identity.dimension, digest))
        _load_sections(database, staging, identity.dimension, quantized, progress)
    links = _load_edges(database, staging, "LINKS_TO", "link")
    mentions = _load_edges(database, staging, "MENTIONS", "mention")
    entities, triples = _load_facts(database, staging)
    database.commit()
    graph = database.graph
    # Without the engine's extension, searches use the exact scan.
    vector_index = not is_large and load_vector_extension(graph)
    if vector_index:
        create_vector_index(graph)
    graph.execute("CHECKPOINT")
    graph.close()
    counts = {
        "articles": articles,
        "sections": sections,
        "links": links,
        "mentions": mentions,
        "aliases": aliases,
        "entities": entities,
        "triples": triples,
    }
    return Loaded(counts, digest, graph.engine, graph.version, graph.storage_version, vector_index)


def load_lexical(staging: Staging, folder: Path, progress: Progress, language: Language = ENGLISH) -> None:
    """Write the tantivy index of text in ``language`` into ``folder``, which must not exist."""
    progress.start("indexing", staging.count("section"), "sections")
    rows = staging.rows(
        "SELECT s.section_id, a.title, s.heading_path, s.content FROM section s JOIN article a ON a.id = s.article "
        "ORDER BY a.title, s.position"
    )
    with LexicalWriter(folder, language) as writer:
        for section_id, title, path, content in rows:
            writer.add(section_id, title, " ".join(json.loads(path)), content)
            progress.advance(1)


def content_digest(staging: Staging, identity: EncoderIdentity) -> str:
    """Return the SHA-256 of the content of the staged pack (see ``pack.digest``).

    Call it after ``derive_entities``.
    """
    return digest_rows(identity, staged_rows(staging))


def staged_rows(staging: Staging) -> dict[str, Iterable[Row]]:
    """Return the rows of the staged pack by kind, see ``pack.digest``."""
    return {
        "article": staging.rows("SELECT title, categories, content, url, revision FROM article ORDER BY title"),
        "section": staging.rows(
            "SELECT section_id, s.title, heading_path, start, end, source_id, anchor, blocks FROM section s "
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
    }


def article_links(staging: Staging) -> LinkGraph:
    """Return the hyperlinks between the staged articles."""
    titles: list[str] = []
    number: dict[int, int] = {}
    for article, title in staging.rows("SELECT id, title FROM article ORDER BY title"):
        number[article] = len(titles)
        titles.append(title)
    flat = np.fromiter(
        (number[end] for edge in staging.rows("SELECT source, target FROM link") for end in edge), dtype=np.int32
    )
    return LinkGraph(titles, flat[0::2], flat[1::2])


def _load_articles(database: _Transactions, staging: Staging) -> tuple[int, int]:
    rows = staging.rows("SELECT id, title, categories, word_count, content, url, revision FROM article ORDER BY title")
    articles = aliases = 0
    for batch in batches(rows, ARTICLE_PAGE):
        ids, titles, categories, counts, contents, urls, revisions = zip(*batch, strict=True)
        lists = [[str(c) for c in json.loads(stored)] for stored in categories]
        names = [aliases_of(staging, number) for number in ids]
        database.copy(
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
        articles += len(batch)
        aliases += sum(map(len, names))
    return articles, aliases


def _load_sections(
    database: _Transactions, staging: Staging, dimension: int, quantized: QuantizedWriter | None, progress: Progress
) -> None:
    rows = staging.rows(
        "SELECT a.title, s.section_id, s.title, s.heading_path, s.content, v.value, s.position, s.start, s.end, "
        "s.source_id, s.anchor, s.blocks FROM section s JOIN article a ON a.id = s.article "
        "JOIN vector v ON v.hash = s.hash ORDER BY a.title, s.position"
    )
    # About a second of work. The number divides SECTION_PAGE, so a page consists of whole copies.
    for batch in batches(rows, 2_000):
        articles, ids, titles, paths, contents, vectors, positions, starts, ends, sources, anchors, blocks = zip(
            *batch, strict=True
        )
        headings = [json.loads(path) for path in paths]
        flat = np.frombuffer(b"".join(vectors), dtype=np.float32)
        database.copy(
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
                    "anchor": anchors,
                    "blocks": blocks,
                }
            ),
        )
        if quantized is not None:
            quantized.add(ids, flat.reshape(len(ids), dimension))
        database.copy("HAS_SECTION", pa.table({"from": articles, "to": ids, "position": positions}))
        progress.advance(len(batch))


def _edge_query(table: str) -> str:
    return (
        f"SELECT a.title, b.title FROM {table} e JOIN article a ON a.id = e.source "
        "JOIN article b ON b.id = e.target ORDER BY a.title, b.title"
    )


def _load_edges(database: _Transactions, staging: Staging, relation: str, table: str) -> int:
    loaded = 0
    for batch in batches(staging.rows(_edge_query(table)), _EDGE_PAGE):
        sources, targets = zip(*batch, strict=True)
        database.copy(relation, pa.table({"from": sources, "to": targets}))
        loaded += len(batch)
    return loaded


def _load_facts(database: _Transactions, staging: Staging) -> tuple[int, int]:
    """Load the entities and the facts between them; return the number of each."""
    for batch in batches(staging.rows(_ENTITIES), ENTITY_PAGE):
        ids, names, kinds, lists = zip(*batch, strict=True)
        aliases = pa.array([json.loads(stored) for stored in lists], type=_STRINGS)
        database.copy("Entity", pa.table({"entity_id": ids, "name": names, "type": kinds, "aliases": aliases}))
    for batch in batches(staging.rows(_OWNED), _EDGE_PAGE):
        articles, ids = zip(*batch, strict=True)
        database.copy("HAS_ENTITY", pa.table({"from": articles, "to": ids}))
    for batch in batches(staging.rows(_FACTS), _EDGE_PAGE):
        subjects, objects, relations, evidence = zip(*batch, strict=True)
        database.copy(
            "RELATED_TO",
            pa.table({"from": subjects, "to": objects, "relation": relations, "section_id": evidence}),
        )
    return staging.count("entity"), staging.count("fact")
