from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.graph_search.cypher.test_guard import CONFINED, HARMLESS, HOSTILE

from wikigr.errors import PackError
from wikigr.graph.engine import Graph, QueryError
from wikigr.graph.schema import NODE_TABLES, REL_TABLES, ddl
from wikigr.graph_search.cypher.dialect import BlockedQueryError
from wikigr.graph_search.cypher.guard import check_query
from wikigr.graph_search.cypher.runner import MAX_MESSAGE, QueryRunner

ARTICLES = 40
TIMEOUT = 0.2


def make_database(path: Path) -> None:
    """Create the tables of a pack with a few rows in each."""
    with Graph(path, read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        for i in range(ARTICLES):
            title, long = f"A{i}", "x" * 5000 if i == 1 else "text"
            graph.execute(
                "CREATE (a:Article {title: $title, category: $category, categories: ['c', 'd'], word_count: $i, "
                "content: $long, revision: '1', aliases: ['z', $title]})-[:HAS_SECTION {position: 0}]->"
                "(:Section {section_id: $title + '#0', title: 'Set theory', heading_path: ['h'], content: 'x', "
                "embedding: CAST([0.1, 0.2, 0.3, 0.4] AS FLOAT[4]), position: 0, article_title: $title}), "
                "(a)-[:HAS_ENTITY]->(:Entity {entity_id: $title, name: $title, type: 'T', aliases: ['e']})",
                {"title": title, "category": f"c{i % 3}", "i": i, "long": long},
            )
        graph.execute(
            "MATCH (a:Article), (b:Article) WHERE (a.word_count * 7 + b.word_count * 3) % 11 = 0 "
            "AND a.title <> b.title CREATE (a)-[:LINKS_TO]->(b)"
        )
        graph.execute(
            "MATCH (a:Entity), (b:Entity) WHERE b.name STARTS WITH a.name AND a.name <> b.name "
            "CREATE (a)-[:RELATED_TO {relation: 'near', section_id: 'A1#0'}]->(b)"
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a database and a canary file, which becomes the working folder of the tests."""
    where = tmp_path_factory.mktemp("cypher")
    make_database(where / "pack.db")
    (where / "canary.csv").write_text("canary\n")
    before = Path.cwd()
    os.chdir(where)
    yield where
    os.chdir(before)


@pytest.fixture(scope="module")
def graph(folder: Path) -> Iterator[Graph]:
    """The database in this process, to see whether a query changed it."""
    with Graph(folder / "pack.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def runner(folder: Path) -> Iterator[QueryRunner]:
    with closing(QueryRunner(folder / "pack.db")) as opened:
        yield opened


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill a process soon after its query should have ended."""
    monkeypatch.setattr("wikigr.graph_search.cypher.runner._GRACE_SECONDS", 0.1)


def state(graph: Graph, folder: Path) -> str:
    """A digest of every table, the catalog, the settings and the files."""
    parts: list[Any] = []
    for table in NODE_TABLES:
        parts.append(sorted(map(str, graph.rows(f"MATCH (n:{table}) RETURN n"))))
    for table in REL_TABLES:
        parts.append(sorted(map(str, graph.rows(f"MATCH (a)-[r:{table}]->(b) RETURN r"))))
    for catalog in ("tables", "macros", "sequences", "indexes", "loaded_extensions", "attached_databases"):
        parts.append(sorted(map(str, graph.rows(f"CALL show_{catalog}() RETURN *"))))
    for setting in (
        "threads", "timeout", "home_directory", "file_search_path", "progress_bar", "var_length_extend_max_depth",
    ):  # fmt: skip
        parts.append(graph.rows(f"CALL current_setting('{setting}') RETURN *"))
    parts.append(sorted(path.name for path in folder.iterdir() if not path.name.startswith("pack.db")))
    parts.append((folder / "canary.csv").read_text())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def test_a_harmless_query_passes_the_guard_and_runs(runner: QueryRunner, subtests: pytest.Subtests) -> None:
    assert HARMLESS
    for query in HARMLESS:
        with subtests.test(query=query):
            executed = check_query(query, max_rows=10, max_hops=3).text
            assert " LIMIT " in executed
            assert check_query(executed, max_rows=10, max_hops=3).text == executed
            result = runner.run(query, max_rows=10, timeout=30)
            assert len(result.rows) <= 10
            assert all(len(row) == len(result.columns) for row in result.rows)
            json.dumps(result.rows, allow_nan=False)
            assert result.executed == executed


def test_a_refused_query_touches_nothing(
    runner: QueryRunner, graph: Graph, folder: Path, subtests: pytest.Subtests
) -> None:
    before = state(graph, folder)
    for query in [*HOSTILE, "COPY (MATCH (a:Article) RETURN a.title) TO 'stolen.csv'"]:
        with subtests.test(query=query), pytest.raises(BlockedQueryError):
            runner.run(query)
    assert state(graph, folder) == before


def test_the_digest_sees_changes(tmp_path: Path) -> None:
    make_database(tmp_path / "pack.db")
    (tmp_path / "canary.csv").write_text("canary\n")
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        seen = {state(graph, tmp_path)}
        for statement in (
            "MATCH (a:Article {title: 'A1'}) SET a.word_count = 9", "CREATE NODE TABLE X(id INT64 PRIMARY KEY)",
            "CREATE MACRO f(x) AS x + 1", "CALL threads=1", "COPY (RETURN 1) TO '" + str(tmp_path / "stolen.csv") + "'",
        ):  # fmt: skip
            graph.execute(statement)
            seen.add(state(graph, tmp_path))
        assert len(seen) == 6


def test_rows_beyond_the_limit_are_reported(runner: QueryRunner) -> None:
    query = "MATCH (a:Article) RETURN a.title ORDER BY a.word_count"
    some = runner.run(query, max_rows=3)
    assert some.columns == ("a.title",)
    assert some.rows == (("A0",), ("A1",), ("A2",))
    assert some.truncated
    assert some.executed == query + " LIMIT 4"
    assert not runner.run(query, max_rows=ARTICLES).truncated
    assert not runner.run(query + " LIMIT 3", max_rows=3).truncated


def test_skip_after_order_by_is_applied_by_the_runner(runner: QueryRunner) -> None:
    query = "MATCH (a:Article) RETURN a.word_count AS n ORDER BY n"
    assert [n for (n,) in runner.run(query + " SKIP 5 LIMIT 3").rows] == [5, 6, 7]
    some = runner.run(query + " SKIP 5", max_rows=2)
    assert [n for (n,) in some.rows] == [5, 6]
    assert some.truncated
    assert some.executed.endswith("ORDER BY n LIMIT 8")
    assert runner.run(query + " SKIP 10000").rows == ()  # crashes if the engine applies the SKIP
    assert len(runner.run("MATCH (a:Article) RETURN a SKIP 38").rows) == 2


def test_the_branches_of_a_union_share_the_limit(runner: QueryRunner) -> None:
    result = runner.run(
        "MATCH (a:Article) RETURN a.title AS t UNION ALL MATCH (a:Article) RETURN a.title AS t", max_rows=5
    )
    assert len(result.rows) == 5
    assert result.truncated


def value(runner: QueryRunner, expression: str) -> Any:
    return runner.run(f"RETURN {expression}").rows[0][0]


def test_values_are_those_of_json(runner: QueryRunner) -> None:
    assert value(runner, "date('2020-01-31') + interval('1 month')") in ("2020-02-29", "2020-02-29T00:00:00")
    assert value(runner, "timestamp('2020-01-01 10:00:00')") == "2020-01-01T10:00:00"
    assert value(runner, "interval('3 days')") == "3 days, 0:00:00"
    identity = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    assert value(runner, f"CAST('{identity}' AS UUID)") == identity
    assert value(runner, "0.0 / 0.0") is None
    assert value(runner, "10.0 ^ 400") is None
    assert value(runner, "{a: [1, NULL], b: {c: 'x'}}") == {"a": [1, None], "b": {"c": "x"}}
    assert value(runner, "CAST(170141183460469231731687303715884105727 AS INT128)") == f"{2**127 - 1}"
    # A map is not a node because of its keys.
    assert value(runner, "{_ID: 1, _LABEL: 'x'}") == {"_ID": 1, "_LABEL": "x"}


def test_nodes_relationships_and_paths(runner: QueryRunner) -> None:
    query = "MATCH p = (a:Article {title: 'A0'})-[r:HAS_SECTION]->(s) RETURN a, r, s, p, id(a)"
    article, relation, section, path, identity = runner.run(query).rows[0]
    assert article["label"] == "Article"
    assert article["title"] == "A0"
    assert relation == {"label": "HAS_SECTION", "position": 0}
    assert section["section_id"] == "A0#0"
    assert "embedding" not in section
    assert "url" not in article  # it has none
    assert path == {"nodes": [article, section], "relationships": [relation]}
    assert identity == "0:0"
    assert runner.run("OPTIONAL MATCH (a:Article {title: 'none'}) RETURN a").rows == ((None,),)


def test_long_values_are_cut_and_counted(runner: QueryRunner) -> None:
    result = runner.run("MATCH (a:Article {title: 'A1'}) RETURN a.content, a")
    text, node = result.rows[0]
    assert len(text) == 2_000
    assert text.endswith("…")
    assert node["content"] == text
    assert result.cut == 2
    listed = runner.run("RETURN range(1, 900)")
    assert listed.rows[0][0] == list(range(1, 200 + 1))
    assert listed.cut == 1


def test_a_slow_query_is_interrupted_and_the_next_one_runs(runner: QueryRunner) -> None:
    slow = (
        "MATCH " + ", ".join(f"(a{i}:Article)" for i in range(8)) + " WITH " + "+".join(f"a{i}.title" for i in range(8))
    )
    with pytest.raises(QueryError, match=r"interrupted after 0\.3 s"):
        runner.run(slow + " AS x RETURN x ORDER BY x", timeout=0.3)
    assert runner.run("RETURN 1").rows == ((1,),)


def test_too_much_memory_is_a_clear_error(runner: QueryRunner) -> None:
    tables = ", ".join(f"(a{i}:Article)" for i in range(5))
    with pytest.raises(QueryError, match=r"memory|interrupted"):
        runner.run(f"MATCH {tables} RETURN collect(a0.title + a1.title + a2.title + a3.title)", timeout=20)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a:Nope) RETURN a",
        "RETURN 1 / 0",
        "RETURN 1 AS a UNION RETURN 2, 3",
    ],
)
def test_engine_errors_are_short_and_contain_no_path(runner: QueryRunner, folder: Path, query: str) -> None:
    with pytest.raises(QueryError) as failed:
        runner.run(query)
    message = failed.value.message
    assert message.startswith("The query failed: ")
    assert "\n" not in message
    assert len(message) <= MAX_MESSAGE + 30
    assert str(folder) not in message
    assert ".cpp" not in message


@pytest.mark.parametrize("timeout", [0, -1, math.inf, math.nan])
def test_an_invalid_timeout_is_an_error(runner: QueryRunner, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        runner.run("RETURN 1", timeout=timeout)


def rss_kb() -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.trust)])
def test_a_query_cannot_harm_this_process(
    runner: QueryRunner, impatient: None, subtests: pytest.Subtests, step: int
) -> None:
    assert CONFINED
    for query in CONFINED[::step]:
        with subtests.test(query=query):
            before = rss_kb()
            try:
                result = runner.run(query, timeout=TIMEOUT)
                json.dumps(result.rows, allow_nan=False)
            except QueryError as error:
                assert "bug" not in error.message
            assert rss_kb() - before < 64_000
            assert runner.run("MATCH (a:Article {title: 'A0'}) RETURN a.title").rows == (("A0",),)


def test_a_crash_is_an_ordinary_error(runner: QueryRunner) -> None:
    with pytest.raises(QueryError, match=r"the process that ran it crashed \(signal 11\)"):
        runner.run("RETURN timestamp('99999-12-31 00:00:00')")


def test_memory_of_this_process_cannot_be_read(runner: QueryRunner, subtests: pytest.Subtests) -> None:
    """The engine takes these numbers for a pointer and a length (0.15.3)."""
    for expression in [
        "string_split({}, '@@@')", "split_part({}, '@@@', 1)", "list_sort(['b', 'a'], {})", "{}[1:40]", "{} =~ '.*'",
    ]:  # fmt: skip
        with subtests.test(expression=expression):
            secret = b"sk-ant-a-key-on-the-heap-of-this-process"
            address = id(secret) + sys.getsizeof(b"") - 1
            assert ctypes.string_at(address, len(secret)) == secret
            pointer = f"CAST('{(address << 64) + len(secret)}' AS INT128)"
            try:
                found = str(runner.run(f"RETURN {expression.format(pointer)}").rows)
            except QueryError as error:
                found = error.message
            assert "sk-ant" not in found


def test_queries_of_several_threads_get_their_own_answers(runner: QueryRunner) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda number: runner.run(f"RETURN {number}").rows, range(100))
    assert [rows[0][0] for rows in found] == list(range(100))


def test_the_database_of_a_process_that_ended_is_opened_again(folder: Path) -> None:
    with closing(QueryRunner(folder / "pack.db")) as runner:
        assert runner.run("RETURN 1").rows == ((1,),)
        runner.close()
        assert runner.run("RETURN 2").rows == ((2,),)


def test_a_database_that_cannot_be_opened_is_a_pack_error(tmp_path: Path) -> None:
    (tmp_path / "pack.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(PackError, match="Cannot open the database"):
        QueryRunner(tmp_path / "pack.db").run("RETURN 1")
    make_database(tmp_path / "busy.db")
    busy = QueryRunner(tmp_path / "busy.db")
    with (
        Graph(tmp_path / "busy.db", read_only=False),
        closing(busy),
        pytest.raises(PackError, match="open for writing"),
    ):
        busy.run("RETURN 1")
    with pytest.raises(PackError, match="No such file"):
        QueryRunner(tmp_path / "none.db")


def test_a_database_that_was_replaced_is_not_queried(tmp_path: Path) -> None:
    for name in ("pack.db", "other.db"):
        make_database(tmp_path / name)
    with closing(QueryRunner(tmp_path / "pack.db")) as runner:
        (tmp_path / "other.db").replace(tmp_path / "pack.db")
        with pytest.raises(PackError, match="was replaced since it was opened"):
            runner.run("RETURN 1")


def test_a_result_that_is_too_large_says_so(runner: QueryRunner, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("wikigr.graph_search.cypher.runner._RESULT_BYTES", 1 << 20)
    with closing(QueryRunner(folder / "pack.db")) as small:
        query = "MATCH (a:Article {title: 'A1'}) UNWIND range(1, 2000) AS n RETURN a.content"
        assert len(small.run(query, max_rows=100).rows) == 100
        with pytest.raises(QueryError, match="The result has more than 1 MiB"):
            small.run(query, max_rows=2_000)
        assert small.run("RETURN 1").rows == ((1,),)


def test_a_machine_without_a_sandbox_is_not_a_damaged_pack(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(QueryError, match="Queries cannot run on this machine") as failed:
        QueryRunner(folder / "pack.db").run("RETURN 1")
    assert "wikigr doctor" in (failed.value.hint or "")
