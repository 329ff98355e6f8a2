from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr import __version__
from wikigr_cli.app import run
from wikigr_cli.environment import Environment

from .conftest import Wikigr

MAIN = "from wikigr_cli.app import main; main()"


def test_version_names_the_commit_of_a_checkout(wikigr: Wikigr, capsys: pytest.CaptureFixture[str]) -> None:
    assert wikigr("--version").code == 0
    assert re.fullmatch(rf"wikigr {re.escape(__version__)}( \([0-9a-f]{{12}}\))?\n", capsys.readouterr().out)


def test_a_misspelled_command_gets_a_suggestion(wikigr: Wikigr) -> None:
    result = wikigr("aks", "x")
    assert result.code == 2
    assert "ask" in result.err


def test_a_broken_settings_file_is_wrong_configuration(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "wikigr.yaml").write_text("ask: [")
    result = wikigr("ask", "x")
    assert result.code == 2
    assert "wikigr.yaml" in result.err and "line 1" in result.err
    (tmp_path / "wikigr.yaml").write_text("- ask")
    assert "mapping" in wikigr("ask", "x").err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ask: 3", "mapping"),
        ("ask: {pakc: x}", "Did you mean 'pack'?"),
        ("aks: {pack: x}", "Did you mean 'ask'?"),
        ("pack: {build: 5}", "mapping"),
        ("1: x", "no command or option 1"),
        ("ask: {pack: [a]}", "single value"),
    ],
)
def test_mistakes_in_a_settings_file_are_named(wikigr: Wikigr, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "wikigr.yaml").write_text(text)
    result = wikigr("ask", "x")
    assert result.code == 2
    assert message in result.err


def test_debug_shows_the_traceback_and_keeps_the_exit_code(wikigr: Wikigr) -> None:
    result = wikigr("--debug", "ask", "x", "--pack", "nowhere")
    assert result.code == 4
    assert "Traceback" in result.err


def test_a_bug_is_no_failed_gate(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise LookupError("no such thing")

    monkeypatch.setattr("wikigr.profiles.files.profile_names", broken)
    result = wikigr("profile", "list")
    assert result.code == 3
    assert "a bug: LookupError: no such thing" in result.err
    assert "Traceback" not in result.err
    assert "in broken" in wikigr("--debug", "profile", "list").err


def test_config_show_says_where_each_value_comes_from(
    wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wikigr.yaml").write_text("search:\n  top-k: 7\n")
    (tmp_path / "config" / "wikigr").mkdir(parents=True)
    (tmp_path / "config" / "wikigr" / "config.yaml").write_text("search:\n  top-k: 9\n  mode: dense\n")
    monkeypatch.setenv("WIKIGR_PACK", "here")
    lines = wikigr("config", "show", "--origin").out.splitlines()
    found = {line.split(" = ")[0]: line for line in lines}
    assert "7" in found["search --top-k"] and "wikigr.yaml" in found["search --top-k"]
    assert "dense" in found["search --mode"] and "config.yaml" in found["search --mode"]
    assert "here" in found["search --pack"] and "WIKIGR_PACK" in found["search --pack"]
    assert "enhanced" in found["search --profile"] and "default" in found["search --profile"]


def test_doctor_passes_here_and_prints_what_it_looked_at(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("doctor")
    assert result.code == 0
    for name in ("Python", "LadybugDB", "tantivy", "encoder", "cache folder", "API key"):
        assert name in result.out


def test_doctor_names_the_mend(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = wikigr("doctor")
    assert result.code == 3
    assert "wikigr model prepare" in result.out


def test_a_closed_pipe_is_no_error(physics_pack: Path) -> None:
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
    command = [sys.executable, "-c", "from wikigr_cli.app import main; main()", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines() == ["wikigr: No space left on device"]


def in_encoding(encoding: str, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command line in-process with streams as a locale of that ``encoding`` opens them."""
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding, errors="surrogateescape")
    out, err = io.BytesIO(), io.BytesIO()
    streams = io.TextIOWrapper(out, encoding), io.TextIOWrapper(err, encoding)
    code = run(arguments, Environment(given, *streams))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize(
    "command",
    [
        ("ask", "Who wrote What Is Life?", "--offline"),
        ("search", "wave equation"),
        ("graph", "neighbors", "Wave function"),
        ("eval", "report"),
    ],
    ids=lambda command: command[0],
)
def test_a_stdout_that_is_no_utf8_gets_the_whole_result(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, encoding: str, command: tuple[str, ...]
) -> None:
    if command[0] == "eval":
        gold = {"id": "ö", "question": "Who wrote 🐈?", "answers": ["x"], "gold": [{"title": "Schrödinger's 🐈"}]}
        (tmp_path / "q.jsonl").write_text(json.dumps(gold))
        made = ("--pack", str(physics_pack), "--questions", "q.jsonl", "--profile", "baseline", "-o", "run")
        assert wikigr("eval", "run", *made).code == 0
        arguments, as_json = (*command, "run", "--format", "md"), (*command, "run", "--format", "json")
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


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_what_comes_on_stdin_is_utf8_in_every_locale(wikigr: Wikigr, physics_pack: Path, encoding: str) -> None:
    pack = ("--pack", str(physics_pack))
    batch = ("search", "--batch", "-", "--mode", "lexical", *pack)
    code, out, _ = in_encoding(encoding, *batch, stdin="Who was Schrödinger 🐈?\n".encode())
    document = json.loads(out)
    assert (code, document["question"]) == (0, "Who was Schrödinger 🐈?")
    assert document["results"]
    for arguments, stdin in (
        (batch, b"\xff\xfe bad utf\n"),
        (("rerank", "--json", *pack), b'[{"title": "\xff", "score": 1}]'),
        (("graph", "cypher", "-", *pack), b"MATCH (a:Article) RETURN '\xff' LIMIT 1"),
    ):
        code, out, err = in_encoding(encoding, *arguments, stdin=stdin)
        assert (code, out) == (2, b"")
        assert b"standard input" in err and b"invalid start byte" in err


def test_a_process_in_a_locale_that_is_no_utf8(physics_pack: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "search", "Wave", "--mode", "lexical", "--pack", str(physics_pack)],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u203a" in done.stdout
