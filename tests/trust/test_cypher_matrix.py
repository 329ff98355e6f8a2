"""Every function and operator of the dialect with values that it does not expect, in every position.

Nothing may reach beyond the sandboxed process: the database and the files stay the same, the next query gets its own
answer, and the memory of this process does not grow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from tests.graph_search.cypher.test_runner import make_database, rss_kb, state
from tests.trust.conftest import Tally

from wikigr.graph.engine import Graph, QueryError
from wikigr.graph_search.cypher.dialect import BINARY_OPERATORS, FUNCTIONS, TYPES, BlockedQueryError
from wikigr.graph_search.cypher.runner import QueryRunner

VALUES = [
    "170141183460469231731687303715884105727",
    "CAST(170141183460469231731687303715884105727 AS INT128)",
    "-9223372036854775808",
    "NULL",
    "a",
    "r",
    "p",
    "{k: a}",
    "{k: [1, NULL]}",
    "[]",
    "[[[1]], [[NULL]]]",
    "collect(a)",
    "s.embedding",
    "repeat(a.content, 100000)",
    "'\\u00e9\\U0010ffff'",
    "date('99999-12-31')",
    "0.0 / 0.0",
]
PLAIN = ["a.title", "1", "['x']"]
WORDS = ["AND", "OR", "XOR", "IN", "STARTS WITH", "ENDS WITH", "CONTAINS"]
MATCH = "MATCH p = (a:Article {title: 'A1'})-[r:HAS_SECTION]->(s:Section) RETURN "
MAX_GROWTH_KB = 20_000


def expressions() -> Iterator[str]:
    for name in sorted(FUNCTIONS - {"CAST"}):
        yield f"{name}()"
        for value in VALUES:
            yield f"{name}({value})"
            for plain in PLAIN:
                yield f"{name}({value}, {plain})"
                yield f"{name}({plain}, {value})"
            yield f"{name}({value}, {value})"
            yield f"{name}({value}, {value}, {value})"
            yield f"{name}(a.title, 1, {value})"
    for operator in (*sorted(BINARY_OPERATORS), *WORDS):
        for value in VALUES:
            for plain in (*PLAIN, value):
                yield f"{value} {operator} {plain}"
                yield f"{plain} {operator} {value}"
    for value in VALUES:
        yield from (f"({value})[1]", f"({value})[1:2]", f"({value})[-1:]", f"({value}).k", f"-{value}", f"NOT {value}")
        yield from (f"{value} IS NULL", f"CASE {value} WHEN {value} THEN {value} ELSE 1 END", f"[{value}, {value}]")
        yield from (f"CAST({value} AS {kind})" for kind in sorted(TYPES))
        yield from (f"CAST({value} AS {kind}[])" for kind in sorted(TYPES))


def test_no_value_reaches_beyond_the_process(tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    make_database(tmp_path / "pack.db")
    (tmp_path / "canary.csv").write_text("canary\n")
    count = tally("cypher: every function and operator with hostile values")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        with Graph(tmp_path / "pack.db") as graph, closing(QueryRunner(tmp_path / "pack.db")) as runner:
            unchanged = state(graph, tmp_path)
            runner.run("RETURN 1")
            memory = rss_kb()
            for number, expression in enumerate(expressions()):
                try:
                    runner.run(MATCH + expression, timeout=2.0)
                    count.harmless()
                except (BlockedQueryError, QueryError):
                    count.refused()
                if number % 50 == 0:
                    assert runner.run(f"RETURN {number}").rows == ((number,),), expression
            assert rss_kb() - memory < MAX_GROWTH_KB
            assert state(graph, tmp_path) == unchanged
    finally:
        os.chdir(before)
    assert count.outcome["harmless"] > 2_000
    assert count.tried > 20_000
