"""Answer queries on a pack's database in a sandboxed child process. Only that process imports this module."""

from __future__ import annotations

import base64
import math
import re
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

from wikigr.errors import WikigrError
from wikigr.graph.engine import ENGINE, Graph, import_engine
from wikigr.sandbox.process import Channel, encode

# LadybugDB imports its asynchronous interface, and with it asyncio, which takes longer than everything else here.
_unused = ModuleType(f"{ENGINE}.async_connection")
_unused.AsyncConnection = None  # type: ignore[attr-defined]
sys.modules.setdefault(_unused.__name__, _unused)
import_engine()  # It must be imported before the walls are raised.

MAX_TEXT = 2_000  # characters per value; the content of an article can be megabytes
MAX_ITEMS = 200  # elements per list

_INTERNAL = frozenset({"_ID", "_LABEL", "_SRC", "_DST", "embedding"})
_ENGINE_ERRORS = (ArithmeticError, LookupError, MemoryError, NotImplementedError, RuntimeError, SystemError, ValueError)


def serve(channel: Channel, database: str, reserve: int, message_bytes: int) -> None:
    """Open ``database`` and answer queries until the parent closes the channel.

    The first message is ``{"error", "hint"}``, with empty texts if the database is open.
    A request is ``{"cypher", "skip", "rows", "seconds"}``. A reply is ``{"columns", "rows", "more", "cut"}`` or
    ``{"error": message, "kind": "time" | "memory" | "size" | "query"}``. ``reserve`` is the engine's address space, and
    ``message_bytes`` the size of the largest reply, in bytes.
    """
    try:
        graph = Graph(Path(database), address_space=reserve, threads=4)
    except WikigrError as error:
        channel.send({"error": error.message, "hint": error.hint or ""})
        return
    with graph:
        channel.send({"error": "", "hint": ""})
        while True:
            request = channel.receive()
            try:
                reply = encode(_answer(graph, request))
            except _ENGINE_ERRORS as error:
                reply = encode(_failure(error))
            if len(reply) > message_bytes:
                reply = encode({"error": "the result is too large", "kind": "size"})
            channel.send_bytes(reply)


def _answer(graph: Graph, request: dict[str, Any]) -> dict[str, Any]:
    connection = graph.connection
    connection.set_query_timeout(max(1, round(request["seconds"] * 1000)))  # 0 would mean no limit
    result = connection.execute(request["cypher"])
    try:
        for _ in range(request["skip"]):
            if not result.has_next():
                break
            result.get_next()
        reader = _Reader()
        rows: list[list[Any]] = []
        while len(rows) < request["rows"] and result.has_next():
            rows.append([reader.value(value) for value in result.get_next()])
        return {"columns": result.get_column_names(), "rows": rows, "more": result.has_next(), "cut": reader.cut}
    finally:
        result.close()


def _failure(error: Exception) -> dict[str, str]:
    text = str(error)
    if re.search(r"Interrupted\.?\Z", text):
        kind = "time"
    elif isinstance(error, MemoryError) or "buffer pool is full" in text or "bad_alloc" in text:
        kind = "memory"
    else:
        kind = "query"
    return {"error": text, "kind": kind}


class _Reader:
    """Converts the engine's values to JSON values; see ``QueryResult``."""

    def __init__(self) -> None:
        self.cut = 0

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, str):
            return self._short(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, list):
            return [self.value(item) for item in self._first(value)]
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, bytes):
            return self._short(base64.b64encode(value).decode("ascii"))
        if isinstance(value, date | datetime):
            return value.isoformat()
        if isinstance(value, Decimal | UUID | timedelta):
            return str(value)
        raise TypeError(f"the engine returned a {type(value).__name__}")

    def _short(self, text: str) -> str:
        self.cut += len(text) > MAX_TEXT
        return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"

    def _first(self, items: list[Any]) -> list[Any]:
        self.cut += len(items) > MAX_ITEMS
        return items[:MAX_ITEMS]

    def _mapping(self, value: dict[Any, Any]) -> Any:
        if value.keys() == {"offset", "table"}:
            return f"{value['table']}:{value['offset']}"
        if value.keys() == {"_NODES", "_RELS"} or value.keys() == {"_nodes", "_rels"}:
            nodes, relationships = value.values()
            return {"nodes": self.value(nodes), "relationships": self.value(relationships)}
        if isinstance(value.get("_ID"), dict) and isinstance(value.get("_LABEL"), str):
            # For a node matched without a label, the engine returns the properties of all tables.
            kept = {
                name: self.value(part) for name, part in value.items() if name not in _INTERNAL and part is not None
            }
            return {"label": value["_LABEL"], **kept}
        return {str(self.value(key)): self.value(value[key]) for key in self._first(list(value))}
