"""``wikigr graph cypher`` and ``wikigr graph schema``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...conftest import Wikigr
from .conftest import FACTS, HOSTILE, SHOWN, document


def test_cypher_as_a_table_and_as_json(wikigr: Wikigr, films: Path) -> None:
    query = (
        "MATCH (e:Entity)-[r:RELATED_TO]->() WHERE e.name = 'Clara Voss' RETURN r.relation, count(*) AS n ORDER BY n"
    )
    query += ", r.relation"
    shown = wikigr("graph", "cypher", query, "-p", str(films))
    assert shown.out == "r.relation  n\nborn_in     1\nspouse      1\n"
    found = document(wikigr, "graph", "cypher", query, "-p", str(films))
    assert list(found) == ["schema_version", "columns", "rows", "truncated", "cut", "cypher_query"]
    assert found["columns"] == ["r.relation", "n"] and found["rows"] == [["born_in", 1], ["spouse", 1]]
    assert "LIMIT" in found["cypher_query"]
    assert wikigr("graph", "cypher", "-", "-p", str(films), stdin=query).out == shown.out


def test_wide_rows_print_one_value_per_line(wikigr: Wikigr, films: Path) -> None:
    query = "MATCH (a:Article) WHERE a.title STARTS WITH 'The' RETURN a.title, a ORDER BY a.title"
    lines = wikigr("graph", "cypher", query, "-p", str(films)).out.splitlines()
    assert lines[0] == "a.title  The Glass Door" and lines[2] == "" and lines[3] == "a.title  The Iron Bell"
    assert json.loads(lines[1].removeprefix("a        "))["label"] == "Article"
    hostile = wikigr("graph", "cypher", "MATCH (e:Entity) RETURN e.name ORDER BY size(e.name)", "-p", str(films))
    assert SHOWN in hostile.out and "\x1b" not in hostile.out
    assert "…" in hostile.out and "cut" in hostile.err


def test_rows_beyond_the_limit_are_reported(wikigr: Wikigr, films: Path) -> None:
    query = "MATCH (a:Article) RETURN a.title ORDER BY a.title"
    result = wikigr("graph", "cypher", query, "-p", str(films), "--top-k", "2")
    assert len(result.out.splitlines()) == 3 and "Truncated" in result.err
    assert document(wikigr, "graph", "cypher", query, "-p", str(films), "--top-k", "2")["truncated"] is True
    empty = wikigr("graph", "cypher", "MATCH (a:Article) WHERE a.title = 'x' RETURN a.title", "-p", str(films))
    assert (empty.code, empty.out) == (0, "") and "No rows" in empty.err


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("CREATE (:Article {title: 'x'})", 2, "CREATE is not allowed"),
        ("LOAD FROM '/etc/passwd' RETURN *", 2, "not run"),
        ("MATCH (a) RETURN a; MATCH (b) RETURN b", 2, "not run"),
        ("MATCH (a:Article RETURN a", 2, "was expected"),
        ("", 2, "empty"),
        ("\ud800", 2, "not run"),
        ("MATCH (a:Film) RETURN a", 2, "graph schema"),
        ("MATCH (a:Article) RETURN a.nothing", 2, "graph schema"),
        ("RETURN 1/0", 3, "Divide by zero"),
    ],
)
def test_refused_malformed_and_failing_queries(
    wikigr: Wikigr, films: Path, query: str, code: int, message: str
) -> None:
    result = wikigr("graph", "cypher", query, "-p", str(films))
    assert (result.code, result.out) == (code, "") and message in result.err


def test_a_query_that_times_out(wikigr: Wikigr, physics_pack: Path) -> None:
    nodes = ", ".join(f"({name}:Article)" for name in "abcdefg")
    query = f"MATCH {nodes} WHERE a.title + c.title < b.title + d.title RETURN count(*)"
    result = wikigr("graph", "cypher", query, "-p", str(physics_pack), "--timeout", "0.2")
    assert result.code == 3 and "interrupted" in result.err
    for timeout in ("0", "-1", "nan", "inf"):
        assert wikigr("graph", "cypher", query, "-p", str(physics_pack), f"--timeout={timeout}").code == 2


def test_schema(wikigr: Wikigr, films: Path) -> None:
    found = document(wikigr, "graph", "schema", "-p", str(films), "--top-k", "2")
    assert list(found) == ["schema_version", "nodes", "relationships", "relations", "relations_total", "truncated"]
    assert [table["label"] for table in found["nodes"]] == ["Article", "Section", "Entity"]
    section = {item["name"]: item for item in found["nodes"][1]["properties"]}
    assert section["embedding"] == {"name": "embedding", "type": "FLOAT[384]", "key": False, "hidden": True}
    assert section["section_id"]["key"] is True
    related = found["relationships"][-1]
    assert (related["type"], related["source"], related["target"]) == ("RELATED_TO", "Entity", "Entity")
    assert related["count"] == len(FACTS) + len(HOSTILE)
    assert found["relations"] == [{"relation": "director", "count": 3}, {"relation": "born_in", "count": 2}]
    assert found["truncated"] is True and found["relations_total"] == 9
    shown = wikigr("graph", "schema", "-p", str(films)).out
    assert "(:Entity)-[:RELATED_TO]->(:Entity)  15" in shown and "embedding FLOAT[384] (do not return)" in shown
    assert max(map(len, shown.splitlines())) <= 80
