"""Sessions on the demo pack without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from wikigr_cli.ask_session import AskOptions, AskSession
from wikigr_cli.environment import Environment
from wikigr_cli.prompt.conversation import Conversation

from ..terminal import Terminal, environment_of

OFFLINE = AskOptions(offline=True)


@dataclass(frozen=True)
class Talk:
    """A conversation with what it has printed."""

    conversation: Conversation
    environment: Environment
    out: Terminal
    err: Terminal

    def say(self, line: str) -> tuple[str, str]:
        """Handle a line after which the session goes on; return what it printed on stdout and stderr."""
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        assert self.conversation.handle(line)
        return self.out.getvalue(), self.err.getvalue()


Converse = Callable[..., Talk]


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Folders of the user's own for this test; returns their parent."""
    for kind in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    return tmp_path


@pytest.fixture
def converse(physics_pack: Path, private: Path) -> Iterator[Converse]:
    opened: list[AskSession] = []

    def start(pack: Path = physics_pack, options: AskOptions = OFFLINE, **variables: str) -> Talk:
        environment, out, err = environment_of(80, **variables)
        session = AskSession(environment, [str(pack)], "enhanced", options)
        opened.append(session)
        conversation = Conversation(environment, session, explain_limit=options.explained)
        return Talk(conversation, environment, out, err)

    yield start
    for session in opened:
        session.close()
