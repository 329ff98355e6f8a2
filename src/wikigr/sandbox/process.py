"""The one child process for what may crash, hang or be taken over: walls, limits, and a deadline for every message.

The child starts from a fresh interpreter with an empty environment, so that no key of this process is in its memory.
It reads its task, raises the walls, and runs the task inside them. Its messages are JSON, because unpickling would
execute what a compromised child sends.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn, Self
from weakref import finalize

from wikigr.errors import WikigrError
from wikigr.sandbox.landlock import restrict_files
from wikigr.sandbox.seccomp import restrict_system_calls

HEADER = struct.Struct("!I")  # the length of a message in bytes

_START = "import sys; sys.path[:] = sys.argv[1:]; from wikigr.sandbox.process import main; main()"
_START_SECONDS = 30.0
# malloc reserves address space per arena, and the thread pools of numeric libraries per thread.
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class SandboxError(WikigrError):
    """The child process ended or misbehaved. The message completes "The process …"."""


class SandboxStartError(SandboxError):
    """The child process could not start on this machine."""


class SandboxTimeoutError(SandboxError):
    """The child process did not answer in time and was killed."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a child process may use: files and folders, address space (bytes), processor time, bytes per message."""

    readable: Sequence[Path]
    address_space: int
    cpu_seconds: int  # of all its threads; the kernel kills it then
    message_bytes: int
    scratch: Path | None = None  # a folder in which it can create empty files
    listening: bool = False  # whether it can listen on a Unix socket there


@dataclass(frozen=True, slots=True)
class Walls:
    """The walls around a process.

    ``landlock`` is the version of the kernel's interface, 0 without it. ``seccomp`` says whether the filter of system
    calls is in force, ``memory`` whether the limit on the address space is.
    """

    landlock: int
    seccomp: bool
    memory: bool


def find_walls() -> Walls:
    """Return the walls that this machine can raise, as a child process finds them; raises ``SandboxError``."""
    limits = ProcessLimits((), address_space=1 << 30, cpu_seconds=60, message_bytes=1 << 10)
    with SandboxedProcess("builtins:print", {}, limits) as process:
        return process.walls


def library_paths() -> list[Path]:
    """Return the folders with Python's modules and the system's libraries, for tasks that import while confined."""
    import wikigr

    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    names = ("site-packages", "dist-packages", "lib-dynload", python)
    modules = [path for path in _import_path() if Path(path).name in names or path.endswith(".zip")]
    system = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache")
    return [Path(path) for path in (*modules, *wikigr.__path__, f"{sys.prefix}/lib", f"{sys.base_prefix}/lib", *system)]


class SandboxedProcess:
    """A child process that runs ``function(channel, **arguments)`` inside the walls.

    ``task`` is ``"module:function"``; only the child imports the module, before it raises the walls. ``environment``
    adds variables to the child's, which is otherwise empty. ``walls`` says which walls stand. A deadline is a time of
    ``time.monotonic()``; at the deadline, the child is killed.
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
        self._message_bytes = limits.message_bytes
        self._received = bytearray()
        try:
            self._process = start_python(_START, {**_ENVIRONMENT, **(environment or {})}, subprocess.DEVNULL)
        except OSError as error:
            raise SandboxStartError(f"cannot start: {error.strerror or error}") from error
        self.close: Callable[[], None] = finalize(self, end_process, self._process)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._outgoing, self._incoming = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._outgoing, False)
        os.set_blocking(self._incoming, False)
        deadline = time.monotonic() + _START_SECONDS
        try:
            self.send({"task": task, "arguments": dict(arguments), "limits": asdict(limits)}, deadline)
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
        """Send a message before the deadline; raises ``SandboxError``."""
        self.send_bytes(json.dumps(message, default=os.fspath).encode(), deadline)

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
        """Return the child's next message; raises ``SandboxError`` if it ends or sends none before the deadline."""
        size = HEADER.unpack(self._read(HEADER.size, deadline))[0]
        if size > self._message_bytes:
            self.reject()
        try:
            message = json.loads(self._read(size, deadline), parse_constant=_reject_constant)
        except (ValueError, RecursionError) as error:
            self.reject(error)
        if isinstance(message, dict) and "fault" in message:
            self.close()
            raise SandboxError(f"failed with {str(message['fault'])[:1_000]}")
        return message

    def _read(self, size: int, deadline: float) -> bytes:
        while len(self._received) < size:
            self._wait(self._incoming, select.POLLIN, deadline)
            part = os.read(self._incoming, 1 << 16)
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
        if left <= 0 or not poll.poll(min(left * 1000, 2**31 - 1)):
            self.close()
            raise SandboxTimeoutError("took too long and was stopped")

    def reject(self, cause: Exception | None = None) -> NoReturn:
        """End the child because of an invalid message, and raise ``SandboxError``."""
        self.close()
        raise SandboxError("sent an invalid message and was stopped") from cause

    def _die(self) -> NoReturn:
        try:
            reason = exit_reason(self._process.wait(5.0))
        except subprocess.TimeoutExpired:
            reason = "closed its output"
        self.close()
        raise SandboxError(reason)

    def kill(self) -> None:
        """End the child at once; another thread may be waiting for it, gets ``SandboxError`` and closes it."""
        self._process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start_python(program: str, environment: Mapping[str, str], errors: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start ``program`` in a new interpreter, with pipes to and from it; its arguments are the import path.

    It has neither the working directory nor the user's folders on that path.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program, *_import_path()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        start_new_session=True,  # Ctrl-C reaches this process only
        bufsize=0,
    )


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that ``start_python`` started."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.kill()
    process.wait()


def exit_reason(code: int) -> str:
    """Return what happened to a process with this exit code, as in a ``SandboxError``."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "took too much time or memory and was stopped"
    return f"crashed (signal {-code})" if code < 0 else "exited unexpectedly"


def _import_path() -> list[str]:
    return [path for path in sys.path if Path(path).is_absolute()]


def _reject_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


# The child's side


def encode(message: Any) -> bytes:
    """Return ``message`` as JSON, with ``?`` for unpaired surrogates; raises ``ValueError`` for NaN and infinities."""
    return json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


class Channel:
    """Messages from and to the parent process, over standard input and output, which nothing else can use then."""

    def __init__(self) -> None:
        self._incoming, self._outgoing = os.dup(0), os.dup(1)
        devnull = os.open(os.devnull, os.O_RDWR)
        os.dup2(devnull, 0)
        os.dup2(devnull, 1)
        os.close(devnull)

    def receive(self) -> Any:
        """Return the next message; the process ends when the parent has closed its side."""
        return json.loads(self.receive_bytes())

    def receive_bytes(self) -> bytes:
        """Return the next message as the parent sent it."""
        (size,) = HEADER.unpack(self._read(HEADER.size))
        return self._read(size)

    def send(self, message: Any) -> None:
        """Send a message; raises ``ValueError`` for NaN and infinities."""
        self.send_bytes(encode(message))

    def send_bytes(self, body: bytes) -> None:
        """Send a message that is already encoded."""
        data = memoryview(HEADER.pack(len(body)) + body)
        while data:
            data = data[os.write(self._outgoing, data) :]

    def watch(self) -> None:
        """End this process when the parent closes its side or ends, even during a computation."""

        def wait_for_end() -> None:
            poll = select.poll()
            poll.register(self._incoming, 0)
            poll.poll()
            os._exit(0)

        threading.Thread(target=wait_for_end, daemon=True).start()

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self._incoming, min(size, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def main() -> None:
    """Run the task in the first message, inside the walls: the program of the child."""
    channel = Channel()
    setup = channel.receive()
    module, _, function = setup["task"].partition(":")
    try:
        entry = getattr(import_module(module), function)
        walls = _confine(ProcessLimits(**setup["limits"]))
        channel.watch()
        channel.send({"walls": asdict(walls)})
        entry(channel, **setup["arguments"])
    except Exception as error:
        channel.send({"fault": f"{type(error).__name__}: {error}"})
        raise


def _confine(limits: ProcessLimits) -> Walls:
    """Confine this process, which must have a single thread, for the rest of its life.

    Raises ``OSError`` if a wall that the system supports cannot be raised, and ``RuntimeError`` if other threads run.
    """
    memory = _limit_resources(limits)
    if sys.platform != "linux":
        return Walls(0, seccomp=False, memory=memory)
    threads = Path("/proc/self/task")
    if threads.exists() and len(list(threads.iterdir())) > 1:
        raise RuntimeError("another thread is running, which Landlock would not restrict")
    library = ctypes.CDLL(None, use_errno=True)
    for option, value in ((38, 1), (4, 0)):  # PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE
        if library.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    scratch = None if limits.scratch is None else Path(limits.scratch)
    landlock = restrict_files(map(Path, limits.readable), scratch, listening=limits.listening)
    seccomp = restrict_system_calls(creating=scratch is not None, listening=limits.listening)
    return Walls(landlock, seccomp=seccomp, memory=memory)


def _limit_resources(limits: ProcessLimits) -> bool:
    """Set the limits that the kernel enforces; return whether the one on the address space is in force."""
    for kind, limit in {
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_AS: limits.address_space,
    }.items():
        # A lower limit is already in force, or the system does not support this one. The others still apply.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))
    in_force, _ = resource.getrlimit(resource.RLIMIT_AS)
    return in_force not in (-1, resource.RLIM_INFINITY) and in_force <= limits.address_space
