"""The prompt with keys from a pipe, and the real one in a terminal."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from tests.llm.server import MessagesServer, never, reply
from tests.waiting import until

from wikigr_cli.app import run
from wikigr_cli.environment import Environment
from wikigr_cli.prompt.loop import open_history, run_prompt

from ..conftest import MAIN
from ..terminal import Terminal as Screen
from ..terminal import environment_of, in_terminal
from .conftest import OFFLINE

QUESTION = "Who measured the wavelength of the electron?"
ANSWER = "The Davisson–Germer experiment of 1927"
CTRL_C, CTRL_D = "\x03", "\x04"


def prompted(pack: Path, keys: str, history: InMemoryHistory | None = None) -> tuple[str, str]:
    """What a prompt prints that gets ``keys``."""
    environment, out, err = environment_of(80)
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        run_prompt(
            environment,
            [str(pack)],
            "enhanced",
            OFFLINE,
            terminal=(pipe, DummyOutput()),
            history=history or InMemoryHistory(),
        )
    return out.getvalue(), err.getvalue()


def test_questions_until_the_end_of_input(physics_pack: Path, private: Path) -> None:
    history = InMemoryHistory()
    out, err = prompted(physics_pack, f"{QUESTION}\r/profile fast\r{CTRL_D}", history)
    assert out.startswith(in_terminal("ask", QUESTION, "--pack", str(physics_pack), "--offline").out)
    assert err.startswith("physics 1.0.0: 50 articles, 237 sections. Answers quote the pack. /help")
    assert err.endswith("Profile fast.\n")
    assert history.get_strings() == [QUESTION, "/profile fast"]


def test_pasted_lines_are_asked_one_by_one(physics_pack: Path, private: Path) -> None:
    pasted = f"\x1b[200~{QUESTION}\n\n/profile fast\nWhat is spin?\x1b[201~\r{CTRL_D}"
    out, err = prompted(physics_pack, pasted)
    assert [line for line in out.splitlines() if line.startswith("> ")] == [
        f"> {QUESTION}",
        "> /profile fast",
        "> What is spin?",
    ]
    assert ANSWER in out.split("> /profile")[0] and "Spin#0" in out.split("> What is spin?")[1]
    assert err.endswith("Profile fast.\n")


def test_ctrl_c_clears_the_line(physics_pack: Path, private: Path) -> None:
    out, err = prompted(physics_pack, f"What is spin{CTRL_C}/profile fast\r/quit\r")
    assert "Spin" not in out and err.endswith("Profile fast.\n")


class Terminal:
    """A real ``wikigr`` in a terminal of 80 columns."""

    def __init__(self, pack: Path, *options: str, **variables: str) -> None:
        own = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "NO_COLOR": "1", "PAGER": "cat"}
        self.child: Any = pexpect.spawn(
            sys.executable,
            ["-c", MAIN, "ask", "--pack", str(pack), *options],
            env={**os.environ, **own, **variables},
            dimensions=(40, 80),
            encoding="utf-8",
            timeout=120,
        )
        self.waits()

    def waits(self) -> str:
        """Wait for the prompt; return what came before it."""
        self.child.expect(r"physics \([a-z]+\)>")
        return str(self.child.before)

    def says(self, line: str, expected: str) -> None:
        self.child.send(f"{line}\r")
        self.child.expect_exact(expected)
        self.waits()

    def leaves(self) -> int:
        self.child.send(CTRL_D)
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus)


@pytest.fixture
def closed() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.child.close(force=True)


def test_a_conversation_in_a_terminal(
    physics_pack: Path, private: Path, no_model: None, closed: list[Terminal]
) -> None:
    terminal = Terminal(physics_pack, "--offline")
    closed.append(terminal)
    terminal.says(QUESTION, ANSWER)
    terminal.says("/open 1", "Proof and prize")
    terminal.says("/why", "The answer quotes it: [1].")
    terminal.says("/nonsense", "There is no command /nonsense.")
    assert terminal.leaves() == 0
    # The next session knows the questions of this one.
    history = open_history(environment_of(80)[0])
    assert list(history.load_history_strings()) == ["/nonsense", "/why", "/open 1", QUESTION]


def test_ctrl_c_cancels_a_running_question(
    physics_pack: Path, private: Path, messages_server: MessagesServer, closed: list[Terminal]
) -> None:
    messages_server.script(never(), reply("The wavelength of electrons was measured in 1927."))
    terminal = Terminal(physics_pack, ANTHROPIC_BASE_URL=messages_server.url, ANTHROPIC_API_KEY="x")
    closed.append(terminal)
    terminal.child.send(f"{QUESTION}\r")
    until(lambda: bool(messages_server.requests))
    terminal.child.sendintr()
    terminal.child.expect_exact("Cancelled.")
    terminal.waits()
    terminal.says(QUESTION, "The wavelength of electrons was measured in 1927")
    assert terminal.leaves() == 0


def at_a_keyboard(*arguments: str) -> tuple[int, str]:
    """The exit code and the messages of a command whose standard input is a terminal as well."""
    err = Screen()
    return run(arguments, Environment(Screen(), Screen(), err, {"COLUMNS": "80"})), err.getvalue()


def test_options_that_need_a_question_are_refused(physics_pack: Path, private: Path) -> None:
    for option in ("--strict", "--json", "--show-prompt"):
        code, err = at_a_keyboard("ask", "--pack", str(physics_pack), option)
        assert code == 2 and f"{option} needs a question" in err
    assert at_a_keyboard("ask", "--pack", str(private / "none"))[0] == 4
    assert at_a_keyboard("ask")[0] == 2


def test_only_the_user_may_read_it(private: Path) -> None:
    environment, _, err = environment_of(80)
    open_history(environment).append_string("What is spin?")
    path = private / "state" / "wikigr" / "ask_history"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert err.getvalue() == ""
    path.chmod(0o644)
    assert list(open_history(environment).load_history_strings()) == ["What is spin?"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_without_a_folder_questions_are_kept_in_memory(private: Path) -> None:
    (private / "state").write_text("a file")
    environment, _, err = environment_of(80)
    assert isinstance(open_history(environment), InMemoryHistory)
    assert "The questions are not kept" in err.getvalue()


def test_a_link_is_not_followed(private: Path, tmp_path: Path) -> None:
    folder = private / "state" / "wikigr"
    folder.mkdir(parents=True)
    (folder / "ask_history").symlink_to(tmp_path / "elsewhere")
    environment, _, _ = environment_of(80)
    assert isinstance(open_history(environment), InMemoryHistory)
    assert not (tmp_path / "elsewhere").exists()


def test_on_a_full_disk_the_history_goes_on_in_memory(private: Path) -> None:
    environment, _, err = environment_of(80)
    history = open_history(environment)
    history.append_string("kept")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        history.append_string("lost")
        history.append_string("lost, too")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert err.getvalue().count("The questions are not kept: File too large") == 1
    assert history.get_strings() == ["kept", "lost", "lost, too"]
    assert "lost" not in (private / "state" / "wikigr" / "ask_history").read_text()
