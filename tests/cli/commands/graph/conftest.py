"""A small graph of films with links, mentions, facts and hostile names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.tampering import accept_changes

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph

from ...conftest import Wikigr

ESCAPE = "Evil \x1b[31mTower\u202e"


SHOWN = "Evil �[31mTower�"
BORN = "Where was the director of The Iron Bell born?"
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
    from wikigr.ingest.build import BuildOptions, build_pack
    from wikigr.sources.detect import open_source

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
