"""The content digest of a pack, computed from the rows of a build or from the finished database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.graph.engine import Graph
from wikigr.graph.schema import FORMAT_VERSION, anchor_of
from wikigr.text import fold

Row = tuple[Any, ...]

# The kinds of rows in digest order, with their columns. Rows are sorted by the columns in brackets.
#   article  [title], categories as JSON, content, url, revision
#   section  section_id, heading, heading path as JSON, start, end, source_id, anchor   [article's title, position]
#            (without an anchor that is empty, as in packs built before the column)
#   alias    alias, article's title                                             [folded alias, alias]
#   link, mention   [source title, target title]
#   entity   [entity_id], name, type, aliases as JSON
#   owned    [article's title, entity_id]
#   fact     [subject, object, relation, section_id]
KINDS = ("article", "section", "alias", "link", "mention", "entity", "owned", "fact")

# Page sizes, shared with the build, which copies this many rows per statement, or a divisor of it. The engine may
# reorder rows within one copy, but not across copies, so sorting within each page restores the order.
ARTICLE_PAGE = 1_000
SECTION_PAGE = 10_000
ENTITY_PAGE = 10_000


def digest_rows(identity: EncoderIdentity, rows: Mapping[str, Iterable[Row]]) -> str:
    """Return the SHA-256 (hexadecimal) of a pack's content; ``rows`` maps each of ``KINDS`` to its sorted rows.

    The encoder's identity stands in for the vectors, because their last bits depend on the machine.
    """
    encoder = (FORMAT_VERSION, identity.model_id, identity.dimension, identity.weights_sha256)
    digest = hashlib.sha256(encode_row("wikigr", encoder))
    for kind in KINDS:
        for row in rows[kind]:
            digest.update(encode_row(kind, row))
    return digest.hexdigest()


def encode_row(kind: str, row: Row) -> bytes:
    """Return the bytes of one row that are hashed."""
    values = (kind, *(row[:-1] if kind == "section" and not row[-1] else row))
    return f"{json.dumps(values, ensure_ascii=False, separators=(',', ':'))}\n".encode("utf-8", "replace")


def database_digest(graph: Graph, identity: EncoderIdentity) -> str:
    """Return the content digest of the pack with the database ``graph``; raises ``QueryError``.

    It equals the manifest's digest unless the content was changed. Memory use: one page of rows, and all aliases.
    """
    return digest_rows(identity, database_rows(graph))


def database_rows(graph: Graph) -> dict[str, Iterable[Row]]:
    """Return the rows of each of ``KINDS`` in the database, in digest order; reading them raises ``QueryError``."""
    reader = _RowReader(graph)
    return {
        "article": reader.articles(),
        "section": reader.sections(),
        "alias": reader.aliases(),
        "link": reader.edges("LINKS_TO"),
        "mention": reader.edges("MENTIONS"),
        "entity": reader.entities(),
        "owned": reader.owned(),
        "fact": reader.facts(),
    }


class _RowReader:
    """Reads each kind of row from a database in digest order."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def articles(self) -> Iterator[Row]:
        columns = "a.title, a.categories, a.content, a.url, a.revision"
        for title, categories, *rest in self._pages("(a:Article)", "a", "Article", ARTICLE_PAGE, columns):
            yield (title, json.dumps(categories, ensure_ascii=False), *rest)

    def sections(self) -> Iterator[Row]:
        columns = (
            "s.article_title, s.position, s.section_id, s.title, s.heading_path, s.start_offset, s.end_offset, "
            f"s.source_id, {anchor_of(self._graph)}"
        )
        for row in self._pages("(s:Section)", "s", "Section", SECTION_PAGE, columns):
            _, _, section_id, title, path, *rest = row
            yield (section_id, title, json.dumps(path, ensure_ascii=False), *rest)

    def aliases(self) -> Iterator[Row]:
        rows = self._pages("(a:Article)", "a", "Article", SECTION_PAGE, "a.title, a.aliases")
        known = sorted((fold(alias), alias, title) for title, aliases in rows for alias in aliases)
        return ((alias, title) for _, alias, title in known)

    def edges(self, relation: str) -> Iterator[Row]:
        pattern = f"(a:Article)-[:{relation}]->(b:Article)"
        return self._pages(pattern, "a", "Article", ARTICLE_PAGE, "a.title, b.title")

    def entities(self) -> Iterator[Row]:
        columns = "e.entity_id, e.name, e.type, e.aliases"
        for *row, aliases in self._pages("(e:Entity)", "e", "Entity", ENTITY_PAGE, columns):
            yield (*row, json.dumps(aliases, ensure_ascii=False))

    def owned(self) -> Iterator[Row]:
        pattern = "(a:Article)-[:HAS_ENTITY]->(e:Entity)"
        return self._pages(pattern, "a", "Article", ARTICLE_PAGE, "a.title, e.entity_id")

    def facts(self) -> Iterator[Row]:
        pattern = "(a:Entity)-[r:RELATED_TO]->(b:Entity)"
        columns = "a.entity_id, b.entity_id, r.relation, r.section_id"
        return self._pages(pattern, "a", "Entity", ENTITY_PAGE, columns)

    def _pages(self, pattern: str, node: str, table: str, size: int, columns: str) -> Iterator[Row]:
        """Yield the rows of ``pattern``, ``size`` nodes of ``table`` at a time, sorted within each page."""
        last = self._graph.rows(f"MATCH (n:{table}) RETURN max(offset(id(n)))")[0][0]
        query = f"MATCH {pattern} WHERE offset(id({node})) >= $first AND offset(id({node})) < $last RETURN {columns}"
        for first in range(0, 0 if last is None else int(last) + 1, size):
            yield from sorted(tuple(row) for row in self._graph.rows(query, {"first": first, "last": first + size}))
