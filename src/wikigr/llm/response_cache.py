"""A cache of model replies on disk, so that the same request is not paid for twice."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wikigr.files import write_atomic
from wikigr.llm.reply import ReplyReader

_log = logging.getLogger(__name__)

SCHEMA_VERSION = 1

# The stop reasons of complete replies. A reply that was truncated, refused or paused is not cached, because the next
# one may differ; nor is a reply without a stop reason, which may be incomplete.
_DONE = ("end_turn", "stop_sequence", "tool_use")


def request_key(*, base_url: str, **parts: Any) -> str:
    """Return the hexadecimal SHA-256 of everything that affects an answer, and of this cache's schema version.

    ``parts`` are ``model``, ``max_tokens``, ``messages``, ``fields`` (the rest of the request's body: system prompt,
    sampling, tools) and ``repeat``, which distinguishes several answers to the same request. They contain the whole
    prompt, so prompts need no version number. Credentials are excluded, including a user name and a password in
    ``base_url``.
    """
    url = urlsplit(base_url)
    server = url._replace(netloc=url.netloc.rpartition("@")[2]).geturl().rstrip("/")
    parts = {"schema_version": SCHEMA_VERSION, "base_url": server, **parts}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


class ResponseCache:
    """A folder with one JSON file per reply, in the format of the API. Threads and processes may share it.

    ``fresh`` ignores replies stored before this object was created and replaces them. An unusable file counts as
    missing and is replaced; a failure to write is not an error. Both are reported to ``warn`` each time. Concurrent
    threads with the same request may both miss.
    """

    def __init__(self, folder: Path, *, fresh: bool = False, warn: Callable[[str], None] = _log.warning) -> None:
        self._folder = folder
        self._fresh = fresh
        self._warn = warn
        self._lock = threading.Lock()
        self._written: set[str] = set()

    def get(self, key: str) -> ReplyReader | None:
        """Return the reply stored under ``key`` (see ``request_key``), or ``None``."""
        if self._fresh and key not in self._written:
            return None
        path = self._path(key)
        reader = ReplyReader(requires_usage=False)
        try:
            entry = json.loads(path.read_bytes())
            if not isinstance(entry, dict) or (entry.get("schema_version"), entry.get("key")) != (SCHEMA_VERSION, key):
                raise ValueError("it belongs to another request")
            reader.read(entry.get("message"))
            if reader.stop_reason not in _DONE or not (reader.blocks or reader.tool_uses):
                raise ValueError("the reply is incomplete")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            self._warn(f"Cannot use the cached reply {path}, so the model is asked again: {_reason(error)}")
            return None
        return reader

    def put(self, key: str, reader: ReplyReader) -> None:
        """Store the reply that ``reader`` has read, unless it was truncated, refused or paused."""
        if reader.stop_reason not in _DONE:
            return
        message = reader.to_message()
        path = self._path(key)
        # ASCII, because a server may send an unpaired surrogate, which UTF-8 cannot encode.
        entry = json.dumps({"schema_version": SCHEMA_VERSION, "key": key, "message": message}, indent=1) + "\n"
        try:
            with self._lock:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(path, entry)
                self._written.add(key)
        except OSError as error:
            self._warn(f"Cannot store the reply in {path}: {_reason(error)}")

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
