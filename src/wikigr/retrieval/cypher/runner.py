"""Run Cypher from a model or a user on a pack: guarded, with a timeout, and with a bounded, JSON-ready result."""

from __future__ import annotations

import base64
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wikigr.graph.engine import Graph, QueryError
from wikigr.retrieval.cypher.guard import check_query

MAX_TEXT = 2_000  # characters per value; the content of an article can be megabytes
MAX_ITEMS = 200  # elements per list
MAX_MESSAGE = 400  # characters of the engine's error messages

_INTERNAL = frozenset({"_ID", "_LABEL", "_SRC", "_DST", "embedding"})
_INTERRUPTED = re.compile(r"Interrupted\.?\Z")


class QueryTimeoutError(QueryError):
    """A query exceeded its timeout."""


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query, in the order of its ORDER BY, if any.

    All values are JSON values. A node or a relationship is ``{"label": …, **properties}``, a path is
    ``{"nodes": […], "relationships": […]}``. Dates, durations, UUIDs and decimals are strings, bytes are base64, NaN
    and infinities are null. Nodes omit embeddings and properties without a value. Strings longer than ``MAX_TEXT``
    characters and lists longer than ``MAX_ITEMS`` are cut, strings with a final ``…``; ``cut`` counts them.
    ``truncated`` means that there are more rows. ``executed`` is the query that the engine ran, without a SKIP after
    ORDER BY, which is applied afterwards.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool
    executed: str
    milliseconds: float
    cut: int = 0


def run_query(
    graph: Graph,
    cypher: str,
    *,
    max_rows: int = 100,
    max_hops: int = 3,
    timeout: float = 10.0,
    parameters: Mapping[str, Any] | None = None,
) -> QueryResult:
    """Run one read-only query on a separate connection.

    ``timeout`` is in seconds. The engine checks it between batches of rows, so a query may end slightly later.

    Raises ``BlockedQueryError`` if the guard rejects the query, ``QueryTimeoutError`` after the timeout, ``QueryError``
    with the engine's message if the query fails, and ``ValueError`` for limits out of range.
    """
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError("timeout must be a positive number of seconds")
    if any(value is None for value in (parameters or {}).values()):
        raise ValueError("a parameter cannot be None, whose type the engine does not know")
    guarded = check_query(cypher, max_rows=max_rows, max_hops=max_hops, parameters=frozenset(parameters or ()))
    given = {name: value for name, value in (parameters or {}).items() if name in guarded.parameters}
    started = time.perf_counter()
    reader = _Reader()
    with graph.sibling(timeout) as own:
        try:
            table = own.arrow(guarded.text, given or None)
            # Read rows from Arrow, because the engine's cursor crashes on dates after the year 9999.
            columns = [_values(column.slice(guarded.skip, max_rows), reader) for column in table.columns]
        # The binding maps C++ exceptions to these classes; a name in two spellings raises an IndexError, for example.
        except (
            QueryError,
            IndexError,
            MemoryError,
            ValueError,
            OverflowError,
            SystemError,
            NotImplementedError,
        ) as error:
            raise _failure(graph, error, timeout) from error
    names = tuple(_clean(name) for name in table.column_names)
    return QueryResult(
        columns=names,
        rows=tuple(zip(*columns, strict=True)),
        truncated=table.num_rows > guarded.skip + max_rows,
        executed=guarded.text,
        milliseconds=(time.perf_counter() - started) * 1000,
        cut=reader.cut,
    )


def _failure(graph: Graph, error: BaseException, timeout: float) -> QueryError:
    text = _clean(str(error)).removeprefix("The database query failed: ")
    if _INTERRUPTED.match(text):
        return QueryTimeoutError(
            f"The query was interrupted after {timeout:g} s.",
            hint="Specify labels and a start node, shorten the paths, or increase the timeout.",
        )
    if isinstance(error, MemoryError) or "buffer pool is full" in text:
        return QueryError(
            "The query exceeds its memory limit.",
            hint="Match fewer nodes at once, shorten the paths, or put WITH … LIMIT before collecting.",
        )
    if graph.path is not None:
        # The message may reach a model, so it must not contain local paths.
        text = text.replace(str(graph.path), "the database").replace(str(graph.path.parent), "the pack")
    text = re.sub(r'Assertion failed in file "[^"]*" on line \d+', "Internal error of the engine", text)
    # The parser's message lists every keyword that it expects.
    text = re.sub(r" expecting \{[^}]*\}?", "", text)
    if len(text) > MAX_MESSAGE:
        text = text[: MAX_MESSAGE - 1] + "…"
    return QueryError(f"The query failed: {text.rstrip('.')}.")


def _clean(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _values(column: Any, reader: _Reader) -> list[Any]:
    return [reader.value(scalar) for chunk in column.chunks for scalar in chunk]


class _Reader:
    """Converts Arrow scalars to JSON values element by element, so that long lists never become Python lists."""

    def __init__(self) -> None:
        self.cut = 0

    def value(self, scalar: Any) -> Any:
        import pyarrow.types as kinds

        kind = scalar.type
        if not scalar.is_valid:
            return None
        if kinds.is_string(kind) or kinds.is_large_string(kind):
            return self._text(scalar)
        if kinds.is_map(kind):
            return self._map(scalar)
        if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
            return self._list(scalar.values)
        if kinds.is_struct(kind):
            return self._struct(scalar)
        if kinds.is_floating(kind):
            number = scalar.as_py()
            return number if math.isfinite(number) else None
        if kinds.is_boolean(kind) or kinds.is_integer(kind):
            return scalar.as_py()
        if kinds.is_binary(kind) or kinds.is_large_binary(kind):
            return self._short(base64.b64encode(scalar.as_py()).decode("ascii"))
        if kinds.is_date(kind) or kinds.is_timestamp(kind) or kinds.is_duration(kind):
            return _moment(scalar)
        return str(scalar.as_py())  # decimal numbers, UUIDs

    def _text(self, scalar: Any) -> str:
        # string_split() can split a multi-byte character.
        return self._short(scalar.as_buffer().to_pybytes().decode("utf-8", "replace"))

    def _short(self, text: str) -> str:
        if len(text) <= MAX_TEXT:
            return text
        self.cut += 1
        return text[: MAX_TEXT - 1] + "…"

    def _list(self, values: Any) -> list[Any]:
        if len(values) > MAX_ITEMS:
            self.cut += 1
        return [self.value(values[i]) for i in range(min(len(values), MAX_ITEMS))]

    def _map(self, scalar: Any) -> dict[str, Any]:
        if len(scalar.values) > MAX_ITEMS:
            self.cut += 1
        entries = [scalar.values[i] for i in range(min(len(scalar.values), MAX_ITEMS))]
        return {str(self.value(entry[0])): self.value(entry[1]) for entry in entries}

    def _struct(self, scalar: Any) -> Any:
        names = [scalar.type.field(i).name for i in range(scalar.type.num_fields)]
        if names == ["offset", "table"]:
            return f"{scalar[1].as_py()}:{scalar[0].as_py()}"
        if names == ["_NODES", "_RELS"]:
            return {"nodes": self.value(scalar[0]), "relationships": self.value(scalar[1])}
        parts = ((name, scalar[i]) for i, name in enumerate(names))
        if "_LABEL" not in names:
            return {name: self.value(part) for name, part in parts}
        label = scalar[names.index("_LABEL")].as_py()
        if label is None or ("_ID" in names and not _found(scalar[names.index("_ID")])):
            return None  # an OPTIONAL MATCH without a match
        # For a node matched without a label, the engine returns the properties of all tables.
        kept = {name: self.value(part) for name, part in parts if name not in _INTERNAL and part.is_valid}
        return {"label": label, **kept}


def _found(internal_id: Any) -> bool:
    return bool(internal_id.is_valid and internal_id[0].is_valid)


def _moment(scalar: Any) -> str:
    """Return a date, time or duration as text; values outside Python's range as the stored number."""
    try:
        value = scalar.as_py()
    except (OverflowError, ValueError):
        return f"{scalar.value} {getattr(scalar.type, 'unit', 'days')} from 1970-01-01"
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
