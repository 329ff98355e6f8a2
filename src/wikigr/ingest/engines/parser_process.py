"""Parse records in a confined child process, with limits on the processor time and the memory of each.

A parser that a record crashes, or sends into a long computation, costs that record only.
"""

from __future__ import annotations

import gc
import math
import mimetypes
import pickle
import resource
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from wikigr.errors import BuildError, RecordError
from wikigr.ingest.engines.items import Result, decode_items, decode_names, encode_result, parse_record, scan_document
from wikigr.sandbox.process import (
    Channel,
    ProcessLimits,
    SandboxedProcess,
    SandboxError,
    SandboxStartError,
    library_paths,
)
from wikigr.sources.article import Record, Shared, Source

# Seconds of processor time for one record, and bytes of address space for the process.
RECORD_CPU_SECONDS = 60
ADDRESS_SPACE = 4 << 30
# Seconds until a process is stopped that sends no message, however busy the machine is.
_SILENCE_SECONDS = 20.0 * RECORD_CPU_SECONDS

_SERVER = "wikigr.ingest.engines.parser_process:serve"

Task = Literal["parse", "scan"]


class PickledRecords:
    """Records as a process gets them: pickled once, each for itself, but for what they share."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.pickled: list[bytes] = []
        self.shared: dict[int, Shared] = {}
        self.size = 0  # in bytes

    def add(self, record: Record) -> None:
        stream = BytesIO()
        _Pickler(stream, self.shared).dump(record)
        self.places.append(record.where)
        self.pickled.append(stream.getvalue())
        self.size += len(self.pickled[-1])

    def __len__(self) -> int:
        return len(self.places)


class ParserProcess:
    """Works on parts of ``source``: ``parse`` gives the items of their records, ``scan`` the names in documents.

    The process starts with the first part, and again after a record that it did not survive. It may be compromised by
    what it parses: its messages are checked, and a record that it sends something else for is a bad one.
    """

    def __init__(self, source: Source) -> None:
        self._pickled = pickle.dumps(source, protocol=5)
        path = getattr(source, "path", None)
        files = [path.resolve()] if isinstance(path, Path) else []
        # openpyxl reads the system's table of media types.
        readable = [*library_paths(), *map(Path, mimetypes.knownfiles), *files]
        # The child limits its processor time for each record, and the result of one may have 256 MiB.
        self._limits = ProcessLimits(readable, ADDRESS_SPACE, cpu_seconds=1 << 30, message_bytes=256 << 20)
        self._process: SandboxedProcess | None = None
        self._sent: dict[int, Shared] = {}
        self._stopped = False

    def run(self, task: Task, part: PickledRecords) -> list[tuple[str, Result]]:
        """Return the results for ``part``; a record that the parser does not survive gives a ``RecordError``.

        Raises ``BuildError`` if the process cannot start.
        """
        results: list[tuple[str, Result]] = []
        while not self._run_rest(task, part, results) and len(results) < len(part):
            pass
        return results

    def stop(self) -> None:
        """End the process while another thread is in ``run``, which raises ``BuildError``."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None
            self._sent = {}

    def _run_rest(self, task: Task, part: PickledRecords, results: list[tuple[str, Result]]) -> bool:
        """Append to ``results`` those of ``part`` that are missing there; return whether all are there."""
        decode = decode_items if task == "parse" else decode_names
        where = None
        done = len(results)
        try:
            if self._process is None:
                self._process = SandboxedProcess(_SERVER, {"record_cpu_seconds": RECORD_CPU_SECONDS}, self._limits)
                self._process.send_bytes(self._pickled, _deadline())
            process = self._process
            self._check_stopped()
            process.send_bytes(self._message(task, part, done), _deadline())
            while (message := process.receive(_deadline())) is not None:
                match message:
                    case {"record": str()} if where is None and len(results) < len(part):
                        where = part.places[len(results)]
                    case {"result": value} if where is not None:
                        results.append((where, decode(value, where)))
                        where = None
                    case {"full": True} if where is None and len(results) > done:
                        self.close()
                        return False
                    case _:
                        process.reject()
            if where is not None or len(results) < len(part):
                process.reject()
        except SandboxStartError as error:
            raise BuildError(
                f"The parser process {error.message}.", hint="Parse in the process of the build with --jobs 0."
            ) from error
        except (SandboxError, ValueError) as error:
            reason = error.message if isinstance(error, SandboxError) else "sent an invalid message and was stopped"
            self.close()
            self._check_stopped()
            if where is None:
                raise BuildError(f"The parser process {reason} between two records.") from error
            results.append((where, RecordError(where, f"the parser {reason}")))
            return False
        return True

    def _check_stopped(self) -> None:
        if self._stopped:
            self.close()
            raise BuildError("The parsing was stopped.")

    def _message(self, task: Task, part: PickledRecords, skip: int) -> bytes:
        """Return ``part`` without the first ``skip`` records, and what they share that the process does not have."""
        new = {key: value for key, value in part.shared.items() if key not in self._sent}
        # Kept, so that no other object gets the same id.
        self._sent |= new
        return pickle.dumps((task, new, part.pickled[skip:]), protocol=5)


class _Pickler(pickle.Pickler):
    """Replaces objects that records share by their ids, and collects them in ``shared``."""

    def __init__(self, stream: BytesIO, shared: dict[int, Shared]) -> None:
        super().__init__(stream, protocol=5)
        self._shared = shared

    def persistent_id(self, obj: object) -> int | None:
        if not isinstance(obj, Shared):
            return None
        self._shared[id(obj)] = obj
        return id(obj)


def _deadline() -> float:
    return time.monotonic() + _SILENCE_SECONDS


def serve(channel: Channel, *, record_cpu_seconds: int) -> None:
    """Work on parts until the parent closes the channel: the child's side of ``ParserProcess``."""
    # A long document has millions of objects until its end: looking through them often took half of the time.
    gc.set_threshold(100_000, 10, 10)
    source = pickle.loads(channel.receive_bytes())  # noqa: S301 (the build pickled it)
    shared: dict[int, Shared] = {}
    while True:
        task, new, part = pickle.loads(channel.receive_bytes())  # noqa: S301
        shared |= new
        work: Callable[[Any, Any], Result] = parse_record if task == "parse" else scan_document
        for record in _records(part, shared):
            channel.send({"record": record.where})
            # The kernel ends the process at the soft limit, even in a library that does not return to Python.
            seconds = math.ceil(time.process_time()) + record_cpu_seconds
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, hard) if hard >= 0 else seconds, hard))
            try:
                result = work(source, record)
            except MemoryError:
                too_large = f"parsing it takes more than {ADDRESS_SPACE >> 30} GB of memory"
                channel.send({"result": encode_result(RecordError(record.where, too_large))})
                # The memory that libraries keep would be missing for the records that follow.
                channel.send({"full": True})
            else:
                channel.send({"result": encode_result(result)})
        channel.send(None)


def _records(part: list[bytes], shared: dict[int, Shared]) -> Iterator[Record]:
    for pickled in part:
        unpickler = pickle.Unpickler(BytesIO(pickled))  # noqa: S301
        unpickler.persistent_load = shared.__getitem__  # type: ignore[method-assign, assignment]
        yield unpickler.load()
