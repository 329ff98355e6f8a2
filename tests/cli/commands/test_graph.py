"""``wikigr graph`` on a small graph of films with links, mentions, facts and hostile names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.tampering import accept_changes

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.sources.detect import open_source

from ..conftest import Wikigr

ESCAPE = "Evil \x1b[31mTower\u202e"
SHOWN = "Evil �[31mTower�"
BORN = "Where was the director of The Iron Bell born?"
TWO_HOPS = "In which town was the critic born who asked whether the Moon is there when nobody looks?"
MEGABYTE = "x" * 1_000_000
FACTS = [
    ("The Iron Bell", "director", "Clara Voss"),
    ("The Iron Bell", "genre", "drama"),
    ("The Iron Bell", "releaseYear", "1961"),
    ("The Glass Door", "director", "Clara Voss"),
    ("Clara Voss", "spouse", "Emil Roth"),
    ("Clara Voss", "born_in", "Kelburg"),
    ("Emil Roth", "born_in", "Ostia"),
    ("Kelburg", "located_in", "Zorland"),
    ("Oakdale (city)", "located_in", "Zorland"),
    ("Oakdale (film)", "director", "Emil Roth"),
    ("The Glass Door", "sequel", "Oakdale (film)"),
    ("Halt", "genre", "drama"),
    ("Halt (band)", "sequel", "jazz"),
]
# What no build would let through, but a pack of someone else's may hold.
HOSTILE = [("Kelburg", ESCAPE, ESCAPE), ("Kelburg", "motto", MEGABYTE)]


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """A pack of triples. Tests only read it."""
    folder = tmp_path_factory.mktemp("graph")
    source = folder / "films.tsv"
    source.write_text("".join("\t".join(fact) + "\n" for fact in FACTS), encoding="utf-8")
    build_pack(open_source(source), str(source), folder / "films", encoder, BuildOptions(name="films"))
    with Graph(folder / "films" / "pack.db", read_only=False) as graph:
        for number, (subject, relation, value) in enumerate(HOSTILE):
            graph.execute("CREATE (:Entity {entity_id: $id, name: $name})", {"id": f"hostile {number}", "name": value})
            graph.execute(
                "MATCH (a:Entity {entity_id: $a}), (b:Entity {entity_id: $b}) "
                "CREATE (a)-[:RELATED_TO {relation: $relation, section_id: $section}]->(b)",
                {"a": subject.lower(), "b": f"hostile {number}", "relation": relation, "section": f"{ESCAPE}#0"},
            )
    accept_changes(folder / "films")
    return folder / "films"


def document(wikigr: Wikigr, *arguments: str) -> dict[str, Any]:
    result = wikigr(*arguments, "--json")
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    assert found["schema_version"] == 1
    return found


def article(title: str) -> dict[str, str]:
    return {"kind": "article", "key": title, "name": title}


def entity(name: str) -> dict[str, str]:
    return {"kind": "entity", "key": name.casefold(), "name": name}


def test_a_graph_without_edges(wikigr: Wikigr, tmp_path: Path, encoder: Embedder) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Alpha\nText of one.")
    (tmp_path / "notes" / "b.md").write_text("# Beta\nText of another.")
    build_pack(open_source(tmp_path / "notes"), "notes", tmp_path / "lone", encoder, BuildOptions(name="lone"))
    for command in (
        ("neighbors", "Alpha"),
        ("paths", "Alpha", "Beta"),
        ("cypher", "MATCH ()-[r:LINKS_TO]->() RETURN count(r)"),
        ("schema",),
    ):
        assert wikigr("graph", *command, "-p", str(tmp_path / "lone")).code == 0, command


COMMANDS = [
    ["graph", "neighbors", "Kelburg"],
    ["graph", "neighbors", "Oakdale"],
    ["graph", "paths", "The Iron Bell", "Zorland"],
    ["graph", "paths", "Zorland", "--metapath", "~located_in -> ~born_in"],
    ["graph", "cypher", "MATCH (a:Article)-[:LINKS_TO]->(b) RETURN a.title, b.title ORDER BY a.title, b.title"],
    ["graph", "schema"],
    ["why", BORN, "Clara Voss", "--offline"],
]


def test_hash_seeds_do_not_change_a_byte(wikigr: Wikigr, films: Path, physics_pack: Path) -> None:
    program = (
        "import sys, json\nfrom wikigr_cli.app import run\nfrom wikigr_cli.environment import Environment\n"
        "for command in json.loads(sys.argv[1]):\n    assert run(command, Environment()) == 0, command\n"
    )
    # What is printed for people is made of the same document.
    commands = [[*command, "-p", str(films), "--json"] for command in COMMANDS]
    commands.append(["ask", TWO_HOPS, "-p", str(physics_pack), "--offline"])
    commands += [["ask", BORN, "-p", str(films), "--offline", *more] for more in ([], ["--profile", "multi-strategy"])]
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(commands)],
        capture_output=True, check=True, encoding="utf-8", env={**os.environ, "PYTHONHASHSEED": "1"},
    )  # fmt: skip
    # The seed of this process is a random one.
    assert done.stdout == "".join(wikigr(*command).out for command in commands)
    assert len(done.stdout) > 10_000


def test_neighbors(wikigr: Wikigr, films: Path) -> None:
    found = document(wikigr, "graph", "neighbors", "the_iron_bell", "-p", str(films))
    assert list(found) == ["schema_version", "node", "edges", "truncated", "warnings"]
    assert found["node"] == article("The Iron Bell")
    edges = {edge["relation"]: edge for edge in found["edges"]}
    assert list(edges["director"]) == ["source", "relation", "target", "section_id"]
    assert edges["director"]["section_id"] == "The Iron Bell#0"
    assert edges["releaseYear"]["target"] == entity("1961")
    assert edges["LINKS_TO"]["section_id"] is None


def test_neighbors_by_relation_and_direction(wikigr: Wikigr, films: Path) -> None:
    lines = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "Director").out.splitlines()
    assert lines == [
        "The Glass Door -> director -> Clara Voss  [The Glass Door#0]",
        "The Iron Bell -> director -> Clara Voss  [The Iron Bell#0]",
    ]
    none = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "director", "--direction", "out")
    assert (none.code, none.out) == (0, "") and "has no such edge" in none.err
    cut = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "director", "--top-k", "1")
    assert len(cut.out.splitlines()) == 1 and "Truncated" in cut.err
    unknown = wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "directr")
    assert unknown.code == 2 and "director" in unknown.err
    assert wikigr("graph", "neighbors", "Clara Voss", "-p", str(films), "--relation", "a -> b").code == 2


def test_an_unknown_name_gets_suggestions(wikigr: Wikigr, films: Path) -> None:
    result = wikigr("graph", "neighbors", "Clara Vos", "-p", str(films))
    assert result.code == 0 and "using 'Clara Voss'" in result.err
    result = wikigr("graph", "neighbors", "Voss", "-p", str(films))
    assert result.code == 2 and "'Clara Voss'" in result.err
    for name in ("zzzzzzzz", "", "\ud800", "a" * 100_000):
        result = wikigr("graph", "neighbors", name, "-p", str(films))
        assert result.code == 2 and "Nothing in the pack is called" in result.err
        assert len(result.err) < 1000 and "\x1b" not in result.err


def test_names_from_a_pack_do_not_drive_the_terminal_or_fill_it(wikigr: Wikigr, films: Path) -> None:
    for command in (("neighbors", "Kelburg"), ("schema",)):
        result = wikigr("graph", *command, "-p", str(films))
        assert result.code == 0
        assert "\x1b" not in result.out + result.err and "\u202e" not in result.out + result.err
        assert all(len(line) < 700 for line in result.out.splitlines())
    edges = document(wikigr, "graph", "neighbors", "Kelburg", "-p", str(films), "--relation", "motto")["edges"]
    assert edges[0]["target"]["name"] == MEGABYTE


def test_shortest_paths(wikigr: Wikigr, films: Path) -> None:
    found = document(wikigr, "graph", "paths", "The Iron Bell", "Zorland", "-p", str(films))
    assert list(found) == ["schema_version", "from", "to", "metapath", "paths", "truncated", "warnings"]
    (path,) = found["paths"]
    assert list(path) == ["text", "nodes", "edges"]
    assert path["text"] == "The Iron Bell -> director -> Clara Voss -> born_in -> Kelburg -> located_in -> Zorland"
    assert path["nodes"][0] == article("The Iron Bell") and len(path["edges"]) == 3
    assert found["metapath"] is None and found["truncated"] is False
    assert wikigr("graph", "paths", "The Iron Bell", "Zorland", "-p", str(films)).out == path["text"] + "\n"
    back = wikigr("graph", "paths", "Clara Voss", "The Iron Bell", "-p", str(films))
    assert back.out == "Clara Voss -> ~director -> The Iron Bell\n"
    none = wikigr("graph", "paths", "The Iron Bell", "Zorland", "-p", str(films), "--max-hops", "1")
    assert (none.code, none.out) == (0, "") and "No path" in none.err


def test_a_metapath(wikigr: Wikigr, films: Path) -> None:
    ahead = document(wikigr, "graph", "paths", "The Iron Bell", "-p", str(films), "--metapath", "director->Born in")
    assert [path["text"] for path in ahead["paths"]] == [
        "The Iron Bell -> director -> Clara Voss -> born_in -> Kelburg"
    ]
    assert (ahead["metapath"], ahead["to"]) == ("director -> born_in", None)
    to = ("graph", "paths", "The Iron Bell", "The Glass Door", "-p", str(films), "--metapath", "director -> ~director")
    assert wikigr(*to).out == "The Iron Bell -> director -> Clara Voss -> ~director -> The Glass Door\n"
    cut = wikigr("graph", "paths", "Zorland", "-p", str(films), "--metapath", "~located_in", "--top-k", "1")
    assert len(cut.out.splitlines()) == 1 and "Truncated" in cut.err


def test_no_path_when_the_search_stops_at_its_limit(
    wikigr: Wikigr, films: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = ("graph", "paths", "The Iron Bell", "The Glass Door", "-p", str(films), "--metapath", "director -> ~director")
    nowhere = wikigr(*to[:-1], "director -> director")
    assert nowhere.err == "No path from The Iron Bell to The Glass Door along director -> director.\n"
    monkeypatch.setattr("wikigr.graph_search.explore.metapath._MAX_TRAVERSED", 0)
    stopped = wikigr(*to)
    assert (stopped.code, stopped.out) == (0, "")
    assert "along director -> ~director was found before the search stopped at its limit." in stopped.err
    assert "Truncated: a shorter metapath can be searched completely." in stopped.err


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
    # Each of these characters takes two columns.
    wide = wikigr("graph", "cypher", f"RETURN '{'漢' * 30}' AS a, '{'b' * 30}' AS b", "-p", str(films))
    assert wide.out.splitlines() == [f"a  {'漢' * 30}", f"b  {'b' * 30}"]
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


def test_a_query_that_times_out(wikigr: Wikigr, physics_pack: Path) -> None:
    nodes = ", ".join(f"({name}:Article)" for name in "abcdefg")
    query = f"MATCH {nodes} WHERE a.title + c.title < b.title + d.title RETURN count(*)"
    result = wikigr("graph", "cypher", query, "-p", str(physics_pack), "--timeout", "0.2")
    assert result.code == 3 and "interrupted" in result.err


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
    assert re.search(r"\(:Entity\)-\[:RELATED_TO \{.*\}\]->\(:Entity\) x 15\n", shown)
    assert "Never return: Section.embedding\n" in shown and "'director' x 3, 'born_in' x 2" in shown
