"""Errors as messages and exit codes, and the console script."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
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


def test_a_misspelled_command_gets_a_suggestion(wikigr: Wikigr) -> None:
    result = wikigr("aks", "x")
    assert result.code == 2
    assert "ask" in result.err


@pytest.mark.parametrize("words", [("what is spin",), ("spin?",)])
def test_a_question_without_a_command_is_told_the_command(wikigr: Wikigr, words: tuple[str, ...]) -> None:
    result = wikigr(*words)
    assert result.code == 2
    assert f"No such command {words[0]!r}." in result.err
    assert f"To ask a question: wikigr ask '{words[0]}'" in result.err


def test_a_wrong_choice_gets_a_suggestion(wikigr: Wikigr) -> None:
    result = wikigr("search", "x", "--format", "markdown", "--pack", "p")
    assert result.code == 2
    assert "'markdown' is not one of 'text', 'json', 'jsonl', 'md', 'csv'. Did you mean 'md'?" in result.err
    assert "Did you mean" not in wikigr("search", "x", "--format", "zzz", "--pack", "p").err


def test_a_misspelled_option_gets_a_suggestion(wikigr: Wikigr) -> None:
    assert "No such option: --pakc. Did you mean --pack?" in wikigr("ask", "x", "--pakc", "y").err
    assert "If it is a part of the name, quote" in wikigr("graph", "neighbors", "x", "--depht", "2").err
    early = wikigr("--pack", "x", "ask", "y")
    assert early.code == 2 and "--pack is an option of a command and goes after it." in early.err


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
    unknown = wikigr("help", "pack", "biuld")
    assert unknown.code == 2 and "wikigr pack has no command 'biuld'" in unknown.err and "'build'" in unknown.err
    assert wikigr("help", "ask", "more").code == 2


def test_debug_shows_the_traceback_and_keeps_the_exit_code(wikigr: Wikigr) -> None:
    result = wikigr("--debug", "ask", "x", "--pack", "nowhere")
    assert result.code == 4
    assert "Traceback" in result.err


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


def test_a_closed_stderr_does_not_stop_a_build(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\nText.")
    command = f"{sys.executable} -c '{MAIN}' pack build notes -o pack --jobs 0 2>&-"
    assert subprocess.run(command, shell=True, cwd=tmp_path, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert (tmp_path / "pack" / "manifest.json").exists()


def test_hash_seeds_do_not_change_a_byte(wikigr: Wikigr, physics_pack: Path) -> None:
    question = ("ask", "Who discovered superconductivity?", "--pack", str(physics_pack))
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *question],
        capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": "1"},
    )  # fmt: skip
    # The seed of this process is a random one.
    assert done.stdout.decode() == wikigr(*question).out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("profile", "list")])
def test_a_full_disk_behind_stdout_is_a_clear_error(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", MAIN, *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines() == ["wikigr: No space left on device"]


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("why 'What is spin?'", 2, "Missing argument 'TITLE'."),
        ("What is spin?", 2, "To ask a question: wikigr ask 'What is spin?'"),
        ("ask x --explain-limit 0", 2, "0 is not at least 1."),
        ("search x --top-k many", 2, "'many' is not a whole number."),
        ("search x --top-k 0", 2, "0 is not in the range 1 to 1000."),
        ("pack build missing -o out", 2, "missing does not exist."),
        ("pack update . --from missing", 4, "does not contain a pack"),
        ("ask --batch missing -p nowhere", 2, "Cannot read the questions in missing: No such file or directory."),
        ("eval validate missing", 2, "missing does not exist."),
        ("rerank missing -p .", 2, "Cannot read the results from missing"),
        ("replay missing", 2, "Cannot read the receipt missing"),
        ("profile validate missing.yaml", 2, "There is no profile file missing.yaml."),
        ("profile validate tab.yaml", 2, "a tab, but YAML is indented with blanks in line 2, column 1."),
        ("profile validate list.yaml", 2, "a list that is not closed with ] in line 2, column 2 (it begins in line 1"),
    ],
)
def test_wrong_use_has_a_code_and_plain_words(wikigr: Wikigr, tmp_path: Path, line: str, code: int, says: str) -> None:
    (tmp_path / "tab.yaml").write_text("extends: fast\n\tretrieval: 3\n")
    (tmp_path / "list.yaml").write_text("a: [1\nb: 2\n")
    result = wikigr(*shlex.split(line))
    assert (result.code, result.out) == (code, "") and says in result.err and "Traceback" not in result.err


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
