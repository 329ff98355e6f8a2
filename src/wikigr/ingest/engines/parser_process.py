"""Parse records in a confined child process, with limits on the processor time and the memory of each.

A parser that a record crashes, or sends into a long computation, costs that record only.
"""

from __future__ import annotations

import json
import math
import mimetypes
import pickle
import resource
import time
from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path

from wikigr.errors import BuildError, RecordError, SourceError
from wikigr.ingest.engines.engine import Parsed, parse_record
from wikigr.ingest.engines.items import decode_items, encode_items
from wikigr.sandbox.child import Channel
from wikigr.sandbox.process import (
    ProcessLimits,
    SandboxedProcess,
    SandboxError,
    SandboxStartError,
    library_paths,
)
from wikigr.sources.article import FileSource, Record, Shared, Source, SourceItem
from wikigr.sources.blocks import Block, BlockSource

# Seconds of processor time for one record, and bytes of address space for the process.
RECORD_CPU_SECONDS = 60
ADDRESS_SPACE = 4 << 30
# Seconds until a process is stopped that sends no message, however busy the machine is.
_SILENCE_SECONDS = 20.0 * RECORD_CPU_SECONDS
_MESSAGE_BYTES = 1 << 30
# The processor time of one process for all records.
_TOTAL_CPU_SECONDS = 1 << 30

# What the process gets: a block, which it reads itself, or records.
Part = Block | Sequence[Record]


class ParserProcess:
    """Parses parts of ``source``.

    The process starts with the first part, and again after a record that it did not survive.
    """

    def __init__(self, source: Source) -> None:
        self._pickled = pickle.dumps(source, protocol=5)
        files = [source.path.resolve()] if isinstance(source, FileSource) else []
        # openpyxl reads the system's table of media types.
        readable = [*library_paths(), *map(Path, mimetypes.knownfiles), *files]
        self._limits = ProcessLimits(readable, ADDRESS_SPACE, _TOTAL_CPU_SECONDS, _MESSAGE_BYTES)
        self._process: SandboxedProcess | None = None
        self._sent: dict[int, Shared] = {}
        self._stopped = False

    def parse(self, part: Part) -> list[Parsed]:
        """Return the parsed records of ``part``; one that the parser does not survive gives a ``RecordError``.

        Raises ``SourceError`` for an unreadable block, and ``BuildError`` if the process cannot start.
        """
        parsed: list[Parsed] = []
        while not self._parse_rest(part, parsed):
            pass
        return parsed

    def stop(self) -> None:
        """End the process while another thread is in ``parse``, which raises ``BuildError``."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None
            self._sent = {}

    def _parse_rest(self, part: Part, parsed: list[Parsed]) -> bool:
        """Append to ``parsed`` the records of ``part`` that are missing there; return whether all are there."""
        where = None
        try:
            process = self._process = self._process or self._start()
            self._check_stopped()
            process.send_bytes(self._message(part, len(parsed)), _deadline())
            while (message := process.receive(_deadline())) is not None:
                if "problem" in message:
                    raise SourceError(message["problem"], hint=message["hint"])
                if "record" in message:
                    where = message["record"]
                else:
                    parsed.append((where or "", decode_items(message["items"])))
                    where = None
        except SandboxStartError as error:
            raise BuildError(
                f"The parser process {error.message}.", hint="Parse in the process of the build with --jobs 0."
            ) from error
        except SandboxError as error:
            self.close()
            self._check_stopped()
            if where is None:
                raise BuildError(f"The parser process {error.message} between two records.") from error
            parsed.append((where, RecordError(where, f"the parser {error.message}")))
            return False
        return True

    def _check_stopped(self) -> None:
        if self._stopped:
            self.close()
            raise BuildError("The parsing was stopped.")

    def _message(self, part: Part, skip: int) -> bytes:
        """Return ``part``, and what its records share as far as the process does not have it yet."""
        stream = BytesIO()
        pickler = _Pickler(stream, self._sent)
        pickler.dump(part)
        return pickle.dumps((pickler.new, stream.getvalue(), skip), protocol=5)

    def _start(self) -> SandboxedProcess:
        limits = {"record_cpu_seconds": RECORD_CPU_SECONDS}
        process = SandboxedProcess("wikigr.ingest.engines.parser_process:serve", limits, self._limits)
        process.send_bytes(self._pickled, _deadline())
        return process


class _Pickler(pickle.Pickler):
    """Replaces objects that records share by their ids; those that are not in ``sent`` are in ``new`` afterwards."""

    def __init__(self, stream: BytesIO, sent: dict[int, Shared]) -> None:
        super().__init__(stream, protocol=5)
        self._sent = sent
        self.new: dict[int, Shared] = {}

    def persistent_id(self, obj: object) -> int | None:
        if not isinstance(obj, Shared):
            return None
        if id(obj) not in self._sent:
            # Kept, so that no other object gets the same id.
            self._sent[id(obj)] = self.new[id(obj)] = obj
        return id(obj)


class _Unpickler(pickle.Unpickler):
    """Reads what ``_Pickler`` wrote."""

    def __init__(self, data: bytes, shared: dict[int, Shared]) -> None:
        super().__init__(BytesIO(data))
        self._shared = shared

    def persistent_load(self, pid: int) -> Shared:
        return self._shared[pid]


def _deadline() -> float:
    return time.monotonic() + _SILENCE_SECONDS


def serve(channel: Channel, *, record_cpu_seconds: int) -> None:
    """Parse parts until the parent closes the channel: the child's side of ``ParserProcess``."""
    source = pickle.loads(channel.receive_bytes())  # noqa: S301 (the build pickled it)
    shared: dict[int, Shared] = {}
    while True:
        new, pickled, skip = pickle.loads(channel.receive_bytes())  # noqa: S301
        shared |= new
        part = _Unpickler(pickled, shared).load()
        try:
            for record in islice(_records(source, part), skip, None):
                channel.send({"record": record.where})
                # The kernel ends the process at the soft limit, even in a library that does not return to Python.
                seconds = math.ceil(time.process_time()) + record_cpu_seconds
                _, hard = resource.getrlimit(resource.RLIMIT_CPU)
                resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, hard) if hard >= 0 else seconds, hard))
                # As ASCII, because ``send`` would replace lone surrogates.
                channel.send_bytes(json.dumps({"items": encode_items(_parse(source, record))}).encode())
        except SourceError as error:
            channel.send({"problem": error.message, "hint": error.hint})
        else:
            channel.send(None)


def _records(source: Source, part: Part) -> Iterable[Record]:
    if not isinstance(part, Block):
        return part
    if not isinstance(source, BlockSource):
        raise TypeError(f"{type(source).__name__} has no blocks")
    return source.read_block(part)


def _parse(source: Source, record: Record) -> list[SourceItem] | RecordError:
    try:
        return parse_record(source, record)[1]
    except MemoryError:
        return RecordError(record.where, f"parsing it takes more than {ADDRESS_SPACE >> 30} GB of memory")
