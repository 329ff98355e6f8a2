"""Check the database of an untrusted pack: its definitions, values, keys and relations.

Everything that a question may read is read here, in the ways in which questions read it, because a damaged file can
crash the engine in one of them only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wikigr.checks import Check
from wikigr.graph.engine import Graph
from wikigr.graph.schema import NODE_TABLES, REL_TABLES, SECTION_COLUMNS, VECTOR_INDEX, ddl, section_columns
from wikigr.pack.manifest import Manifest
from wikigr.text import word_count

# Rows per query, and rows with the text of a section.
_PAGE = 10_000
_TEXT_PAGE = 1_000

_KEYS = {"Article": "title", "Section": "section_id", "Entity": "entity_id"}


def check_schema(graph: Graph, manifest: Manifest) -> Iterator[Check]:
    """Compare everything that the database defines (tables, columns, keys, indexes, macros) with a new pack."""
    found = _definitions(graph)
    with Graph(Path(":memory:"), read_only=False, address_space=1 << 30) as model:
        # A pack without the table is compared with a new one.
        columns = SECTION_COLUMNS
        if not manifest.has_blocks:
            columns = section_columns(graph) if "table Section" in found else ()
        for statement in ddl(manifest.encoder.dimension, columns):
            model.execute(statement)
        wanted = _definitions(model)
    if manifest.vector_index:
        allowed = f"index {VECTOR_INDEX} of Section"
        # Those that the vector index created for its own use belong to it.
        own = re.compile(rf"table _\d+_{VECTOR_INDEX}_(UPPER|LOWER)")
        found = {name: text for name, text in found.items() if name != allowed and not own.fullmatch(name)}
    for name in sorted(found.keys() | wanted.keys()):
        if name not in wanted:
            yield Check("schema", False, f"the database defines {_quote(name)}, which does not belong in a pack")
        elif name not in found:
            yield Check("schema", False, f"the database has no {name}")
        elif found[name] != wanted[name]:
            yield Check("schema", False, f"the database defines {name} differently")
    if found == wanted:
        yield Check("schema", True, f"{len(wanted)} definitions, the same as in every pack")


def _definitions(graph: Graph) -> dict[str, str]:
    """Return everything that the database defines, keyed by kind and name."""
    found: dict[str, str] = {}
    for name, kind, comment in graph.rows("CALL show_tables() RETURN name, type, comment"):
        columns = [list(row) for row in graph.rows(f"CALL table_info('{_quoted(name)}') RETURN *")]
        connection = f"CALL show_connection('{_quoted(name)}') RETURN *"
        ends = [list(row) for row in graph.rows(connection)] if kind == "REL" else []
        found[f"table {name}"] = repr((kind, comment, columns, ends))
    for table, name, kind, columns in graph.rows(
        "CALL show_indexes() RETURN table_name, index_name, index_type, property_names"
    ):
        found[f"index {name} of {table}"] = repr((kind, columns))
    for name, text in graph.rows("CALL show_macros() RETURN name, definition"):
        found[f"macro {name}"] = str(text)
    for (name,) in graph.rows("CALL show_sequences() RETURN name"):
        found[f"sequence {name}"] = ""
    return found


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")


def check_values(graph: Graph) -> Iterator[Check]:
    """Check that no value is missing, that identifiers are not empty, and that columns agree with each other."""
    missing = 0
    for name in (*NODE_TABLES, *REL_TABLES):
        pattern = f"(x:{name})" if name in NODE_TABLES else f"()-[x:{name}]->()"
        for (column,) in graph.rows(f"CALL table_info('{name}') RETURN name"):
            missing += int(graph.rows(f"MATCH {pattern} WHERE x.{column} IS NULL RETURN count(*)")[0][0])
    yield Check("values", missing == 0, f"{missing:,} are missing")
    for label, table in _IDENTIFIERS:
        count = bad = 0
        for _, name in _rows(graph, f"(n:{table})", "n", table, f"n.{_KEYS[table]}"):
            count += 1
            bad += not name or "\0" in name
        yield Check(label, bad == 0, f"{count:,}, of which {bad:,} are empty or contain a NUL")
    wrong = sum(int(graph.rows(query)[0][0]) for query in _CONTRADICTIONS)
    yield Check("columns", wrong == 0, f"{wrong:,} contradict each other")
    # The index of every node table leads from each key to its node.
    count = bad = 0
    for table, key in _KEYS.items():
        by_key = f"MATCH (n:{table} {{{key}: $key}}) RETURN offset(id(n)), n.{key}"
        for offset, name in _rows(graph, f"(n:{table})", "n", table, f"n.{key}"):
            count += 1
            bad += [list(row) for row in graph.rows(by_key, {"key": name})] != [[offset, name]]
    yield Check("keys", bad == 0, f"{count:,} looked up, {bad:,} of them not found")


_IDENTIFIERS = (("titles", "Article"), ("section ids", "Section"), ("entity ids", "Entity"))
_CONTRADICTIONS = (
    "MATCH (s:Section) WHERE s.section_id <> concat(s.article_title, '#', cast(s.position, 'STRING')) RETURN count(s)",
    "MATCH (s:Section) WHERE s.level <> size(s.heading_path) RETURN count(s)",
    "MATCH (:Article)-[h:HAS_SECTION]->(s:Section) WHERE h.position <> s.position RETURN count(s)",
    "MATCH (a:Article) WHERE size(a.categories) > 0 AND a.category <> a.categories[1] RETURN count(a)",
    "MATCH (a:Article) WHERE size(a.categories) = 0 AND a.category <> '' RETURN count(a)",
)


def check_relations(graph: Graph) -> Iterator[Check]:
    """Check that every relation has the same edges from its sources as from its targets, and the numbers of words.

    The edges are scanned completely from both, and looked up by key for some nodes.
    """
    edges = bad = 0
    for relation, source, target, columns in _RELATIONS:
        forward = _Edges.scan(graph, f"(a:{source})-[r:{relation}]->(b:{target})", "a", source, columns)
        backward = _Edges.scan(graph, f"(b:{target})<-[r:{relation}]-(a:{source})", "b", target, columns)
        edges += forward.count
        bad += (forward.count, forward.checksum) != (backward.count, backward.checksum)
        pattern = f"(a:{source} {{{_KEYS[source]}: $key}})-[r:{relation}]->(b:{target})"
        bad += forward.differing(graph, pattern, source, columns)
        pattern = f"(b:{target} {{{_KEYS[target]}: $key}})<-[r:{relation}]-(a:{source})"
        bad += backward.differing(graph, pattern, target, columns)
    yield Check("relations", bad == 0, f"{edges:,} edges in both directions, {bad:,} lists of them differ")
    count = bad = 0
    for table in ("Article", "Section"):
        for _, content, words in _rows(graph, f"(n:{table})", "n", table, "n.content, n.word_count", _TEXT_PAGE):
            count += 1
            bad += words != word_count(content)
    yield Check("word counts", bad == 0, f"{count:,} texts, of which {bad:,} have another number of words")


_RELATIONS = (
    ("HAS_SECTION", "Article", "Section", "r.position"),
    ("LINKS_TO", "Article", "Article", "''"),
    ("MENTIONS", "Article", "Article", "''"),
    ("HAS_ENTITY", "Article", "Entity", "''"),
    ("RELATED_TO", "Entity", "Entity", "r.relation, r.section_id"),
)


@dataclass(slots=True)
class _Edges:
    """The number of edges of a relation, their checksum in any order, and all edges at some nodes by node offset."""

    count: int = 0
    checksum: int = 0
    at: dict[int, list[Sequence[Any]]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def scan(cls, graph: Graph, pattern: str, node: str, table: str, columns: str) -> _Edges:
        """Read all edges of ``pattern`` by pages of the nodes that ``node`` binds."""
        found = cls()
        step = _walk_step(graph, table)
        for offset, *edge in _rows(graph, pattern, node, table, f"offset(id(a)), offset(id(b)), {columns}"):
            found.count += 1
            found.checksum = (found.checksum + hash(tuple(edge))) % (1 << 64)
            if offset % step == 0:
                found.at[offset].append(edge)
        return found

    def differing(self, graph: Graph, pattern: str, table: str, columns: str) -> int:
        """Return the number of nodes at which a lookup of ``pattern`` by key finds other edges."""
        step = _walk_step(graph, table)
        query = f"MATCH {pattern} RETURN offset(id(a)), offset(id(b)), {columns}"
        return sum(
            sorted(map(list, graph.rows(query, {"key": key}))) != sorted(map(list, self.at.get(offset, [])))
            for offset, key in _rows(graph, f"(n:{table})", "n", table, f"n.{_KEYS[table]}")
            if offset % step == 0
        )


def _walk_step(graph: Graph, table: str) -> int:
    # The edges of 2,000 nodes are looked up by key, which takes 0.3 ms per relation. All edges are scanned as well.
    return 1 + _size(graph, table) // 2_000


def edge_offsets(graph: Graph, source: str, relation: str, target: str) -> Iterator[tuple[int, int]]:
    """Return the offsets of the two nodes of every edge ``(:source)-[:relation]->(:target)``."""
    pattern = f"(a:{source})-[:{relation}]->(b:{target})"
    return ((first, second) for first, second in _rows(graph, pattern, "a", source, "offset(id(b))"))


def section_texts(graph: Graph) -> Iterator[tuple[str, str, str, str]]:
    """Yield the id, the article's title, the headings and the text of every section, as the lexical index has them."""
    columns = "s.section_id, s.article_title, s.heading_path, s.content"
    for _, section_id, title, path, content in _rows(graph, "(s:Section)", "s", "Section", columns, _TEXT_PAGE):
        yield section_id, title, " ".join(path), content


def _rows(
    graph: Graph, pattern: str, node: str, table: str, columns: str, page: int = _PAGE
) -> Iterator[Sequence[Any]]:
    """Yield the rows of ``pattern``, each after the offset of the node that ``node`` binds, in pages of nodes."""
    query = (
        f"MATCH {pattern} WHERE offset(id({node})) >= $first AND offset(id({node})) < $last "
        f"RETURN offset(id({node})), {columns}"
    )
    for first in range(0, _size(graph, table), page):
        yield from graph.rows(query, {"first": first, "last": first + page})


def _size(graph: Graph, table: str) -> int:
    last = graph.rows(f"MATCH (n:{table}) RETURN max(offset(id(n)))")[0][0]
    return 0 if last is None else int(last) + 1


def _quote(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:80] + "…")
