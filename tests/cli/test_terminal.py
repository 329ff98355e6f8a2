"""What a person sees in a terminal: lines that fit, progress, Ctrl-C; and that a pipe sees none of it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr_cli.app import run
from wikigr_cli.environment import Environment, Interrupted
from wikigr_cli.render.output import counted
from wikigr_cli.render.progress import TerminalProgress
from wikigr_cli.render.wrapping import breaks, cells, cut

from .conftest import Result, Wikigr

MAIN = "from wikigr_cli.app import main; main()"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def environment_of(columns: int, **variables: str) -> tuple[Environment, Terminal, Terminal]:
    out, err = Terminal(), Terminal()
    shown = {"COLUMNS": str(columns), "NO_COLOR": "1", **variables}
    return Environment(io.StringIO(), out, err, {key: value for key, value in shown.items() if value}), out, err


def in_terminal(*arguments: str, columns: int = 80, **variables: str) -> Result:
    environment, out, err = environment_of(columns, **variables)
    return Result(run(arguments, environment), out.getvalue(), err.getvalue())


def widest(text: str) -> int:
    return max(cells(line) for line in text.splitlines())


@given(st.text(alphabet="ab 量\u0301\n", max_size=60), st.integers(4, 30), st.one_of(st.none(), st.integers(0, 20)))
def test_wrapping_keeps_every_word_and_fits(text: str, width: int, hang: int | None) -> None:
    lines = [" " * indent + text[begin:end] for indent, begin, end in breaks(text, width, hang)]
    assert " ".join(lines).split() == text.split()
    for line in lines:
        # Longer is a word alone only.
        assert cells(line) <= width or len(line.split()) == 1


def test_what_goes_on_is_indented_as_its_line_or_as_asked() -> None:
    def shown(text: str, width: int, hang: int | None = None) -> list[str]:
        return [" " * indent + text[begin:end] for indent, begin, end in breaks(text, width, hang)]

    assert shown("  one  two three", 10) == ["  one  two", "  three"]
    assert shown("a   bb cc dd", 8, 4) == ["a   bb", "    cc", "    dd"]
    assert shown("a\n\n  b c", 3) == ["a", "", "  b", " c"]
    assert shown("x /a/very/long/path y", 8) == ["x", "/a/very/long/path", "y"]
    # Two columns a character, none for an accent that is set over another.
    assert shown("量子 力学", 6) == ["量子", "力学"]
    assert shown("e\u0301e\u0301 ee", 5) == ["e\u0301e\u0301 ee"]


@given(st.text(alphabet="ab量 ", max_size=30), st.integers(1, 20), st.booleans())
def test_a_line_that_is_cut_fits_and_says_so(line: str, width: int, front: bool) -> None:
    found = cut(line, width, front=front)
    assert cells(found) <= width
    assert found == line or "…" in found
    assert line.endswith(found.removeprefix("…")) if front else line.startswith(found.removesuffix("…"))


def test_color_goes_on_in_the_next_line_and_is_no_width() -> None:
    environment, out, _ = environment_of(12, NO_COLOR="", TERM="xterm")
    environment.print("  1. One two", style="bold", end="")
    environment.print("  0.5 x", style="dim", hang=5)
    assert out.getvalue() == "\x1b[1m  1. One two\x1b[0m\n     \x1b[2m0.5 x\x1b[0m\n"


def test_the_width_is_that_of_the_stream(tmp_path: Path) -> None:
    environment, out, _ = environment_of(80, COLUMNS="")
    assert environment.width(out) == 80
    assert environment.width(io.StringIO()) is None
    environment, out, _ = environment_of(37)
    assert environment.width(out) == 37
    with (tmp_path / "file").open("w") as file:
        assert environment.width(file) is None


@pytest.mark.parametrize("columns", [80, 50])
def test_lines_fit_in_a_terminal_and_stay_whole_in_a_pipe(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, columns: int
) -> None:
    shutil.copytree(physics_pack, tmp_path / "p")
    for command in (
        ("search", "superconductivity", "--pack", "p"),
        ("ask", "Who discovered superconductivity?", "--pack", "p", "--explain"),
        ("doctor",),
        ("pack", "info", "p"),
        ("pack", "validate", "p"),
        ("profile", "list"),
        ("config", "show", "--origin"),
        ("graph", "neighbors", "Werner Heisenberg", "--pack", "p"),
        ("why", "Who discovered superconductivity?", "Laser", "--pack", "p"),
        ("pack", "list", "."),
    ):
        # The digest and the temporary folder are longer than some terminals, and stay whole.
        shown = [in_terminal(*command, columns=columns), wikigr(*command)]
        assert [result.code for result in shown] == [0, 0], shown
        words = [" ".join(result.out.split()) for result in shown]
        if command[:2] not in (("ask", "Who"), ("pack", "list")):
            assert words[0].split()[:20] == words[1].split()[:20]
        for line in (shown[0].out + shown[0].err).splitlines():
            assert cells(line) <= columns or any(len(word) > columns // 3 for word in line.split()), line
    asked = ("ask", "Who discovered superconductivity?", "--pack", "p")
    piped = wikigr(*asked)
    assert widest(piped.out) > 80 and widest(piped.err) > 80
    assert " ".join(in_terminal(*asked).out.split()) == " ".join(piped.out.split())


def test_a_command_to_be_copied_is_one_line(wikigr: Wikigr) -> None:
    environment, out, _ = environment_of(20)
    environment.print("    wikigr ask 'Who was it?' --pack p", overflow="keep")
    assert out.getvalue() == "    wikigr ask 'Who was it?' --pack p\n"


def test_a_list_of_packs_has_no_blanks_at_the_end(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    shutil.copytree(physics_pack, tmp_path / "packs" / "a-name-of-another-length")
    shutil.copytree(physics_pack, tmp_path / "packs" / "p")
    listed = wikigr("pack", "list", "packs").out.splitlines()
    assert listed == [line.rstrip() for line in listed]
    assert {line.index("packs/") for line in listed[1:]} == {listed[0].index("path")}
    narrow = in_terminal("pack", "list", "packs", columns=50).out
    assert widest(narrow) <= 50 and "…" in narrow and "…ther-length" in narrow


def test_one_is_no_plural(wikigr: Wikigr, tmp_path: Path) -> None:
    assert counted(1, "links") == "1 link" and counted(2, "links") == "2 links" and counted(0, "links") == "0 links"
    assert [counted(1, noun) for noun in ("entities", "aliases", "triples")] == ["1 entity", "1 alias", "1 triple"]
    assert counted(1_234, "articles") == "1,234 articles"
    for name, text in (("a", "# A\nSee [B](b.md)."), ("b", "# B\nText.")):
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / f"{name}.md").write_text(text)
    built = wikigr("pack", "build", "notes", "-o", "p")
    assert "2 articles, 2 sections, 1 link" in built.out
    # A rate of so few would say nothing.
    assert "reading: 2 records in" in built.err and "/s)" not in built.err
    assert "2 articles, 1 link," in wikigr("pagerank", "build", "p", "--force").out


def test_progress_that_is_interrupted_claims_no_end() -> None:
    environment, _, err = environment_of(80, TERM="xterm")
    with pytest.raises(Interrupted) as stopped, TerminalProgress(environment, resumes=True) as progress:
        progress.start("embedding", 2400, "sections")
        progress.advance(512)
        raise KeyboardInterrupt
    assert "goes on" in stopped.value.hint
    assert "512/2400" in err.getvalue() and "512/512" not in err.getvalue()
    environment, _, err = environment_of(80, TERM="xterm")
    with pytest.raises(Interrupted) as stopped, TerminalProgress(environment) as progress:
        raise KeyboardInterrupt
    assert stopped.value.hint == ""


def test_the_last_line_of_progress_leaves_room_for_the_echo_of_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else ^C makes two lines of it, and the first one stays on the screen."""
    environment, _, err = environment_of(80, TERM="xterm")
    with TerminalProgress(environment) as progress:
        progress.start("chunking", 100_000, "articles")
        with monkeypatch.context() as later:
            now = time.monotonic()
            later.setattr("wikigr_cli.render.progress.time.monotonic", lambda: now + 10)
            progress.advance(100_000)
    drawn = err.getvalue().replace("\r", "\n").replace("\x1b[2K", "")
    lines = [line for line in drawn.splitlines() if "100000/" in line]
    assert lines and max(map(len, lines)) <= 78


def test_a_note_stands_above_the_progress_and_is_no_part_of_it() -> None:
    environment, _, err = environment_of(80, TERM="xterm")
    with TerminalProgress(environment) as progress:
        progress.start("reading", 10, "records")
        _until(lambda: "0/10" in err.getvalue())
        progress.note("Going on.\x1b[2J")
        progress.advance(10)
    assert "Going on.�[2J\n" in err.getvalue().replace("\r", "")
    # A line that is drawn again is first wiped; a note past rich would be wiped with it.
    assert err.getvalue().index("\x1b[2K") < err.getvalue().index("Going on.")


def _until(happened: Callable[[], bool]) -> None:
    for _ in range(600):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in 30 s")


def _interruptible() -> None:
    """Have SIGINT end this process, as in a terminal: a shell's background jobs, and all below them, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_a_command_with_a_word(physics_pack: Path) -> None:
    asked = subprocess.Popen(
        [sys.executable, "-c", MAIN, "search", "--batch", "-", "--mode", "lexical", "--pack", str(physics_pack)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_interruptible,
    )  # fmt: skip
    assert asked.stdin and asked.stdout and asked.stderr
    asked.stdin.write("spin\n")
    asked.stdin.flush()
    assert json.loads(asked.stdout.readline())["question"] == "spin"
    asked.send_signal(signal.SIGINT)
    assert (asked.wait(30), asked.stderr.read()) == (130, "Interrupted.\n")


@pytest.mark.parametrize(("options", "hint"), [((), True), (("--no-resume",), False)])
def test_ctrl_c_during_a_build_says_that_it_goes_on(tmp_path: Path, options: tuple[str, ...], hint: bool) -> None:
    building = subprocess.Popen(
        [sys.executable, "-c", MAIN, "pack", "build", "-", "-o", "p", "--format", "jsonl", *options],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=_interruptible,
    )  # fmt: skip
    assert building.stdin and building.stderr
    _until((tmp_path / "p" / ".wikigr" / "staging.sqlite").exists)
    # As a terminal does it: to all processes of the build.
    os.killpg(building.pid, signal.SIGINT)
    told = "Interrupted.\n" + ("The same command goes on where it stopped.\n" if hint else "")
    assert (building.wait(30), building.stderr.read()) == (130, told)
