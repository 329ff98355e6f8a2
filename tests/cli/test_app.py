"""Errors as messages and exit codes, and the console script."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr import __version__

from .conftest import MAIN, Wikigr


def test_version_names_the_commit_of_a_checkout(wikigr: Wikigr, capsys: pytest.CaptureFixture[str]) -> None:
    assert wikigr("--version").code == 0
    assert re.fullmatch(rf"wikigr {re.escape(__version__)}( \([0-9a-f]{{12}}\))?\n", capsys.readouterr().out)


def test_a_misspelled_command_gets_a_suggestion(wikigr: Wikigr) -> None:
    result = wikigr("aks", "x")
    assert result.code == 2
    assert "ask" in result.err


def test_debug_shows_the_traceback_and_keeps_the_exit_code(wikigr: Wikigr) -> None:
    result = wikigr("--debug", "ask", "x", "--pack", "nowhere")
    assert result.code == 4
    assert "Traceback" in result.err


def test_a_bug_does_not_exit_like_a_failed_gate(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise LookupError("no such thing")

    monkeypatch.setattr("wikigr.profiles.names.profile_names", broken)
    result = wikigr("profile", "list")
    assert result.code == 3
    assert "a bug: LookupError: no such thing" in result.err
    assert "Traceback" not in result.err
    assert "in broken" in wikigr("--debug", "profile", "list").err


def test_too_little_memory_is_not_a_bug(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("wikigr.profiles.names.profile_names", large)
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
    command = f"{sys.executable} -c '{MAIN}' pack build notes -o pack 2>&-"
    assert subprocess.run(command, shell=True, cwd=tmp_path, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert (tmp_path / "pack" / "manifest.json").exists()


def test_hash_seeds_do_not_change_a_byte(physics_pack: Path) -> None:
    outputs = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "ask", "Who discovered superconductivity?", "--pack", str(physics_pack)],
            capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        outputs.add(done.stdout)
    assert len(outputs) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("profile", "list")])
def test_a_full_disk_behind_stdout_is_a_clear_error(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", MAIN, *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines() == ["wikigr: No space left on device"]
