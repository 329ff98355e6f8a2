"""A client for a model in a GGUF file, which llama.cpp runs in a sandboxed process, without a server."""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import struct
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet, WeakValueDictionary

from wikigr.errors import UsageError
from wikigr.files import describe_read_error, open_regular
from wikigr.llm.chat_format import chat_body, events_of
from wikigr.llm.failures import CHAT_API, LlmError, Server
from wikigr.llm.model_client import CallOptions, ModelClient, Request
from wikigr.llm.options import ModelFileOptions
from wikigr.llm.reply import MalformedReply
from wikigr.progress import Progress, Silent
from wikigr.sandbox.process import ProcessLimits, SandboxedProcess, SandboxError, SandboxTimeoutError, library_paths

if TYPE_CHECKING:
    from typing import Unpack

_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf\Z", re.I)
_MEMORY_HINT = "Check the file and the free memory, and lower --context (model_file.context) if it is large."
# The length of a key in the metadata precedes it.
_TEMPLATE_KEY = struct.pack("<Q", 23) + b"tokenizer.chat_template"
_SOCKET = "unused.sock"

# A file as it was opened: inode, time of change and size.
_Stamp = tuple[int, int, int]
# The engines in use, by file and options.
_engines: WeakValueDictionary[tuple[Path, _Stamp, ModelFileOptions], _Engine] = WeakValueDictionary()
_opening = threading.Lock()


class ModelFile(ModelClient):
    """Runs the model in the GGUF file ``path``, with the chat template of the file.

    All clients of a file share one process. It starts with the first call, answers one call at a time, and ends when
    the last client is closed. A call that fails or is interrupted ends the process, and with it the computation; the
    next call starts another. A call may go on while it makes progress: after each token, and after each batch of tokens
    of the prompt, the next has ``timeout * (retries + 1)`` seconds. ``progress`` gets the stages of each call.

    Raises ``UsageError`` if the library is not installed or the file cannot be used.
    """

    runs_here: ClassVar[bool] = True

    def __init__(
        self,
        path: str,
        *,
        options: ModelFileOptions | None = None,
        progress: Progress | None = None,
        **call: Unpack[CallOptions],
    ) -> None:
        file = Path(path).expanduser().absolute()
        key = (file, _check(file), options or ModelFileOptions())
        with _opening:
            self._engine = _engines.setdefault(key, _Engine(*key))
        self._progress = progress or Silent()
        super().__init__(model=file.name, server=_File(file.name), **call)
        self._patience = self.timeout * (self.retries + 1)

    @property
    def server(self) -> str:
        return ""

    @property
    def weights_sha256(self) -> str:
        """The SHA-256 of the file; raises ``UsageError`` if the file has changed since it was opened."""
        return self._engine.sha256

    @property
    def caveat(self) -> str:
        if self._engine.has_template:
            return ""
        return f"{self.model} has no chat template, so it got its prompt in the format ChatML, which it may not know"

    @property
    def _origin(self) -> str:
        return f"sha256:{self.weights_sha256}"

    def answering(self, model: str | None = None) -> str:
        # A profile may name another model for another task, but here is only one.
        return self.model

    def close(self) -> None:
        """End the process unless other clients use it."""
        self._engine.users.discard(self)
        if not self._engine.users:
            self._engine.end()

    @contextmanager
    def _events(self, request: Request, *, stream: bool) -> Iterator[tuple[Iterator[Mapping[str, Any]], str | None]]:
        # The likeliest words, so that the same file gives the same answer again.
        body = {"temperature": 0.0, "seed": 0, **chat_body(request)}
        body |= {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        engine = self._engine
        engine.users.add(self)
        with engine.turn:
            try:
                yield events_of(self._chunks(body, request.max_reply_bytes)), None
            except SandboxTimeoutError as error:
                raise self._server.timed_out(self._patience) from error
            except SandboxError as error:
                raise LlmError(f"The process of the model {self.model} {error.message}.", hint=_MEMORY_HINT) from error
            finally:
                if engine.busy:
                    engine.end()

    def _chunks(self, body: Mapping[str, Any], max_bytes: int) -> Iterator[Mapping[str, Any]]:
        """Yield the chunks of the reply to ``body``; an error is the last one."""
        engine = self._engine
        engine.busy = True
        process = engine.started(self._progress)
        process.send(body, time.monotonic() + self._patience)
        stages = _Stages(self._progress, body["max_tokens"])
        failed = None
        while (message := process.receive(time.monotonic() + self._patience)) is not None:
            chunk = message.get("chunk") if isinstance(message, dict) else None
            if not isinstance(chunk, dict):
                raise MalformedReply("a chunk is not an object")
            max_bytes -= len(repr(chunk))
            if max_bytes < 0:
                raise MalformedReply("it is too long")
            failed = failed or (chunk if chunk.get("error") else None)
            if failed is None:
                stages.take(chunk)
                # The library gives the path of the file as the name of the model.
                yield {**chunk, "model": self.model}
        engine.busy = False
        if failed is not None:
            yield failed


class _Stages:
    """Reports to ``progress`` how many tokens of the prompt are read, and then how many are written."""

    def __init__(self, progress: Progress, max_tokens: int) -> None:
        self._progress = progress
        self._max_tokens = max_tokens
        self._stage = ""
        self._read = 0

    def take(self, chunk: Mapping[str, Any]) -> None:
        match chunk.get("prompt_progress"):
            case {"total": int(total), "processed": int(done)}:
                self._begin("reading the prompt", total)
                self._progress.advance(done - self._read)
                self._read = done
            case _:
                self._begin("writing", self._max_tokens)
                self._progress.advance(1)

    def _begin(self, stage: str, total: int) -> None:
        if stage != self._stage:
            self._stage = stage
            self._progress.start(stage, total, "tokens")


class _Engine:
    """The process that has loaded a model file, and the clients that use it.

    Whoever has the ``turn`` may call it. ``busy`` says that a call is under way, so that it cannot take another.
    """

    def __init__(self, path: Path, stamp: _Stamp, options: ModelFileOptions) -> None:
        self._path = path
        self._stamp = stamp
        self._options = options
        self.users: WeakSet[ModelFile] = WeakSet()
        self.turn = threading.Lock()
        self.busy = False
        self.process: SandboxedProcess | None = None

    @cached_property
    def sha256(self) -> str:
        with open_regular(self._path) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if _stamp(self._path) != self._stamp:
            raise UsageError(f"The model file {self._path} has changed meanwhile.", hint="Run the command again.")
        return found

    @cached_property
    def has_template(self) -> bool:
        """Whether the file says how a chat is written for this model; llama.cpp uses the format ChatML otherwise."""
        with open_regular(self._path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            # The metadata precede the weights; a large vocabulary takes about 20 MB of them.
            return content.find(_TEMPLATE_KEY, 0, 64 << 20) >= 0

    def end(self) -> None:
        process, self.process = self.process, None
        self.busy = False
        if process is not None:
            process.close()

    def started(self, progress: Progress) -> SandboxedProcess:
        """Return the process, which has loaded the model; raises ``SandboxError`` and ``LlmError``."""
        if self.process is None:
            progress.start(f"loading {self._path.name}", None, "")
            self.process = self._start()
        return self.process

    def _start(self) -> SandboxedProcess:
        size = self._path.stat().st_size
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = self._options.threads or cores
        with _socket_folder() as folder:
            limits = ProcessLimits(
                readable=[*library_paths(), self._path],
                # The weights, the libraries and buffers, and the keys and values of each token of the context.
                address_space=2 * size + (16 << 30) + (self._options.context << 20),
                cpu_seconds=1 << 30,
                message_bytes=1 << 20,
                scratch=Path(folder),
                listening=True,
            )
            arguments = {
                "model": str(self._path),
                "threads": threads,
                "context": self._options.context,
                "socket": f"{folder}/{_SOCKET}",
            }
            # A thread that waits for another sleeps: on a busy machine, it would take the time that the other needs.
            environment = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
            process = SandboxedProcess("wikigr.llm.model_process:serve", arguments, limits, environment=environment)
            # Ten minutes, and the time in which a slow disk reads the file.
            seconds = 600.0 + size / (20 << 20)
            try:
                loaded = process.receive(time.monotonic() + seconds)
            except SandboxTimeoutError as error:
                raise LlmError(
                    f"llama.cpp did not load the model {self._path.name} within {seconds:.0f} s.", hint=_MEMORY_HINT
                ) from error
            except BaseException:
                process.close()
                raise
        if loaded != {"loaded": True}:
            process.close()
            raise LlmError(f"llama.cpp cannot load the model {self._path.name}.", hint=_MEMORY_HINT)
        return process


def _socket_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder for the socket, in /tmp if the path in the usual folder would be too long for a socket."""
    folder = tempfile.TemporaryDirectory(prefix="wikigr-")
    # The address of a Unix socket has 108 bytes on Linux and 104 on macOS.
    if len(os.fsencode(f"{folder.name}/{_SOCKET}")) <= 100:
        return folder
    folder.cleanup()
    return tempfile.TemporaryDirectory(prefix="wikigr-", dir="/tmp")


class _File(Server):
    """A model file in messages."""

    def __init__(self, name: str) -> None:
        super().__init__("", None, CHAT_API)
        self.name = f"The model {self.clean(name)}"

    def rejected(self, status: int, body: object, *, model: str) -> LlmError:
        error = super().rejected(status, body, model=model)
        if "context size" in error.message:
            error.hint = "Raise --context (model_file.context in the profile), or read fewer sections."
        return error

    def timed_out(self, seconds: float) -> LlmError:
        return LlmError(
            f"{self.name} made no progress for {seconds:g} s.",
            hint="Use a smaller model, or raise synthesis.timeout in the profile: the limit is "
            "synthesis.timeout * (synthesis.retries + 1).",
        )

    def disconnected(self, reason: str) -> LlmError:
        return LlmError(f"{self.name} stopped before the reply was complete: {self.clean(reason)}")

    def malformed_reply(self, reason: str) -> LlmError:
        return LlmError(f"{self.name} did not give a well-formed reply: {self.clean(reason)}.")


def _check(path: Path) -> _Stamp:
    """Return the stamp of a model file; raises ``UsageError`` unless it can be used."""
    hint = "Check --model, or synthesis.model in the profile."
    if _PART.search(path.name):
        raise UsageError(
            f"The model file {path} is one of several parts.", hint="Join them first: llama-gguf-split --merge"
        )
    try:
        with open_regular(path) as file:
            magic = file.read(4)
        stamp = _stamp(path)
    except OSError as error:
        raise UsageError(f"Cannot read the model file {path}: {describe_read_error(error)}.", hint=hint) from error
    if magic != b"GGUF":
        raise UsageError(f"The model file {path} is not in the format GGUF.", hint=hint)
    if find_spec("xllamacpp") is None:
        raise UsageError(
            "A model file needs the package xllamacpp, which is not installed.",
            hint="Install it: pip install 'wikigr[local]'",
        )
    return stamp


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size
