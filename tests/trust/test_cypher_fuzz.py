"""Fuzz the guard with 100,000 generated queries, and run those that pass in the sandboxed process.

``WIKIGR_FUZZ_SEED`` selects different queries; ``WIKIGR_FUZZ_QUERIES`` and ``WIKIGR_FUZZ_SECONDS`` extend the run.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.graph_search.cypher.test_guard import HARMLESS, HOSTILE
from tests.graph_search.cypher.test_runner import make_database, rss_kb, state
from tests.trust.conftest import Tally
from tests.trust.cypher_queries import FORBIDDEN, GAPS, Writer

from wikigr.graph.engine import Graph, QueryError
from wikigr.graph_search.cypher.dialect import BlockedQueryError
from wikigr.graph_search.cypher.guard import MAX_CHARACTERS, GuardedQuery, check_query
from wikigr.graph_search.cypher.runner import QueryRunner

SEED = int(os.environ.get("WIKIGR_FUZZ_SEED", "0"))
QUERIES = int(os.environ.get("WIKIGR_FUZZ_QUERIES", "100000"))
SECONDS = float(os.environ.get("WIKIGR_FUZZ_SECONDS", "60"))
TIMEOUT = 1.0
GRACE = 5.0
MAX_GROWTH_KB = 20_000
ODD = [
    "'", '"', "`", "/*", "*/", "//", ";", "\x00", "\u200b", "\\", "{", "}", "(", ")", "$x", "\n", "--", "\r", "\uff1b",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    where = tmp_path_factory.mktemp("fuzz")
    make_database(where / "pack.db")
    (where / "canary.csv").write_text("canary\n")
    (where / "empty").mkdir()
    before = Path.cwd()
    os.chdir(where)
    yield where
    os.chdir(before)


def mutated(query: str, chance: random.Random) -> str:
    """Return ``query`` with a piece removed, doubled, or replaced by an odd string or a piece of another query."""
    at, to = sorted(chance.randrange(len(query) + 1) for _ in range(2))
    pieces: list[Callable[[], str]] = [
        lambda: "", lambda: query[at:to] * 2, lambda: chance.choice(ODD), lambda: " " + chance.choice(FORBIDDEN) + " ",
        lambda: chance.choice(GAPS), lambda: chance.choice(HOSTILE)[:80],
    ]  # fmt: skip
    return query[:at] + chance.choice(pieces)() + query[to if chance.random() < 0.5 else at :]


def queries(seed: int) -> Iterator[str]:
    """Yield generated queries, mutations of them, and mutations of the tables in the guard's tests, forever."""
    chance = random.Random(seed)
    known = HARMLESS + HOSTILE
    while True:
        query = Writer(chance).query()
        yield query
        yield mutated(query, chance)
        yield mutated(chance.choice(known), chance)


def has_one_reading(guarded: GuardedQuery) -> bool:
    """Return whether the rewritten query passes the guard unchanged; a SKIP may be removed, and LIMIT be too much."""
    if guarded.skip or len(guarded.text) > MAX_CHARACTERS:
        return True
    return check_query(guarded.text, max_rows=20, max_hops=3).text == guarded.text


def passes(query: str) -> bool:
    """Return whether the guard accepts ``query``; any other error than its own fails the test."""
    try:
        guarded = check_query(query, max_rows=20, max_hops=3)
    except BlockedQueryError as error:
        assert "\n" not in error.message
        assert len(error.message) < 400
        return False
    assert has_one_reading(guarded), query
    words = set(guarded.text.upper().split())
    assert not words & {"CREATE", "SET", "DELETE", "MERGE", "COPY", "CALL", "LOAD", "ATTACH", "INSTALL", "DROP"} or (
        "'" in guarded.text or '"' in guarded.text or "`" in guarded.text
    ), query
    return True


def test_what_passes_the_guard_changes_nothing(folder: Path, tally: Callable[[str], Tally]) -> None:
    decided, executed = tally("cypher: decided by the guard"), tally("cypher: run on a pack, nothing changed")
    made = queries(SEED)
    kept: list[str] = []
    for _ in range(QUERIES):
        query = next(made)
        if passes(query):
            decided.harmless()
            kept.append(query)
        else:
            decided.refused()
    assert len(kept) > QUERIES / 50
    with Graph(folder / "pack.db") as graph, closing(QueryRunner(folder / "pack.db")) as runner:
        before = state(graph, folder)
        runner.run("RETURN 1")
        memory = rss_kb()
        ends = time.monotonic() + SECONDS
        for number, query in enumerate(kept):
            if time.monotonic() > ends and number >= 500:
                break
            started = time.perf_counter()
            try:
                result = runner.run(query, max_rows=20, timeout=TIMEOUT)
                assert len(result.rows) <= 20
                json.dumps(result.rows, allow_nan=False)
                assert has_one_reading(check_query(query, max_rows=20, max_hops=3)), query
            except (BlockedQueryError, QueryError) as error:
                assert str(folder) not in error.message, query
            assert time.perf_counter() - started < TIMEOUT + GRACE, query
            executed.harmless()
            if number % 25 == 0:
                assert runner.run(f"RETURN {number}").rows == ((number,),), query
                assert state(graph, folder) == before, kept[max(0, number - 25) : number + 1]
        assert state(graph, folder) == before
        assert rss_kb() - memory < MAX_GROWTH_KB
    assert list((folder / "empty").iterdir()) == []
    assert not list(folder.glob("stolen*"))
