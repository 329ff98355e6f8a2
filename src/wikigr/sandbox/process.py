"""The parent's side of a sandbox: start the child, exchange messages with it until a deadline, and end it.

The child starts from a fresh interpreter with an empty environment, so that no key of this process is in its memory.
Its messages are JSON, because unpickling would execute what a compromised child sends.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self
from weakref import finalize

from wikigr.errors import WikigrError
from wikigr.sandbox.child import HEADER
from wikigr.sandbox.walls import Walls

_START = "import sys; sys.path[:] = sys.argv[1:]; from wikigr.sandbox.child import main; main()"
_START_SECONDS = 30.0
_EXIT_SECONDS = 5.0
_PIPE_BYTES = 1 << 16
_MAX_POLL_MS = 2**31 - 1
_MAX_FAULT = 1_000

# malloc reserves address space per arena, and the thread pools of numeric libraries per thread.
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class SandboxError(WikigrError):
    """The sandboxed process ended or misbehaved. The message completes "The process …"."""


class SandboxStartError(SandboxError):
    """The sandboxed process could not start on this machine."""


class SandboxTimeoutError(SandboxError):
    """The sandboxed process did not answer in time and was killed."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a sandboxed process may use: files and folders, address space (bytes), processor time, bytes per message."""

    readable: Sequence[Path]
    address_space: int
    cpu_seconds: int
    message_bytes: int
    scratch: Path | None = None  # a folder in which it can create empty files
    listening: bool = False  # whether it can listen on a Unix socket there


def find_walls() -> Walls:
    """Return the walls that this machine can raise, as a child process finds them; raises ``SandboxError``."""
    limits = ProcessLimits((), address_space=1 << 30, cpu_seconds=60, message_bytes=1 << 10)
    with SandboxedProcess("wikigr.sandbox.child:finish", {}, limits) as process:
        return process.walls


def library_paths() -> list[Path]:
    """Return the folders with Python's modules and the system's libraries, for tasks that import while confined."""
    import wikigr

    names = (
        "site-packages",
        "dist-packages",
        "lib-dynload",
        f"python{sys.version_info.major}.{sys.version_info.minor}",
    )
    modules = [path for path in _import_path() if Path(path).name in names or path.endswith(".zip")]
    system = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache")
    return [Path(path) for path in (*modules, *wikigr.__path__, f"{sys.prefix}/lib", f"{sys.base_prefix}/lib", *system)]


class SandboxedProcess:
    """A child process that runs ``function(channel, **arguments)`` inside the walls.

    ``task`` is ``"module:function"``; only the child imports the module, before it raises the walls. ``environment``
    adds variables to the child's, which is otherwise empty. ``walls`` says which walls stand.
    """

    def __init__(
        self,
        task: str,
        arguments: Mapping[str, Any],
        limits: ProcessLimits,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the child; raises ``SandboxStartError`` if it cannot start."""
        self._limits = limits
        self._received = bytearray()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START, *_import_path()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**_ENVIRONMENT, **(environment or {})},
                start_new_session=True,  # Ctrl-C reaches this process only
                bufsize=0,
            )
        except OSError as error:
            raise SandboxStartError(f"cannot start: {error.strerror or error}") from error
        self.close: Callable[[], None] = finalize(self, _end, self._process)
        self._incoming, self._outgoing = _descriptor(self._process.stdout), _descriptor(self._process.stdin)
        for descriptor in (self._incoming, self._outgoing):
            os.set_blocking(descriptor, False)
        deadline = time.monotonic() + _START_SECONDS
        module, _, function = task.partition(":")
        setup = {
            "module": module,
            "function": function,
            "arguments": dict(arguments),
            "readable": [os.fspath(path) for path in limits.readable],
            "scratch": None if limits.scratch is None else os.fspath(limits.scratch),
            "address_space": limits.address_space,
            "cpu_seconds": limits.cpu_seconds,
            "listening": limits.listening,
        }
        try:
            self.send(setup, deadline)
            self.walls = Walls(**self.receive(deadline)["walls"])
        except SandboxTimeoutError as error:
            raise SandboxStartError(f"did not start in {_START_SECONDS:g} seconds") from error
        except SandboxError as error:
            raise SandboxStartError(error.message) from error
        except (TypeError, KeyError) as error:
            self.close()
            raise SandboxStartError("sent an invalid message and was stopped") from error

    @property
    def alive(self) -> bool:
        """Whether the child still runs and can be used."""
        return self._process.poll() is None

    def send(self, message: Any, deadline: float) -> None:
        """Send a message before ``deadline``, a time of ``time.monotonic()``; raises ``SandboxError``."""
        self.send_bytes(json.dumps(message).encode(), deadline)

    def send_bytes(self, body: bytes, deadline: float) -> None:
        """Send a message that the child receives as bytes."""
        data = memoryview(HEADER.pack(len(body)) + body)
        while data:
            self._wait(self._outgoing, select.POLLOUT, deadline)
            try:
                data = data[os.write(self._outgoing, data) :]
            except BrokenPipeError:
                self._die()

    def receive(self, deadline: float) -> Any:
        """Return the child's next message; raises ``SandboxError`` if it ends or sends none before ``deadline``."""
        size = HEADER.unpack(self._read(HEADER.size, deadline))[0]
        if size > self._limits.message_bytes:
            self.reject()
        try:
            message = json.loads(self._read(size, deadline), parse_constant=_reject_constant)
        except (ValueError, RecursionError) as error:
            self.reject(error)
        if isinstance(message, dict) and "fault" in message:
            self.close()
            raise SandboxError(f"failed with {str(message['fault'])[:_MAX_FAULT]}")
        return message

    def _read(self, size: int, deadline: float) -> bytes:
        while len(self._received) < size:
            self._wait(self._incoming, select.POLLIN, deadline)
            part = os.read(self._incoming, _PIPE_BYTES)
            if not part:
                self._die()
            self._received += part
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(min(left * 1000, _MAX_POLL_MS)):
            self.close()
            raise SandboxTimeoutError("took too long and was stopped")

    def reject(self, cause: Exception | None = None) -> NoReturn:
        """End the child because of an invalid message, and raise ``SandboxError``."""
        self.close()
        raise SandboxError("sent an invalid message and was stopped") from cause

    def _die(self) -> NoReturn:
        try:
            code = self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        self.close()
        raise SandboxError(_exit_reason(code))

    def kill(self) -> None:
        """End the child at once; another thread may be waiting for it, gets ``SandboxError`` and closes it."""
        self._process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.kill()
    process.wait()


def _exit_reason(code: int | None) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "took too much time or memory and was stopped"
    if code is not None and code < 0:
        return f"crashed (signal {-code})"
    return "exited unexpectedly"


def _import_path() -> list[str]:
    return [path for path in sys.path if Path(path).is_absolute()]


def _descriptor(stream: Any) -> int:
    return int(stream.fileno())


def _reject_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
