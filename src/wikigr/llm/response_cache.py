"""Replies of models kept on disk, so that the same request need not be paid for twice."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wikigr.atomic import write_atomic
from wikigr.llm.reply import Partial, read_message

_log = logging.getLogger(__name__)

SCHEMA_VERSION = 1

# Why a model stopped when it was done. A reply that was cut, refused or paused is not what the next one will be, and
# a server that gives no reason does not say that it was done.
_DONE = ("end_turn", "stop_sequence", "tool_use")


def request_key(
    *,
    base_url: str,
    model: str,
    max_tokens: int,
    messages: Sequence[Mapping[str, Any]],
    fields: Mapping[str, Any],
    repeat: int,
) -> str:
    """Return the SHA-256 (hexadecimal) of everything that changes an answer, and of this cache's schema version.

    ``fields`` are the rest of the request's body: system prompt, sampling, tools. A prompt has no version of its own,
    for its whole text stands in them and in ``messages``. ``repeat`` tells several answers to one request apart. What
    the request is authorised with is no part of it, nor are a user name and a password in ``base_url``.
    """
    parts = urlsplit(base_url)
    server = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/")
    canonical = json.dumps(
        {
            "schema_version": SCHEMA_VERSION,
            "base_url": server,
            "model": model,
            "max_tokens": max_tokens,
            "messages": messages,
            "fields": fields,
            "repeat": repeat,
        },
        sort_keys=True,
        separators=(",", ":"),
    )
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


class ResponseCache:
    """A folder with a JSON file for each reply, as the server sent it. Threads and processes may share it.

    ``fresh`` passes over what was kept before this object was made; what comes in its place is kept. A file that
    cannot be used counts as missing and is written anew, and one that cannot be written is done without: ``warn`` is
    told of both, each time. Two threads that ask the same at the same moment may both find nothing.
    """

    def __init__(self, folder: Path, *, fresh: bool = False, warn: Callable[[str], None] = _log.warning) -> None:
        self._folder = folder
        self._fresh = fresh
        self._warn = warn
        self._lock = threading.Lock()
        self._written: set[str] = set()

    def get(self, key: str) -> Partial | None:
        """Return the reply kept under ``key`` (see ``request_key``), or ``None``."""
        if self._fresh and key not in self._written:
            return None
        path = self._path(key)
        partial = Partial()
        try:
            entry = json.loads(path.read_bytes())
            if not isinstance(entry, dict) or (entry.get("schema_version"), entry.get("key")) != (SCHEMA_VERSION, key):
                raise ValueError("it is of something else")
            read_message(entry.get("message"), partial)
            if partial.stop_reason not in _DONE or not (partial.blocks or partial.tool_uses):
                raise ValueError("the reply is not whole")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            self._warn(f"The kept reply {path} cannot be used, so the model is asked again: {_reason(error)}")
            return None
        return partial

    def put(self, key: str, message: Mapping[str, Any]) -> None:
        """Keep ``message``, a reply that ``read_message`` accepts, unless it was cut, refused or paused."""
        if message.get("stop_reason") not in _DONE:
            return
        path = self._path(key)
        # In ASCII: a server may send half of a surrogate pair, which UTF-8 has no bytes for.
        entry = json.dumps({"schema_version": SCHEMA_VERSION, "key": key, "message": message}, indent=1) + "\n"
        try:
            # One at a time: two threads would write to the same temporary file.
            with self._lock:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(path, entry)
                self._written.add(key)
        except OSError as error:
            self._warn(f"The reply cannot be kept in {path}: {_reason(error)}")

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
