"""Validate an untrusted pack in a resource-limited child process.

The database engine is not safe against a maliciously crafted file, so the first process to open one is a child with
limits on time, memory and writing. The child reports in JSON, because unpickling would execute what a compromised
child sends.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from wikigr.checks import Check
from wikigr.errors import ModelError, WikigrError
from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import GraphIndexError, load_graph_index
from wikigr.graph.pagerank_cache import PageRankCacheError, read_cache
from wikigr.graph.schema import NODE_TABLES, REL_TABLES, VECTOR_INDEX, ddl
from wikigr.isolation import die_with_parent
from wikigr.pack import layout as parts
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.open import Pack
from wikigr.pack.validate import check_files, check_parts

DISTRUST = "Do not use it. Get it again from a source that you trust."

# Time limit: a fixed part and one for the size. A pack of 72 MB takes 3 seconds on two cores.
_SECONDS = 120.0
_BYTES_PER_SECOND = 2_000_000
# Bytes of address space for Python, the encoder and the engine's buffers, beyond what the engine reserves.
_ADDRESS_SPACE = 6 << 30
_MIN_RESERVE = 1 << 30
SEARCH = "search"
_SEARCH_LIMIT = 10
_LAST_CHECK = "digest"
# How long a child that has closed its pipe may take to exit.
_EXIT_SECONDS = 10.0
_PAGE = 10_000
_MAX_MESSAGE_LENGTH = 1 << 20
_MAX_DETAIL_LENGTH = 500

# Exceptions that a malicious database can cause, besides our own.
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)


def validate_untrusted(folder: Path, *, seconds: float | None = None) -> list[Check]:
    """Run all checks on the pack in ``folder``: those of ``validate_pack``, and the database's schema and digest.

    They run in a child process for at most ``seconds`` (default: depends on the pack's size). A crash, a timeout or
    excessive memory use there is reported as a failed check. An encoder that is missing on this machine is reported,
    but is not a failure. The memory limit has no effect on macOS.
    """
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    allowed = seconds if seconds is not None else _SECONDS + size / _BYTES_PER_SECOND
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(str(folder), size, allowed, theirs), daemon=True)
    child.start()
    theirs.close()
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        child.kill()

    watch = threading.Timer(allowed, expire)
    watch.start()
    checks: list[Check] = []
    try:
        while True:
            message: Any = json.loads(ours.recv_bytes(_MAX_MESSAGE_LENGTH))
            if message is not None:
                checks.append(_parse_check(message))
            elif checks and (checks[-1].name == _LAST_CHECK or not all(check.passed for check in checks)):
                return checks
            else:
                raise ValueError("the last check is missing")
    except EOFError:
        child.join(_EXIT_SECONDS)
        why = _exit_reason(child.exitcode)
    except (OSError, ValueError, TypeError, RecursionError):
        why = "sent an invalid report"
    finally:
        watch.cancel()
        child.kill()
        child.join()
        ours.close()
    if expired.is_set():
        why = f"took more than {allowed:,.0f} seconds and was stopped"
    return [*checks, Check("proof", False, f"The validation process {why}.", DISTRUST)]


def _parse_check(message: dict[str, Any]) -> Check:
    """Return the check in a message of the child; raises ``TypeError`` for anything else."""
    check = Check(**message)
    if not all(isinstance(text, str) for text in (check.name, check.detail, check.mend)):
        raise TypeError("a text is not a string")
    if not (check.passed in (True, False) and check.required in (True, False)):
        raise TypeError("an outcome is not a boolean")
    return check


def _exit_reason(code: int | None) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "took too much time or memory and was stopped"
    if code is not None and code < 0:
        return f"crashed in the database engine (signal {-code})"
    return "exited unexpectedly"


# -- in the child process


def _report(folder: str, size: int, seconds: float, pipe: Connection) -> None:
    """Send every check as JSON, then ``null``."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    die_with_parent()
    reserve = _power_of_two(max(_MIN_RESERVE, 2 * size))
    _limit(reserve + _MIN_RESERVE + size + _ADDRESS_SPACE, seconds)
    try:
        for check in _checks(Path(folder), reserve):
            _send(pipe, check)
    except WikigrError as error:
        _send(pipe, Check("proof", False, error.message, DISTRUST))
    except _UNREADABLE as error:
        _send(pipe, Check("proof", False, f"Cannot read the pack: {type(error).__name__}: {error}", DISTRUST))
    pipe.send_bytes(b"null")


def _send(pipe: Connection, check: Check) -> None:
    detail = check.detail if len(check.detail) <= _MAX_DETAIL_LENGTH else check.detail[:_MAX_DETAIL_LENGTH] + "…"
    pipe.send_bytes(json.dumps(asdict(replace(check, detail=detail))).encode())


def _limit(address_space: int, seconds: float) -> None:
    processors = os.cpu_count() or 1
    limits = {
        resource.RLIMIT_AS: address_space,
        resource.RLIMIT_CPU: int(seconds * processors) + 1,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,  # the checks write nothing
    }
    for kind, limit in limits.items():
        # A lower limit is already in force, or the system does not support this one. The others still apply.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


def _power_of_two(minimum: int) -> int:
    return 1 << (minimum - 1).bit_length()


def _checks(folder: Path, reserve: int) -> Iterator[Check]:
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
            _LAST_CHECK,
            found == manifest.digest,
            f"{found[:16]}, the same as in the manifest"
            if found == manifest.digest
            else f"{found[:16]} for the content, but {manifest.digest[:16]} in the manifest: one of them was changed",
            DISTRUST,
        )


def _schema(graph: Graph, manifest: Manifest) -> Check:
    """Compare everything that the database defines (tables, columns, keys, indexes, macros) with a new pack."""
    with Graph(Path(":memory:"), read_only=False, address_space=_MIN_RESERVE) as model:
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
