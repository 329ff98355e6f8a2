"""The content digest of a pack, computed from the rows of a build or from the finished database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.graph.engine import Graph
from wikigr.graph.schema import FORMAT_VERSION, section_columns, section_values
from wikigr.text import fold

Row = tuple[Any, ...]

# The kinds of rows in digest order, with their columns. Rows are sorted by the columns in brackets.
#   article  [title], categories as JSON, content, url, revision
#   section  section_id, heading, heading path as JSON, start, end, source_id, anchor, blocks
#            (without the last ones that are empty, as in packs built before the columns) [article's title, position]
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


def digest_rows(
    identity: EncoderIdentity, rows: Mapping[str, Iterable[Row]], format_version: int = FORMAT_VERSION
) -> str:
    """Return the SHA-256 (hexadecimal) of a pack's content; ``rows`` maps each of ``KINDS`` to its sorted rows.

    The encoder's identity stands in for the vectors, because their last bits depend on the machine.
    """
    encoder = (format_version, identity.model_id, identity.dimension, identity.weights_sha256)
    digest = hashlib.sha256(encode_row("wikigr", encoder))
    for kind in KINDS:
        for row in rows[kind]:
            digest.update(encode_row(kind, row))
    return digest.hexdigest()


def encode_row(kind: str, row: Row) -> bytes:
    """Return the bytes of one row that are hashed."""
    values = [kind, *row]
    while kind == "section" and values[-1] == "":
        values.pop()
    return f"{json.dumps(values, ensure_ascii=False, separators=(',', ':'))}\n".encode("utf-8", "replace")


def database_digest(graph: Graph, identity: EncoderIdentity) -> str:
    """Return the content digest of the pack with the database ``graph``; raises ``QueryError``.

    It equals the manifest's digest unless the content was changed. Memory use: one page of rows, and all aliases.
    """
    format_version = FORMAT_VERSION if "blocks" in section_columns(graph) else 1
    return digest_rows(identity, database_rows(graph), format_version)


def database_rows(graph: Graph) -> dict[str, Iterable[Row]]:
    """Return the rows of each of ``KINDS`` in the database, in digest order; reading them raises ``QueryError``."""

    def pages(pattern: str, node: str, table: str, size: int, columns: str) -> Iterator[Row]:
        """Yield the rows of ``pattern``, ``size`` nodes of ``table`` at a time, sorted within each page."""
        last = graph.rows(f"MATCH (n:{table}) RETURN max(offset(id(n)))")[0][0]
        query = f"MATCH {pattern} WHERE offset(id({node})) >= $first AND offset(id({node})) < $last RETURN {columns}"
        for first in range(0, 0 if last is None else int(last) + 1, size):
            yield from sorted(tuple(row) for row in graph.rows(query, {"first": first, "last": first + size}))

    def of_articles(pattern: str, columns: str, size: int = ARTICLE_PAGE) -> Iterator[Row]:
        return pages(pattern, "a", "Article", size, columns)

    def aliases() -> Iterator[Row]:
        rows = of_articles("(a:Article)", "a.title, a.aliases", SECTION_PAGE)
        known = sorted((fold(alias), alias, title) for title, names in rows for alias in names)
        yield from ((alias, title) for _, alias, title in known)

    articles = of_articles("(a:Article)", "a.title, a.categories, a.content, a.url, a.revision")
    sections = pages(
        "(s:Section)",
        "s",
        "Section",
        SECTION_PAGE,
        "s.article_title, s.position, s.section_id, s.title, s.heading_path, s.start_offset, s.end_offset, "
        f"s.source_id, {section_values(graph)}",
    )
    entities = pages("(e:Entity)", "e", "Entity", ENTITY_PAGE, "e.entity_id, e.name, e.type, e.aliases")
    facts = "a.entity_id, b.entity_id, r.relation, r.section_id"
    return {
        "article": ((title, _json(categories), *rest) for title, categories, *rest in articles),
        "section": ((id_, title, _json(path), *rest) for _, _, id_, title, path, *rest in sections),
        "alias": aliases(),
        "link": of_articles("(a:Article)-[:LINKS_TO]->(b:Article)", "a.title, b.title"),
        "mention": of_articles("(a:Article)-[:MENTIONS]->(b:Article)", "a.title, b.title"),
        "entity": ((*row, _json(names)) for *row, names in entities),
        "owned": of_articles("(a:Article)-[:HAS_ENTITY]->(e:Entity)", "a.title, e.entity_id"),
        "fact": pages("(a:Entity)-[r:RELATED_TO]->(b:Entity)", "a", "Entity", ENTITY_PAGE, facts),
    }


def _json(values: object) -> str:
    return json.dumps(values, ensure_ascii=False)
