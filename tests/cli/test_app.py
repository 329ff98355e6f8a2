"""Errors as messages and exit codes, and the console script."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from wikigr import __version__
from wikigr.errors import WikigrError
from wikigr.version import commit
from wikigr_cli.exit_codes import ExitStatus

from .conftest import MAIN, Wikigr


def test_version_names_the_commit_of_a_checkout(wikigr: Wikigr, capsys: pytest.CaptureFixture[str]) -> None:
    assert wikigr("--version").code == 0
    assert re.fullmatch(rf"wikigr {re.escape(__version__)}( \([0-9a-f]{{12}}\))?\n", capsys.readouterr().out)


@pytest.mark.parametrize("words", [(), ("pack",), ("graph",), ("-q",), ("eval", "-v")])
def test_without_a_command_the_help_is_printed(wikigr: Wikigr, words: tuple[str, ...]) -> None:
    result = wikigr(*words)
    assert (result.code, result.err) == (0, "")
    group = [word for word in words if not word.startswith("-")]
    assert result.out == wikigr("help", *group).out
    assert result.out.startswith(f"Usage: wikigr {''.join(f'{word} ' for word in group)}[OPTIONS] COMMAND")


def test_help_and_version_are_commands_too(wikigr: Wikigr, capsys: pytest.CaptureFixture[str]) -> None:
    assert wikigr("pack", "build", "--help").code == 0
    assert capsys.readouterr().out == wikigr("help", "pack", "build").out
    assert wikigr("--version").code == 0
    assert capsys.readouterr().out == wikigr("version").out
    document = json.loads(wikigr("version", "--json").out)
    assert document["version"] == __version__ and (document["commit"] or "").startswith(commit() or "")


def test_a_bug_does_not_exit_like_a_failed_gate(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise LookupError("no such thing")

    monkeypatch.setattr("wikigr.pipeline.profile.profile_names", broken)
    result = wikigr("profile", "list")
    assert result.code == 3
    assert "a bug: LookupError: no such thing" in result.err
    assert "Traceback" not in result.err
    assert "in broken" in wikigr("--debug", "profile", "list").err


def test_too_little_memory_is_not_a_bug(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("wikigr.pipeline.profile.profile_names", large)
    result = wikigr("profile", "list")
    assert result.code == 3
    assert "not enough memory" in result.err
    assert "ulimit -v" in result.err
    assert "bug" not in result.err


def test_a_closed_pipe_is_not_an_error(physics_pack: Path) -> None:
    """The reader leaves after one line of 400; the pipe holds far less than the rest."""
    lines = "spin\n" * 400
    writer = subprocess.Popen(
        [sys.executable, "-c", MAIN, "search", "--batch", "-", "--mode", "lexical", "--pack", str(physics_pack)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert writer.stdin and writer.stdout and writer.stderr
    writer.stdin.write(lines)
    writer.stdin.close()
    writer.stdout.readline()
    writer.stdout.close()
    assert "Traceback" not in (complaints := writer.stderr.read()) and "BrokenPipe" not in complaints
    assert writer.wait() == 0


def test_the_help_into_a_closed_pipe_is_not_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", MAIN, "--help"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "line", ["--version", "ask --help", "profile list --json", "search spin -p PACK --mode lexical"]
)
def test_a_closed_stdout_is_an_error(physics_pack: Path, line: str) -> None:
    command = f"{sys.executable} -c {shlex.quote(MAIN)} {line.replace('PACK', str(physics_pack))} >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "wikigr: Standard output is closed\n")


@pytest.mark.parametrize("value", ["9" * 40, "-1", "soon", ""])
def test_a_variable_that_wikigr_does_not_read_may_hold_anything(tmp_path: Path, value: str) -> None:
    (tmp_path / "note.md").write_text("# A\nText.")
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "pack", "build", "note.md", "-o", "pack", "--jobs", "0"],
        cwd=tmp_path, env={**os.environ, "SOURCE_DATE_EPOCH": value}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# As the console script, and without what no build needs.
BUILD = f"""
import sys
sys.modules["anthropic"] = None
{MAIN}
"""


def test_another_process_without_stderr_builds_the_same_bytes(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / "notes" / f"{name}.md").write_text(f"---\ntags: [x, y]\n---\n# {name}\nText, see [[{other}]].")
    command = f"{sys.executable} -c {shlex.quote(BUILD)} pack build notes -o pack --jobs 0 2>&-"
    seed = {**os.environ, "PYTHONHASHSEED": "1"}
    done = subprocess.run(command, shell=True, cwd=tmp_path, stdout=subprocess.DEVNULL, env=seed, check=False)
    assert done.returncode == 0
    # The seed of this process is a random one.
    assert wikigr("pack", "build", "notes", "-o", "other/pack").code == 0
    written = [tmp_path / folder / "pack" for folder in ("", "other")]
    for name in ("graph_index.npz", "pagerank_cache.json"):
        assert len({(pack / name).read_bytes() for pack in written}) == 1
    assert len({json.loads((pack / "manifest.json").read_text())["digest"] for pack in written}) == 1
    with zipfile.ZipFile(written[0] / "graph_index.npz") as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout_is_a_clear_error() -> None:
    command = [sys.executable, "-c", MAIN, "--help"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines() == ["wikigr: No space left on device"]


def test_an_interrupted_import_is_an_interruption(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in C that is interrupted while it is imported raises an ImportError instead."""

    def fail(*arguments: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError("initialization failed") from error

    monkeypatch.setattr("wikigr_cli.app.root_command", fail)
    assert wikigr("version").code == ExitStatus.INTERRUPTED


def test_an_error_whose_causes_lead_back_to_it_is_reported(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        first, second = WikigrError("The first."), WikigrError("The second.")
        first.__cause__, second.__cause__ = second, first
        raise first

    monkeypatch.setattr("wikigr_cli.app.root_command", fail)
    result = wikigr("version")
    assert (result.code, result.out) == (ExitStatus.RUNTIME, "")
    assert "The first." in result.err
