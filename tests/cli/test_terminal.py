"""What a person sees in a terminal: lines that fit and a clean end on Ctrl-C; a pipe sees neither."""

from __future__ import annotations

import array
import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import termios
from functools import partial
from pathlib import Path
from typing import IO

from tests.waiting import until

from wikigr_cli.render.terminal import cells

from .conftest import MAIN, Wikigr
from .terminal import environment_of, in_terminal, widest


def test_color_continues_on_the_next_line_and_has_no_width() -> None:
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


def test_lines_fit_in_a_terminal_and_stay_whole_in_a_pipe(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    columns = 50
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
    assert widest(piped.out) > 80
    assert widest(wikigr(*asked, "--explain").err) > 80
    assert " ".join(in_terminal(*asked).out.split()) == " ".join(piped.out.split())


def test_a_command_to_copy_stays_on_one_line(wikigr: Wikigr) -> None:
    environment, out, _ = environment_of(20)
    environment.print("    wikigr ask 'Who was it?' --pack p", overflow="keep")
    assert out.getvalue() == "    wikigr ask 'Who was it?' --pack p\n"


def test_ctrl_c_ends_a_command_with_a_message(physics_pack: Path) -> None:
    asked = subprocess.Popen(
        [sys.executable, "-c", MAIN, "search", "--batch", "-", "--mode", "lexical", "--pack", str(physics_pack)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert asked.stdin and asked.stdout and asked.stderr
    asked.stdin.write("spin\n")
    asked.stdin.flush()
    assert json.loads(asked.stdout.readline())["question"] == "spin"
    asked.send_signal(signal.SIGINT)
    assert (asked.wait(120), asked.stderr.read()) == (130, "Interrupted.\n")


def _is_read(pipe: IO[str]) -> bool:
    waiting = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return waiting[0] == 0


def test_ctrl_c_during_a_build_says_how_to_resume(tmp_path: Path) -> None:
    building = subprocess.Popen(
        [sys.executable, "-c", MAIN, "pack", "build", "-", "-o", "p", "--jobs", "0", "--source-format", "jsonl"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert building.stdin and building.stderr
    for number in range(2):
        building.stdin.write(json.dumps({"title": f"Article {number}", "text": "One sentence."}) + "\n")
        building.stdin.flush()
        # Ctrl-C in an import ends the process without the hint. Whoever reads the second record has imported all.
        until(partial(_is_read, building.stdin))
    assert (tmp_path / "p" / ".wikigr" / "staging.sqlite").exists()
    # As a terminal does it: to all processes of the build.
    os.killpg(building.pid, signal.SIGINT)
    told = "Interrupted.\nRun the same command again to resume.\n"
    assert (building.wait(120), building.stderr.read()) == (130, told)
