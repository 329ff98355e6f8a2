"""The sandboxed process: what it can do, and what the parent makes of everything that it may answer."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wikigr.sandbox.landlock import landlock_version
from wikigr.sandbox.process import ProcessLimits, SandboxedProcess, SandboxError, SandboxStartError, SandboxTimeoutError
from wikigr.sandbox.seccomp import seccomp_supported

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")
SECONDS = 20.0


def start(
    task: str,
    /,
    *files: Path,
    environment: dict[str, str] | None = None,
    cpu_seconds: int = 60,
    scratch: Path | None = None,
    listening: bool = False,
    **arguments: Any,
) -> SandboxedProcess:
    limits = ProcessLimits(files, 1 << 30, cpu_seconds, message_bytes=1 << 20, scratch=scratch, listening=listening)
    return SandboxedProcess(f"tests.sandbox.tasks:{task}", arguments, limits, environment=environment)


def soon(seconds: float = SECONDS) -> float:
    return time.monotonic() + seconds


def processes() -> set[int]:
    """The children of this process."""
    return {int(text) for text in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


@pytest.fixture(autouse=True)
def _no_child_left(quick_garbage_collection: None) -> Iterator[None]:
    before = processes() if sys.platform == "linux" else set()
    yield
    gc.collect()
    if sys.platform == "linux":
        assert processes() <= before


@LINUX
def test_the_walls_leave_only_what_is_readable(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    readable = tmp_path / "inside" / "readable.txt"
    readable.write_text("to read")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    with start("attempt", readable, readable=str(readable), forbidden=str(outside), parent=os.getpid()) as process:
        outcomes = process.receive(soon())
    done = {name for name, outcome in outcomes.items() if outcome == "done"}
    allowed = {"read a readable file", "start a thread"}
    if seccomp_supported() and landlock_version():
        assert done == allowed, outcomes
        assert outcomes["allocate 4 GB"] == "ENOMEM"
    else:
        assert allowed <= done
    assert (outside / "secret.txt").read_text() == "secret"
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]
    assert readable.read_text() == "to read"


@LINUX
def test_the_attempts_succeed_without_walls(tmp_path: Path) -> None:
    """Otherwise the test above would show nothing."""
    from tests.sandbox import tasks

    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "readable.txt").write_text("to read")

    class Recorder:
        sent: dict[str, str]

        def send(self, message: dict[str, str]) -> None:
            self.sent = message

    recorder = Recorder()
    tasks.attempt(recorder, str(tmp_path / "readable.txt"), str(tmp_path), os.getpid())  # type: ignore[arg-type]
    refused = {name for name, outcome in recorder.sent.items() if outcome != "done"}
    assert refused == set()


@LINUX
def test_a_scratch_folder_takes_empty_files_only_and_opens_no_others(tmp_path: Path) -> None:
    scratch, outside = tmp_path / "scratch", tmp_path / "outside"
    scratch.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    with start("create", scratch=scratch, folders=[str(scratch), str(outside)]) as process:
        assert process.receive(soon()) == ["EFBIG", "EACCES" if landlock_version() else "EFBIG"]
    assert [path.stat().st_size for path in scratch.iterdir()] == [0]
    arguments: dict[str, Any] = {"readable": str(tmp_path / "none"), "forbidden": str(outside), "parent": os.getpid()}
    with start("attempt", scratch=scratch, **arguments) as process:
        outcomes = process.receive(soon())
    if seccomp_supported() and landlock_version():
        assert {name for name, outcome in outcomes.items() if outcome == "done"} == {"start a thread"}
        assert [path.name for path in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


@LINUX
@pytest.mark.parametrize("listening", [True, False])
def test_a_process_may_listen_where_nothing_else_may_happen(tmp_path: Path, listening: bool) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    paths: dict[str, Any] = {"inside": str(scratch / "s"), "outside": str(tmp_path / "s")}
    with start("listen", scratch=scratch, listening=listening, **paths) as process:
        outcomes = process.receive(soon())
        walls = process.walls
    if walls.seccomp:
        assert (outcomes["connect"], outcomes["tcp"], outcomes["pair"]) == ("EPERM",) * 3
        assert outcomes["inside"] == ("done" if listening else "EPERM")
    if walls.landlock:
        assert outcomes["outside"] in ("EACCES", "EPERM")


@LINUX
def test_processor_time_is_limited() -> None:
    with start("spin", cpu_seconds=1) as process:
        process.receive(soon())
        with pytest.raises(SandboxError, match="took too much time or memory"):
            process.receive(soon(60))


def test_walls_are_reported() -> None:
    with start("echo") as process:
        assert process.walls.landlock == landlock_version()
        assert process.walls.seccomp == seccomp_supported()
        assert process.walls.memory or sys.platform == "darwin"


def test_the_process_inherits_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    with (tmp_path / "open.txt").open("w") as opened:
        os.set_inheritable(opened.fileno(), True)
        with start("describe", environment={"HOME": "/nowhere"}, number=7) as process:
            found = process.receive(soon())
    assert found["number"] == 7
    assert found["environment"].pop("HOME") == "/nowhere"
    assert not [name for name in found["environment"] if "KEY" in name or "PATH" in name]
    assert "sk-secret" not in str(found)
    assert len(found["files"]) <= 5  # the three standard ones and the channel
    assert not {"asyncio", "numpy", "onnxruntime", "anthropic", "site"} & set(found["modules"])


def test_messages_go_both_ways() -> None:
    messages: list[Any] = [None, 1.5, "é\u2028", ["x" * 500_000], {"a": {"b": [1, 2, 3]}}]
    with start("echo") as process:
        for message in messages:
            process.send(message, soon())
            assert process.receive(soon()) == message


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ("crash", r"crashed \(signal 11\)"),
        ("abort", r"crashed \(signal 6\)"),
        ("leave", "exited unexpectedly"),
        ("fail", "failed with LookupError: nothing here"),
    ],
)
def test_the_end_of_the_process_is_an_error_with_its_reason(task: str, reason: str) -> None:
    process = start(task)
    process.send(None, soon())
    with pytest.raises(SandboxError, match=reason):
        process.receive(soon())
    assert not process.alive


@pytest.mark.parametrize(
    "text",
    ["", "nothing", '{"a": NaN}', "[Infinity]", "[" * 500_000, "1" * 5_000, '"\\ud800', '{"a": 1', "\x00"],
    ids=lambda text: text[:12],
)
def test_an_invalid_answer_is_an_error(text: str) -> None:
    process = start("answer", text=text)
    process.send(None, soon())
    with pytest.raises(SandboxError, match="sent an invalid message"):
        process.receive(soon())
    assert not process.alive


def test_an_answer_beyond_the_limit_is_not_read() -> None:
    process = start("flood", size=64 << 20)
    process.send(None, soon())
    with pytest.raises(SandboxError, match="sent an invalid message"):
        process.receive(soon())


def test_a_process_that_takes_too_long_is_killed() -> None:
    process = start("sleep")
    process.send(None, soon())
    with pytest.raises(SandboxTimeoutError, match="took too long"):
        process.receive(soon(0.2))
    assert not process.alive


def test_a_process_that_does_not_read_is_killed() -> None:
    process = start("spin")
    process.receive(soon())
    with pytest.raises(SandboxTimeoutError):
        process.send("x" * (1 << 20), soon(0.2))
    assert not process.alive


@LINUX
def test_a_process_ends_with_its_parent() -> None:
    """Even while it computes: closing the pipe is what a killed parent leaves behind."""
    process = start("spin")
    number = process.receive(soon())
    process._process.stdin.close()  # type: ignore[union-attr]
    assert process._process.wait(SECONDS) == 0
    assert not Path(f"/proc/{number}").exists()
    process.close()


def test_a_process_that_is_not_referenced_ends() -> None:
    process = start("echo")
    popen = process._process
    del process
    gc.collect()
    assert popen.poll() is not None


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxStartError, match="cannot start: No such file"):
        start("echo")


def test_paths_that_cannot_be_opened_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with start("echo", tmp_path / "none", tmp_path / "file" / "below") as process:
        process.send(1, soon(1e9))
        assert process.receive(soon(1e9)) == 1


def test_a_task_that_cannot_be_imported_is_an_error() -> None:
    with pytest.raises(SandboxStartError, match="AttributeError"):
        start("no_such_task")
