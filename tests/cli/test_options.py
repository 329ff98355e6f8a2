"""What Tab gives, in a real shell that runs the script wikigr makes for it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from wikigr_cli.app import run
from wikigr_cli.environment import Environment

from .conftest import MAIN

HEAVY = set("numpy onnxruntime real_ladybug ladybug tantivy pydantic yaml rich httpx2 cryptography zstandard".split())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of a user with two installed packs, a profile of their own, and `wikigr` on their path."""
    for name in ("physics", "philosophy", "phantom"):
        folder = tmp_path / "data" / "wikigr" / "packs" / ".versions" / name / "1.0.0-abc"
        folder.mkdir(parents=True)
        if name != "phantom":
            (tmp_path / "data" / "wikigr" / "packs" / name).symlink_to(f".versions/{name}/1.0.0-abc")
    profiles = tmp_path / "config" / "wikigr" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "enhanced-mine.yaml").write_text("extends: enhanced\n")
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "bin" / "wikigr"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(MAIN)} "$@"\n')
    program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WIKIGR_")}
    return {
        **kept,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


_BASH = """
eval "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
$(complete -p wikigr | sed 's/.*-F \\([^ ]*\\).*/\\1/') wikigr
printf '%s\\n' "${COMPREPLY[@]}"
"""


@cache
def script() -> str:
    """The script that wikigr makes for bash."""
    variables = {**os.environ, "_WIKIGR_COMPLETE": "source_bash"}
    done = subprocess.run([sys.executable, "-c", MAIN], env=variables, capture_output=True, text=True, check=True)
    return done.stdout


def offered(variables: dict[str, str], *words: str) -> list[str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", _BASH, "bash", "wikigr", *words],
        env={**variables, "SCRIPT": script()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.split()


# The last word of each is completed.
WORDS = {
    "ask --pack ph": ["philosophy", "physics"],
    "search what? -p phy": ["physics"],
    "graph schema --pack phil": ["philosophy"],
    "pack info ph": ["philosophy", "physics"],
    "pack info --pack phi": ["philosophy"],
    "pagerank build -p phy": ["physics"],
    "ask what is spin -p phy": ["physics"],
    "graph cypher --lim": [],
    "graph cypher x --ver": ["--verbose"],
    "pack remove phi": ["philosophy"],
    "pack export phi": ["philosophy"],
    "pack verify phi": ["philosophy"],
    "pack update phi": ["philosophy"],
    "pack diff phi": ["philosophy"],
    "pack diff philosophy phy": ["physics"],
    "pack remove .v": [],
    "ask --profile enh": ["enhanced", "enhanced-mine"],
    "profile show ba": ["baseline"],
    "pack ins": ["install"],
    # Nothing is offered here, so that bash completes files.
    "ask --pack ./ph": [],
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_names(home: dict[str, str]) -> None:
    for words in ("ask what is spin -p phy", "ask --pack ./ph"):
        assert offered(home, *words.split()) == WORDS[words]


@pytest.fixture
def complete(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], list[str]]:
    """Return a function that completes the last of some words; the script for bash starts wikigr with its variables."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, home[name])
    monkeypatch.delenv("WIKIGR_PACK", raising=False)
    monkeypatch.setenv("_WIKIGR_COMPLETE", "complete_bash")

    def found(words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", "\n".join(["wikigr", *words.split()]))
        monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
        with pytest.raises(SystemExit):
            run([], Environment())
        return capsys.readouterr().out.split()

    return found


def test_names_are_offered(complete: Callable[[str], list[str]]) -> None:
    assert {words: complete(words) for words in WORDS} == WORDS


def test_a_folder_that_cannot_be_read_is_no_error(complete: Callable[[str], list[str]], tmp_path: Path) -> None:
    packs = tmp_path / "data" / "wikigr" / "packs"
    shutil.rmtree(packs)
    assert complete("ask --pack p") == []
    packs.symlink_to("packs")
    assert complete("ask --pack p") == []
    shutil.rmtree(tmp_path / "config")
    (tmp_path / "config").write_text("")
    assert complete("ask --profile bas") == ["baseline"]


def test_the_words_for_zsh_are_names(home: dict[str, str]) -> None:
    variables = {**home, "_WIKIGR_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "wikigr ask --pack ph"}
    done = subprocess.run([sys.executable, "-c", MAIN], env=variables, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("""_arguments '*: :(("philosophy"\n"physics"))'""", "")


def test_nothing_heavy_is_imported_for_a_name(home: dict[str, str]) -> None:
    program = """
import os, sys
from contextlib import suppress
from wikigr_cli.entry import main
for words in ("wikigr ask --pack ph", "wikigr ask --profile en"):
    os.environ["COMP_WORDS"] = words.replace(" ", chr(10))
    with suppress(SystemExit):
        main()
print(*sys.modules, file=sys.stderr, flush=True)
"""
    variables = {**home, "_WIKIGR_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["philosophy", "physics", "enhanced", "enhanced-mine"]
    assert "wikigr_cli" in done.stderr.split()
    assert not set(done.stderr.split()) & HEAVY
