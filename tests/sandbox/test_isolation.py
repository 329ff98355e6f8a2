from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest
from tests.waiting import until

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.errors import BuildError, PackError
from wikigr.graph.engine import Graph, QueryError
from wikigr.ingest import loading
from wikigr.ingest.staging import Staging
from wikigr.progress import Progress, Silent
from wikigr.sandbox.isolation import run_isolated


def double(number: int, progress: Progress) -> int:
    progress.start("doubling", 1, "numbers")
    progress.advance(1)
    return 2 * number


def abort(progress: Progress) -> None:
    os.write(2, b"terminate called\n")
    os.abort()


def refuse(progress: Progress) -> None:
    raise PackError("no", hint="do this")


def fill(progress: Progress) -> None:
    raise OSError(28, "No space left on device")


def linger(marker: str, progress: Progress) -> None:
    """Hold a lock on ``marker`` as long as this process lives."""
    with Path(marker).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        threading.Event().wait()


def is_locked(marker: Path) -> bool:
    with marker.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


class Recording(Silent):
    def __init__(self) -> None:
        self.calls: list[object] = []

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self.calls.append((stage, total, unit, done))

    def advance(self, count: int) -> None:
        self.calls.append(count)


def test_the_result_and_the_progress_come_back(tmp_path: Path) -> None:
    progress = Recording()
    assert run_isolated(double, (21,), progress, tmp_path / "log") == 42
    assert progress.calls == [("doubling", 1, "numbers", 0), 1]


def test_a_child_that_aborts_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="full disk") as caught:
        run_isolated(abort, (), Silent(), tmp_path / "log")
    assert "Free some disk space" in (caught.value.hint or "")
    assert "terminate called" in (tmp_path / "log").read_text()


def test_errors_keep_their_class_and_hint(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="no") as caught:
        run_isolated(refuse, (), Silent(), tmp_path / "log")
    assert caught.value.hint == "do this"
    with pytest.raises(BuildError, match="No space left"):
        run_isolated(fill, (), Silent(), tmp_path / "log")
    with pytest.raises(BuildError, match="failed with TypeError"):
        run_isolated(double, (), Silent(), tmp_path / "log")
    assert "Traceback" in (tmp_path / "log").read_text()


def test_a_load_that_fails_does_not_wait_for_the_engine_to_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []

    class Watched(Graph):
        def close(self) -> None:
            closed.append(self.path)
            super().close()

    monkeypatch.setattr(loading, "Graph", Watched)
    staging = Staging(tmp_path / "staging")
    with pytest.raises(QueryError):
        loading.load_database(staging, tmp_path, EncoderIdentity("none", -1, ""), Silent())
    assert closed == []
    other = tmp_path / "other"
    other.mkdir()
    loading.load_database(staging, other, EncoderIdentity("one", 1, ""), Silent())
    assert closed == [other / "pack.db"]
    staging.close()


def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    parent = os.fork()
    if parent == 0:
        run_isolated(linger, (str(marker),), Silent(), tmp_path / "log")
        os._exit(0)
    until(lambda: marker.exists() and is_locked(marker))
    os.kill(parent, 9)
    os.waitpid(parent, 0)
    until(lambda: not is_locked(marker))
