"""A client for a model in a GGUF file, which llama.cpp runs in a sandboxed process, without a server."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from wikigr.errors import UsageError
from wikigr.llm.budget import Budget
from wikigr.llm.chat_format import chat_body, events_of
from wikigr.llm.failures import Api, LlmError, Server
from wikigr.llm.model_client import ModelClient, Request
from wikigr.llm.options import ModelFileOptions
from wikigr.llm.reply import MalformedReply, ReplyReader
from wikigr.llm.response_cache import ResponseCache
from wikigr.read_errors import describe_read_error
from wikigr.regular_files import open_regular
from wikigr.sandbox.process import (
    ProcessLimits,
    SandboxedProcess,
    SandboxError,
    SandboxTimeoutError,
    library_paths,
)

_MAGIC = b"GGUF"
_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf\Z", re.I)
_LOAD_SECONDS = 600.0
_CPU_SECONDS = 1 << 30
_CHUNK_BYTES = 1 << 20
# Address space beside the weights: the libraries, the buffers, and the keys and values of each token of the context.
_SPACE = 16 << 30
_TOKEN_SPACE = 1 << 20


class ModelFile(ModelClient):
    """Runs the model in the GGUF file ``path``, with the chat template of the file.

    The process starts with the first call and answers one call at a time. A call that fails or is interrupted ends the
    process, and with it the computation; the next call starts another. No call takes longer than
    ``timeout * (retries + 1)`` seconds after the model was loaded, nor ``timeout`` from one token to the next.

    Raises ``UsageError`` if the library is not installed or the file cannot be used.
    """

    runs_here: ClassVar[bool] = True

    def __init__(
        self,
        path: str,
        *,
        options: ModelFileOptions | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        budget: Budget | None = None,
        cache: ResponseCache | None = None,
        repeat: int = 0,
    ) -> None:
        self._path = Path(path).expanduser().absolute()
        self._options = options or ModelFileOptions()
        self._stamp = _check(self._path)
        self._longest = timeout * (retries + 1)
        self._running = threading.Lock()
        self._process: SandboxedProcess | None = None
        self._sha256: str | None = None
        # Whether the process has a call under way, so that it cannot take another.
        self._busy = False
        super().__init__(
            model=self._path.name,
            server=_File(self._path.name),
            timeout=timeout,
            budget=budget,
            cache=cache,
            repeat=repeat,
        )

    @property
    def server(self) -> str:
        return ""

    @property
    def weights_sha256(self) -> str:
        """The SHA-256 of the file; raises ``UsageError`` if the file has changed since it was opened."""
        if self._sha256 is None:
            with open_regular(self._path) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if _stamp(self._path) != self._stamp:
                raise UsageError(f"The model file {self._path} has changed meanwhile.", hint="Run the command again.")
            self._sha256 = found
        return self._sha256

    @property
    def _origin(self) -> str:
        return f"sha256:{self.weights_sha256}"

    def _model_of(self, model: str | None) -> str:
        # A profile may name another model for another task, but here is only one.
        return self.model

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _fetch_message(self, request: Request) -> tuple[Mapping[str, Any], str | None]:
        reader = ReplyReader()
        with self._open_stream(request) as (events, _):
            for event in events:
                if event["type"] == "error":
                    return event, None
                reader.take(event)
        if not reader.finished:
            raise self._server.disconnected("it ended without its last event")
        return reader.to_message(), None

    @contextmanager
    def _open_stream(self, request: Request) -> Iterator[tuple[Iterator[Mapping[str, Any]], str | None]]:
        # The likeliest words, so that the same file gives the same answer again.
        body = {"temperature": 0.0, "seed": 0, **chat_body(request)}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        with self._running:
            try:
                yield events_of(self._chunks(body, request.max_reply_bytes)), None
            except SandboxTimeoutError as error:
                raise self._server.timed_out(self.timeout) from error
            except SandboxError as error:
                raise LlmError(f"The process of the model {self.model} {error.message}.", hint=_MEMORY_HINT) from error
            finally:
                if self._busy:
                    self.close()

    def _chunks(self, body: Mapping[str, Any], max_bytes: int) -> Iterator[Mapping[str, Any]]:
        """Yield the chunks of the reply to ``body``; an error is the last one."""
        self._busy = True
        process = self._process = self._process or self._start()
        end = time.monotonic() + self._longest
        process.send(body, end)
        # Reading the prompt takes long, so the first chunk has the time of the whole call.
        message = process.receive(end)
        while message is not None:
            chunk = message.get("chunk") if isinstance(message, dict) else None
            if not isinstance(chunk, dict):
                raise MalformedReply("a chunk is not an object")
            max_bytes -= len(repr(chunk))
            if max_bytes < 0:
                raise MalformedReply("it is too long")
            if chunk.get("error"):
                while process.receive(end) is not None:
                    pass
                self._busy = False
                yield chunk
                return
            # The library gives the path of the file as the name of the model.
            yield {**chunk, "model": self.model}
            message = process.receive(min(time.monotonic() + self.timeout, end))
        self._busy = False

    def _start(self) -> SandboxedProcess:
        """Return a process that has loaded the model; raises ``SandboxError`` and ``LlmError``."""
        size = self._path.stat().st_size
        threads = self._options.threads or _processors()
        with tempfile.TemporaryDirectory(prefix="wikigr-") as folder:
            limits = ProcessLimits(
                readable=[*library_paths(), self._path],
                address_space=2 * size + _SPACE + self._options.context * _TOKEN_SPACE,
                cpu_seconds=_CPU_SECONDS,
                message_bytes=_CHUNK_BYTES,
                scratch=Path(folder),
                listening=True,
            )
            arguments = {
                "model": str(self._path),
                "threads": threads,
                "context": self._options.context,
                "socket": f"{folder}/unused.sock",
            }
            process = SandboxedProcess(
                "wikigr.llm.model_process:serve",
                arguments,
                limits,
                environment={"OMP_NUM_THREADS": str(threads)},
            )
            try:
                loaded = process.receive(time.monotonic() + _LOAD_SECONDS)
            except BaseException:
                process.close()
                raise
        if loaded != {"loaded": True}:
            process.close()
            raise LlmError(f"llama.cpp cannot load the model {self.model}.", hint=_MEMORY_HINT)
        return process


_MEMORY_HINT = "Check the file and the free memory, and lower --context (model_file.context) if it is large."


class _File(Server):
    """A model file in messages."""

    def __init__(self, name: str) -> None:
        super().__init__("", None, Api("chat-completions API", "", ""))
        self.name = f"The model {self.clean(name)}"

    def rejected(self, status: int, body: object, *, model: str) -> LlmError:
        error = super().rejected(status, body, model=model)
        if "context size" in error.message:
            error.hint = "Raise --context (model_file.context in the profile), or read fewer sections."
        return error

    def disconnected(self, reason: str) -> LlmError:
        return LlmError(f"{self.name} stopped before the reply was complete: {self.clean(reason)}")

    def malformed_reply(self, reason: str) -> LlmError:
        return LlmError(f"{self.name} did not give a well-formed reply: {self.clean(reason)}.")


def _check(path: Path) -> tuple[int, int, int]:
    """Return the stamp of a model file; raises ``UsageError`` unless it can be used."""
    hint = "Check --model, or synthesis.model in the profile."
    if _PART.search(path.name):
        raise UsageError(
            f"The model file {path} is one of several parts.", hint="Join them first: llama-gguf-split --merge"
        )
    try:
        with open_regular(path) as file:
            magic = file.read(len(_MAGIC))
        stamp = _stamp(path)
    except OSError as error:
        raise UsageError(f"Cannot read the model file {path}: {describe_read_error(error)}.", hint=hint) from error
    if magic != _MAGIC:
        raise UsageError(f"The model file {path} is not in the format GGUF.", hint=hint)
    if find_spec("xllamacpp") is None:
        raise UsageError(
            "A model file needs the package xllamacpp, which is not installed.",
            hint="Install it: pip install 'wikigr[local]'",
        )
    return stamp


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
