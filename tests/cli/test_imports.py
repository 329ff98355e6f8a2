"""Nothing heavy is imported before it is used: each command line runs in a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from wikigr.graph.engine import import_engine

HEAVY = set(
    """numpy onnxruntime onnx tokenizers torch sentence_transformers real_ladybug ladybug tantivy pyarrow scipy
    anthropic openai xllamacpp
    mwxml mwparserfromhell libzim pyoxigraph lxml selectolax markdown_it pydantic yaml rich nupunkt rapidfuzz
    ahocorasick_rs prompt_toolkit mcp mcp_types starlette uvicorn wikigr.pack.joined""".split()
)
PROGRAM = """
import json, sys
from wikigr_cli.app import run
from wikigr_cli.environment import Environment
for command in json.loads(sys.argv[1]):
    assert run(command, Environment()) == 0, command
sys.stderr.write("MODULES " + " ".join(sys.modules) + "\\n")
"""


def imported(*commands: list[str]) -> set[str]:
    """Return which of ``HEAVY`` a process that runs ``commands`` imports."""
    program = [sys.executable, "-c", PROGRAM, json.dumps(commands)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    line = next(line for line in done.stderr.splitlines() if line.startswith("MODULES "))
    return set(line.split()[1:]) & HEAVY


def test_version_and_help_need_nothing_heavy() -> None:
    assert imported(["--version"], ["--help"], ["serve", "--help"], ["mcp", "--help"], ["version"]) == set()


# What a question to one pack may import: neither parsers nor servers, nor what joins packs.
FOR_A_QUESTION = {"numpy", "onnxruntime", "tokenizers", import_engine().__name__, "tantivy", "nupunkt"}


def test_a_lexical_search_needs_no_encoder(physics_pack: Path) -> None:
    used = imported(["search", "spin", "--mode", "lexical", "--pack", str(physics_pack), "--json"])
    assert used <= FOR_A_QUESTION - {"onnxruntime", "tokenizers"}


def test_a_command_imports_no_other_command() -> None:
    program = """
import os, sys
from wikigr_cli import entry
sys.argv = ["wikigr", "profile", "show", "fast"]
leave = os._exit
def report(status):
    print("COMMANDS", *sorted(m.partition(".")[2] for m in sys.modules if m.startswith("wikigr_cli.")), flush=True)
    leave(status)
os._exit = report
entry.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = next(line for line in done.stdout.splitlines() if line.startswith("COMMANDS ")).split()[1:]
    assert [name for name in loaded if name.startswith("commands.")] == ["commands.profile"]


def test_the_console_script_imports_what_an_answer_needs(physics_pack: Path) -> None:
    program = """
import os, sys
from wikigr_cli import entry
sys.argv = ["wikigr", "ask", "What is spin?", "--offline", "--json", "--pack", sys.argv[1]]
leave = os._exit
def report(status):
    print(*sys.modules, flush=True)
    leave(status)
os._exit = report
entry.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(physics_pack)], capture_output=True, text=True, check=True
    )
    used = set(done.stdout.splitlines()[-1].split())
    assert "wikigr_cli.app" in used
    assert used & (HEAVY | {"asyncio"}) <= FOR_A_QUESTION
