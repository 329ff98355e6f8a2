"""Progress bars, and what Ctrl-C leaves of them."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from tests.waiting import until

from wikigr_cli.environment import Interrupted
from wikigr_cli.render.progress import TerminalProgress

from ..terminal import environment_of


def test_interrupted_progress_does_not_claim_completion() -> None:
    environment, _, err = environment_of(80, TERM="xterm")
    with pytest.raises(Interrupted) as stopped, TerminalProgress(environment, resumes=True) as progress:
        progress.start("embedding", 2400, "sections")
        progress.advance(512)
        raise KeyboardInterrupt
    assert "to resume" in stopped.value.hint
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
            later.setattr("wikigr_cli.render.progress.time", SimpleNamespace(monotonic=lambda: now + 10))
            progress.advance(100_000)
    drawn = err.getvalue().replace("\r", "\n").replace("\x1b[2K", "")
    lines = [line for line in drawn.splitlines() if "100000/" in line]
    assert lines and max(map(len, lines)) <= 78


def test_a_note_is_printed_above_the_progress() -> None:
    environment, _, err = environment_of(80, TERM="xterm")
    with TerminalProgress(environment) as progress:
        progress.start("reading", 10, "records")
        until(lambda: "0/10" in err.getvalue())
        progress.note("Going on.\x1b[2J")
        progress.advance(10)
    assert "Going on.�[2J\n" in err.getvalue().replace("\r", "")
    # A line that is drawn again is first wiped; a note past rich would be wiped with it.
    assert err.getvalue().index("\x1b[2K") < err.getvalue().index("Going on.")
