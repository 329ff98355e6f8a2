"""Nothing heavy is imported before it is used: each command line runs in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wikigr.graph.engine_choice import import_engine

HEAVY = set(
    """numpy onnxruntime onnx tokenizers torch sentence_transformers real_ladybug ladybug tantivy pyarrow scipy
    anthropic openai xllamacpp
    mwxml mwparserfromhell libzim pyoxigraph lxml selectolax markdown_it pydantic yaml rich nupunkt rapidfuzz
    ahocorasick_rs prompt_toolkit""".split()
)
PROGRAM = """
import sys
from wikigr_cli.app import run
from wikigr_cli.environment import Environment
code = run(sys.argv[1:], Environment())
sys.stderr.write("MODULES " + " ".join(m for m in sys.modules if "." not in m) + "\\n")
sys.exit(code)
"""


def imported(*arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True)
    line = next(line for line in done.stderr.splitlines() if line.startswith("MODULES "))
    return set(line.split()[1:]) & HEAVY


def test_version_needs_nothing_heavy() -> None:
    assert imported("--version") == set()


def test_help_needs_nothing_heavy() -> None:
    assert imported("--help") == set()


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_needs_neither_parsers_nor_training_libraries(command: str, physics_pack: Path) -> None:
    used = imported(command, "What is spin?", "--pack", str(physics_pack), "--json")
    assert used <= {"numpy", "onnxruntime", "tokenizers", import_engine().__name__, "tantivy", "nupunkt"}


def test_a_question_to_one_pack_needs_nothing_of_several(physics_pack: Path) -> None:
    program = """
import sys
from wikigr_cli.app import run
from wikigr_cli.environment import Environment
code = run(sys.argv[1:], Environment())
sys.exit(code or any(name.startswith("wikigr.joined") for name in sys.modules))
"""
    for command in (["ask", "--offline"], ["search"]):
        arguments = [*command, "What is spin?", "--pack", str(physics_pack)]
        subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, check=True)


def test_a_lexical_search_needs_no_encoder(physics_pack: Path) -> None:
    used = imported("search", "spin", "--mode", "lexical", "--pack", str(physics_pack), "--json")
    assert not used & {"onnxruntime", "tokenizers"}


def test_a_command_imports_no_other_command() -> None:
    program = """
import os, sys
from wikigr_cli import app
sys.argv = ["wikigr", "profile", "show", "fast"]
leave = os._exit
def report(status):
    print("COMMANDS", *sorted(m.partition(".")[2] for m in sys.modules if m.startswith("wikigr_cli.")), flush=True)
    leave(status)
os._exit = report
app.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = next(line for line in done.stdout.splitlines() if line.startswith("COMMANDS ")).split()[1:]
    assert [name for name in loaded if name.startswith("commands.")] == ["commands.profile"]


def test_the_console_script_asks_without_asyncio(physics_pack: Path) -> None:
    program = """
import os, sys
from wikigr_cli import app
sys.argv = ["wikigr", "ask", "What is spin?", "--offline", "--json", "--pack", sys.argv[1]]
leave = os._exit
def report(status):
    print("ASYNC", "asyncio" in sys.modules, flush=True)
    leave(status)
os._exit = report
app.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(physics_pack)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "ASYNC False"
