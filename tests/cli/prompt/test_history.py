"""The history of the prompt: where it is, who may read it, and what happens without a place for it."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

from prompt_toolkit.history import InMemoryHistory

from wikigr_cli.prompt.loop import open_history

from ..terminal import environment_of


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
