"""Streams: encodings, colors and widths."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr_cli.app import run
from wikigr_cli.environment import Environment

from .conftest import MAIN, Wikigr


def in_encoding(encoding: str, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command line in-process with streams as a locale of that ``encoding`` opens them."""
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding, errors="surrogateescape")
    out, err = io.BytesIO(), io.BytesIO()
    streams = io.TextIOWrapper(out, encoding), io.TextIOWrapper(err, encoding)
    code = run(arguments, Environment(given, *streams))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("encoding", "command"),
    [
        ("ascii", ("ask", "Who wrote What Is Life?", "--offline")),
        ("latin-1", ("search", "wave equation")),
        ("ascii", ("search", "wave equation")),
        ("latin-1", ("graph", "neighbors", "Wave function")),
        ("ascii", ("eval", "report")),
    ],
)
def test_stdout_without_utf8_gets_the_whole_result(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, encoding: str, command: tuple[str, ...]
) -> None:
    if command[0] == "eval":
        gold = {"id": "ö", "question": "Who wrote 🐈?", "answers": ["x"], "gold": [{"title": "Schrödinger's 🐈"}]}
        (tmp_path / "q.jsonl").write_text(json.dumps(gold))
        made = ("--pack", str(physics_pack), "--questions", "q.jsonl", "--profile", "baseline", "-o", "run")
        assert wikigr("eval", "run", *made).code == 0
        arguments, as_json = (*command, "run", "--format", "junit"), (*command, "run", "--format", "json")
    else:
        arguments = (*command, "--pack", str(physics_pack))
        as_json = (*arguments, "--json")
    whole = wikigr(*arguments)
    assert not whole.out.isascii()
    code, out, err = in_encoding(encoding, *arguments)
    assert (code, err) == (0, b"")
    assert out == whole.out.encode(encoding, "backslashreplace")
    code, out, err = in_encoding(encoding, *as_json)
    assert (code, err, out.isascii()) == (0, b"", True)
    assert {**json.loads(out), "timings": 0} == {**json.loads(wikigr(*as_json).out), "timings": 0}


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_stdin_is_utf8_in_every_locale(wikigr: Wikigr, physics_pack: Path, encoding: str) -> None:
    pack = ("--pack", str(physics_pack))
    batch = ("search", "--batch", "-", "--mode", "lexical", *pack)
    code, out, _ = in_encoding(encoding, *batch, stdin="Who was Schrödinger 🐈?\n".encode())
    document = json.loads(out)
    assert (code, document["question"]) == (0, "Who was Schrödinger 🐈?")
    assert document["results"]
    code, out, _ = in_encoding(encoding, *batch, stdin=b"\xff\xfe bad utf\n")
    assert (code, json.loads(out)["error"]) == (2, "The line is not UTF-8 text.")
    query = b"MATCH (a:Article) RETURN '\xff' LIMIT 1"
    code, out, err = in_encoding(encoding, "graph", "cypher", "-", *pack, stdin=query)
    assert (code, out) == (2, b"")
    assert b"standard input" in err and b"invalid start byte" in err


def test_a_process_in_a_locale_without_utf8(physics_pack: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "search", "Wave", "--mode", "lexical", "--pack", str(physics_pack)],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u203a" in done.stdout
