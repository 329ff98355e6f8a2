"""The checks on an untrusted pack: its files, schema, values, parts, companions, search and digest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wikigr.checks import Check
from wikigr.errors import ModelError
from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import GraphIndexError, load_graph_index
from wikigr.graph.pagerank_cache import PageRankCacheError, read_cache
from wikigr.graph.schema import NODE_TABLES, REL_TABLES, VECTOR_INDEX, ddl
from wikigr.pack import layout as parts
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.open import Pack
from wikigr.pack.validate import check_files, check_parts

DISTRUST = "Do not use it. Get it again from a source that you trust."
SEARCH = "search"
LAST_CHECK = "digest"

# Bytes of address space for the empty database that the schema is compared with.
_MODEL_RESERVE = 1 << 30
_SEARCH_LIMIT = 10
_PAGE = 10_000


def untrusted_checks(folder: Path, reserve: int) -> Iterator[Check]:
    """Yield the checks on the pack in ``folder`` as they finish; a failure that makes the rest unsafe ends them.

    ``reserve`` is the number of bytes of address space for the engine: a power of two, larger than the database. Runs
    in a child process, because a malicious database can crash the engine. Raises ``WikigrError`` and the errors of the
    libraries that read the files.
    """
    layout = find_pack(folder)
    manifest = read_manifest(layout.part(parts.MANIFEST))
    files = check_files(layout, manifest)
    yield from files
    database = layout.part(parts.DATABASE)
    strays = sorted(path.name for path in database.parent.glob(f"{parts.DATABASE}?*"))
    if strays:
        # The engine would replay a write-ahead log or shadow file.
        yield Check("files", False, f"{_quote(strays[0])} next to the database, which the engine would read", DISTRUST)
    if strays or not all(check.passed for check in files):
        return
    graph = Graph(database, address_space=reserve)
    with Pack(folder, graph=graph) as pack:
        schema = _schema(graph, manifest)
        yield schema
        if not schema.passed:
            return
        values = list(_values(graph))
        yield from values
        if not all(check.passed for check in values):
            return
        for check in check_parts(pack):
            # A bundled encoder must work; any other may be missing on this machine.
            required = check.name != "encoder" or manifest.bundled_encoder
            yield check if required else replace(check, required=False)
        yield from _companions(layout, manifest)
        yield _search(pack)
        found = database_digest(graph, manifest.encoder)
        yield Check(
            LAST_CHECK,
            found == manifest.digest,
            f"{found[:16]}, the same as in the manifest"
            if found == manifest.digest
            else f"{found[:16]} for the content, but {manifest.digest[:16]} in the manifest: one of them was changed",
            DISTRUST,
        )


def _schema(graph: Graph, manifest: Manifest) -> Check:
    """Compare everything that the database defines (tables, columns, keys, indexes, macros) with a new pack."""
    with Graph(Path(":memory:"), read_only=False, address_space=_MODEL_RESERVE) as model:
        for statement in ddl(manifest.encoder.dimension):
            model.execute(statement)
        wanted = _definitions(model)
    found = _definitions(graph)
    if manifest.vector_index:
        allowed = f"index {VECTOR_INDEX} of Section"
        found = {name: text for name, text in found.items() if name != allowed and not _is_index_table(name)}
    for name in sorted(found.keys() | wanted.keys()):
        if name not in wanted:
            return Check(
                "schema", False, f"the database defines {_quote(name)}, which does not belong in a pack", DISTRUST
            )
        if name not in found:
            return Check("schema", False, f"the database has no {name}", DISTRUST)
        if found[name] != wanted[name]:
            return Check("schema", False, f"the database defines {name} differently", DISTRUST)
    return Check("schema", True, f"{len(wanted)} definitions, the same as in every pack")


def _is_index_table(name: str) -> bool:
    """Return whether the vector index created this table for its own use."""
    return re.fullmatch(rf"table _\d+_{VECTOR_INDEX}_(UPPER|LOWER)", name) is not None


def _definitions(graph: Graph) -> dict[str, str]:
    """Return everything that the database defines, keyed by kind and name."""
    found: dict[str, str] = {}
    for name, kind, comment in graph.rows("CALL show_tables() RETURN name, type, comment"):
        columns = [list(row) for row in graph.rows(f"CALL table_info('{_quoted(name)}') RETURN *")]
        ends = (
            [list(row) for row in graph.rows(f"CALL show_connection('{_quoted(name)}') RETURN *")]
            if kind == "REL"
            else []
        )
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


def _values(graph: Graph) -> Iterator[Check]:
    """Check that no value is missing, that identifiers are not empty, and that columns agree with each other."""
    missing = sum(_missing(graph, *each) for each in _columns(graph))
    yield Check("values", missing == 0, f"{missing:,} are missing", DISTRUST)
    for label, table, column in _IDENTIFIERS:
        count = bad = 0
        for name in _column(graph, table, column):
            count += 1
            bad += not name or "\0" in name
        yield Check(label, bad == 0, f"{count:,}, of which {bad:,} are empty or contain a NUL", DISTRUST)
    wrong = sum(int(graph.rows(query)[0][0]) for query in _CONTRADICTIONS)
    yield Check("columns", wrong == 0, f"{wrong:,} contradict each other", DISTRUST)


_IDENTIFIERS = (
    ("titles", "Article", "title"),
    ("section ids", "Section", "section_id"),
    ("entity ids", "Entity", "entity_id"),
)
_CONTRADICTIONS = (
    "MATCH (s:Section) WHERE s.section_id <> concat(s.article_title, '#', cast(s.position, 'STRING')) RETURN count(s)",
    "MATCH (s:Section) WHERE s.level <> size(s.heading_path) RETURN count(s)",
    "MATCH (:Article)-[h:HAS_SECTION]->(s:Section) WHERE h.position <> s.position RETURN count(s)",
    "MATCH (a:Article) WHERE size(a.categories) > 0 AND a.category <> a.categories[1] RETURN count(a)",
    "MATCH (a:Article) WHERE size(a.categories) = 0 AND a.category <> '' RETURN count(a)",
)


def _columns(graph: Graph) -> Iterator[tuple[str, str]]:
    """Yield, for every column of every table, a Cypher pattern that binds ``x`` and the column's name."""
    for name in (*NODE_TABLES, *REL_TABLES):
        pattern = f"(x:{name})" if name in NODE_TABLES else f"()-[x:{name}]->()"
        for (column,) in graph.rows(f"CALL table_info('{name}') RETURN name"):
            yield pattern, column


def _missing(graph: Graph, pattern: str, column: str) -> int:
    return int(graph.rows(f"MATCH {pattern} WHERE x.{column} IS NULL RETURN count(*)")[0][0])


def _column(graph: Graph, table: str, column: str) -> Iterator[str]:
    last = graph.rows(f"MATCH (n:{table}) RETURN max(offset(id(n)))")[0][0]
    query = f"MATCH (n:{table}) WHERE offset(id(n)) >= $first AND offset(id(n)) < $last RETURN n.{column}"
    for first in range(0, 0 if last is None else int(last) + 1, _PAGE):
        yield from (row[0] for row in graph.rows(query, {"first": first, "last": first + _PAGE}))


def _companions(layout: Layout, manifest: Manifest) -> Iterator[Check]:
    """Check that the derived files were computed from this content."""
    try:
        fits = read_cache(layout.part(parts.PAGERANK)).fits(manifest.digest, manifest.counts)
        yield Check("PageRank", fits, "matches the content" if fits else "belongs to other content", DISTRUST)
    except PageRankCacheError as error:
        yield Check("PageRank", False, error.message, DISTRUST)
    if parts.GRAPH_INDEX in manifest.files:
        try:
            fits = load_graph_index(layout.part(parts.GRAPH_INDEX)).digest == manifest.digest
            yield Check("graph index", fits, "matches the content" if fits else "belongs to other content", DISTRUST)
        except GraphIndexError as error:
            yield Check("graph index", False, error.message, DISTRUST)


def _search(pack: Pack) -> Check:
    """Search the pack for one of its own titles. Done here, because a malicious bundled encoder may never return."""
    titles = pack.graph.rows("MATCH (a:Article)-[:HAS_SECTION]->(:Section) RETURN a.title ORDER BY a.title LIMIT 1")
    if not titles:
        return Check(SEARCH, True, "nothing to find")
    title = titles[0][0]
    try:
        vector = pack.encoder.encode([title])[0]
    except ModelError as error:
        return Check(SEARCH, False, error.message, error.hint or "", required=pack.manifest.bundled_encoder)
    found = [*pack.nearest(vector, _SEARCH_LIMIT), *pack.lexical.search(title, _SEARCH_LIMIT)]
    return Check(SEARCH, bool(found), f"{'finds' if found else 'does not find'} one of its own titles", DISTRUST)


def _quote(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:80] + "…")
