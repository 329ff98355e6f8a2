"""Fuzz the guard of Cypher queries: it refuses a query or rewrites it into one that it accepts."""

from __future__ import annotations

from wikigr.graph_search.cypher.dialect import BlockedQueryError
from wikigr.graph_search.cypher.guard import check_query


def TestOneInput(data: bytes) -> None:
    query = data.decode("utf-8", "replace")
    try:
        guarded = check_query(query, max_rows=20, max_hops=3)
    except BlockedQueryError as error:
        assert "\n" not in error.message
        return
    check_query(guarded.text, max_rows=20, max_hops=3)
