"""What all commands of ``wikigr graph`` have in common."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from wikigr.embeddings.embedder import Embedder

from ...conftest import Wikigr
from .conftest import BORN


def test_a_graph_without_edges(wikigr: Wikigr, tmp_path: Path, encoder: Embedder) -> None:
    from wikigr.ingest.build import BuildOptions, build_pack
    from wikigr.sources.detect import open_source

    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Alpha\nText of one.")
    (tmp_path / "notes" / "b.md").write_text("# Beta\nText of another.")
    build_pack(open_source(tmp_path / "notes"), "notes", tmp_path / "lone", encoder, BuildOptions(name="lone"))
    for command in (
        ("link", "What is Alpha?"),
        ("neighbors", "Alpha"),
        ("triplets", "What is Alpha?"),
        ("paths", "Alpha", "Beta"),
        ("cypher", "MATCH ()-[r:LINKS_TO]->() RETURN count(r)"),
        ("schema",),
    ):
        assert wikigr("graph", *command, "-p", str(tmp_path / "lone")).code == 0, command


COMMANDS = [
    ["graph", "link", "Who directed The Iron Bell, Oakdale and Clara Vos?", "--semantic", "3"],
    ["graph", "neighbors", "Kelburg"],
    ["graph", "neighbors", "Oakdale"],
    ["graph", "triplets", BORN],
    ["graph", "paths", "The Iron Bell", "Zorland"],
    ["graph", "paths", "Zorland", "--metapath", "~located_in -> ~born_in"],
    ["graph", "cypher", "MATCH (a:Article)-[:LINKS_TO]->(b) RETURN a.title, b.title ORDER BY a.title, b.title"],
    ["graph", "schema"],
    ["why", BORN, "Clara Voss", "--offline"],
]


def test_hash_seeds_do_not_change_a_byte(wikigr: Wikigr, films: Path) -> None:
    program = (
        "import sys, json\nfrom wikigr_cli.app import run\nfrom wikigr_cli.environment import Environment\n"
        "for command in json.loads(sys.argv[1]):\n    assert run(command, Environment()) == 0, command\n"
    )
    # What is printed for people is made of the same document.
    commands = [[*command, "-p", str(films), "--json"] for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(commands)],
        capture_output=True, check=True, encoding="utf-8", env={**os.environ, "PYTHONHASHSEED": "1"},
    )  # fmt: skip
    # The seed of this process is a random one.
    assert done.stdout == "".join(wikigr(*command).out for command in commands)
    assert len(done.stdout) > 10_000
