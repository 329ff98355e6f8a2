"""Run Cypher from a model or a user on a pack: guarded, in a sandboxed process, with a bounded, JSON-ready result."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from wikigr.errors import PackError
from wikigr.graph.engine import READ_BUFFER_POOL, QueryError, reserved_space
from wikigr.graph_search.cypher.guard import check_query
from wikigr.sandbox.process import ProcessLimits, SandboxedProcess, SandboxError, SandboxStartError, SandboxTimeoutError

MAX_MESSAGE = 400  # characters of the engine's error messages

_RESULT_BYTES = 64 << 20
# The engine checks its clock between batches of rows; a process that does not come back is killed after this time.
_GRACE_SECONDS = 0.5


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query, in the order of its ORDER BY, if any.

    All values are JSON values. A node or a relationship is ``{"label": …, **properties}``, a path is
    ``{"nodes": […], "relationships": […]}``. Dates, durations, UUIDs and decimals are strings, bytes are base64, NaN
    and infinities are null. Nodes omit embeddings and properties without a value. Strings longer than 2,000
    characters and lists longer than 200 elements are cut, strings with a final ``…``; ``cut`` counts them.
    ``truncated`` means that there are more rows. ``executed`` is the query that the engine ran, without a SKIP after
    ORDER BY, which is applied afterwards.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool
    executed: str
    milliseconds: float
    cut: int = 0


class QueryRunner:
    """Runs queries on the database of a pack in a sandboxed child process.

    The process starts with the first query, and again after a crash or a timeout. It ends with ``close`` or when the
    runner is no longer referenced. Threads may share a runner; their queries run one after another.
    """

    def __init__(self, database: Path) -> None:
        """Remember which file ``database`` is now; raises ``PackError`` if it cannot be read."""
        self._database = database.absolute()
        self._identity = self._identify()
        self._process: SandboxedProcess | None = None
        self._lock = Lock()

    def run(self, cypher: str, *, max_rows: int = 100, max_hops: int = 3, timeout: float = 10.0) -> QueryResult:
        """Run one read-only query, for at most ``timeout`` seconds.

        Raises ``BlockedQueryError`` if the guard rejects the query, ``QueryError`` if it fails, takes too long or
        crashes the process, ``PackError`` if the database cannot be opened, and ``ValueError`` for limits out of range.
        """
        if not (math.isfinite(timeout) and timeout > 0):
            raise ValueError("timeout must be a positive number of seconds")
        guarded = check_query(cypher, max_rows=max_rows, max_hops=max_hops)
        request = {"cypher": guarded.text, "skip": guarded.skip, "rows": max_rows, "seconds": timeout}
        with self._lock:
            if self._process is None or not self._process.alive:
                self._process = self._start()
            started = time.perf_counter()
            try:
                deadline = time.monotonic() + timeout + _GRACE_SECONDS
                self._process.send(request, deadline)
                reply = _checked(self._process.receive(deadline), max_rows)
            except SandboxTimeoutError as error:
                raise _timeout_error(timeout) from error
            except SandboxError as error:
                self._stop()
                raise QueryError(
                    f"The query failed: the process that ran it {error.message}.",
                    hint="The engine cannot run this query. Write it differently.",
                ) from error
            except BaseException:
                # The reply to an interrupted request would be taken for that to the next one.
                self._stop()
                raise
        if "error" in reply:
            raise self._error(reply["error"], reply["kind"], timeout)
        return QueryResult(
            columns=tuple(map(_clean, reply["columns"])),
            rows=tuple(map(tuple, reply["rows"])),
            truncated=reply["more"],
            executed=guarded.text,
            milliseconds=(time.perf_counter() - started) * 1000,
            cut=reply["cut"],
        )

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _identify(self) -> tuple[int, int, int]:
        """Return the device, the inode and the size of the database."""
        try:
            found = self._database.stat()
        except OSError as error:
            raise PackError(f"Cannot read the database {self._database}: {error.strerror or error}.") from error
        return found.st_dev, found.st_ino, found.st_size

    def _start(self) -> SandboxedProcess:
        try:
            reserve = reserved_space(self._identity[2])
            limits = ProcessLimits(
                readable=(self._database,),
                # Python, the libraries, threads and rows need 1.5 GiB beyond the engine's database and buffers.
                address_space=reserve + READ_BUFFER_POOL + (3 << 29),
                cpu_seconds=3_600,  # Then it starts again.
                message_bytes=_RESULT_BYTES,
            )
            arguments = {"database": str(self._database), "reserve": reserve, "message_bytes": _RESULT_BYTES}
            process = SandboxedProcess("wikigr.graph_search.cypher.server:serve", arguments, limits)
            opened = process.receive(time.monotonic() + 60.0)
        except SandboxStartError as error:
            raise QueryError(
                f"Queries cannot run on this machine: their process {error.message}.", hint="Run `wikigr doctor`."
            ) from error
        except SandboxError as error:
            raise PackError(
                f"Cannot open the database {self._database} for queries: its process {error.message}.",
                hint="Run `wikigr pack verify` on the pack, or build it again.",
            ) from error
        match opened:
            case {"error": ""}:
                if self._identify() != self._identity:
                    raise PackError(
                        f"The database {self._database} was replaced since it was opened.",
                        hint="Run the same command again.",
                    )
                return process
            case {"error": str(message)} if "Could not set lock" in message:
                raise PackError(
                    f"Cannot run queries on the database {self._database}: it is open for writing.",
                    hint="Open it read-only, or close it first.",
                )
            case {"error": str(message), "hint": str(hint)}:
                raise PackError(_clean(message), hint=_clean(hint))
        raise PackError(f"Cannot open the database {self._database}: its process sent an invalid message.")

    def _stop(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _error(self, message: str, kind: str, timeout: float) -> QueryError:
        if kind == "time":
            return _timeout_error(timeout)
        if kind == "memory":
            return QueryError(
                "The query exceeds its memory limit.",
                hint="Match fewer nodes at once, shorten the paths, or put WITH … LIMIT before collecting.",
            )
        if kind == "size":
            return QueryError(
                f"The result has more than {_RESULT_BYTES >> 20} MiB.", hint="Return fewer rows or shorter values."
            )
        # The message may reach a model, so it must not contain local paths.
        text = _clean(message).replace(str(self._database), "the database")
        text = text.replace(str(self._database.parent), "the pack")
        text = re.sub(r'Assertion failed in file "[^"]*" on line \d+', "Internal error of the engine", text)
        # The parser's message lists every keyword that it expects.
        text = re.sub(r" expecting \{[^}]*\}?", "", text)
        if len(text) > MAX_MESSAGE:
            text = text[: MAX_MESSAGE - 1] + "…"
        return QueryError(f"The query failed: {text.rstrip('.')}.")


def _checked(reply: Any, max_rows: int) -> dict[str, Any]:
    """Return a reply of the form that ``server.serve`` describes: a query may have taken over the process."""
    match reply:
        case {"error": str(), "kind": str()}:
            return dict(reply)
        case {"columns": [*columns], "rows": [*rows], "more": bool(), "cut": int()} if (
            len(rows) <= max_rows
            and all(isinstance(name, str) for name in columns)
            and all(isinstance(row, list) and len(row) == len(columns) for row in rows)
        ):
            return dict(reply)
    raise SandboxError("sent an invalid message")


def _timeout_error(timeout: float) -> QueryError:
    return QueryError(
        f"The query was interrupted after {timeout:g} s.",
        hint="Specify labels and a start node, shorten the paths, or increase the timeout.",
    )


def _clean(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
