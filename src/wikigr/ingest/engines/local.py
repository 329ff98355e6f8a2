"""The engine of one machine: parsing in several processes, everything else in this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.embeddings.session import available_cores
from wikigr.ingest.embedding import encode_texts
from wikigr.ingest.engines.engine import CHUNK, PARSED_SLOWLY, Parsed, parse_records
from wikigr.ingest.engines.items import Result
from wikigr.ingest.engines.parser_process import ParserProcess, PickledRecords, Task
from wikigr.ingest.mentions import find_targets
from wikigr.sources.article import Record, ScannedSource, Source

if TYPE_CHECKING:
    from wikigr.ingest.mentions import NameMatcher

# Texts encoded between two reports of progress, for each core: about two seconds of work.
_TEXTS_PER_CORE = 64

# Parts that wait for a process or to be staged, for each process. Their records have at most so many bytes together,
# or one more part does: a file has up to 64 MiB.
_PARTS_PER_JOB = 4
MAX_AHEAD_BYTES = 64 << 20
_PART_BYTES = 4 << 20


class LocalEngine:
    """Runs all stages on this machine.

    ``jobs`` is the number of parser processes; 0 parses in this process, without their limits. Formats that are
    cheap to parse never need one.
    """

    def __init__(self, jobs: int = 0) -> None:
        self._jobs = jobs

    def parse(self, source: Source) -> Iterator[Parsed]:
        if self._jobs == 0 or source.format not in PARSED_SLOWLY:
            return parse_records(source, source.records())
        return _parse_in_processes(source, self._jobs)

    def find_mentions(
        self, matcher: NameMatcher, articles: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, list[int]]]:
        return ((number, find_targets(matcher, number, content)) for number, content in articles)

    def encode(self, encoder: Embedder, texts: Iterable[tuple[bytes, str]]) -> Iterator[tuple[list[bytes], Vectors]]:
        remaining = iter(texts)
        while batch := list(islice(remaining, _TEXTS_PER_CORE * available_cores())):
            yield [key for key, _ in batch], encode_texts(encoder, [text for _, text in batch])


class _Parsers:
    """``jobs`` parser processes, one for each thread; ends them at the end of the ``with`` statement."""

    def __init__(self, source: Source, jobs: int) -> None:
        self._jobs = jobs
        self._processes = [ParserProcess(source) for _ in range(jobs)]
        self._idle: SimpleQueue[ParserProcess] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="parser")

    def run(self, task: Task, parts: Iterable[PickledRecords]) -> Iterator[tuple[str, Any]]:
        """Yield the results in the order of ``parts``, of which only a limited number and size is read ahead."""
        window: deque[tuple[int, Future[list[tuple[str, Result]]]]] = deque()
        waiting = 0
        for part in parts:
            window.append((part.size, self._pool.submit(self._run, task, part)))
            waiting += part.size
            while window and (len(window) >= _PARTS_PER_JOB * self._jobs or waiting > MAX_AHEAD_BYTES):
                size, future = window.popleft()
                yield from future.result()
                waiting -= size
        for _, future in window:
            yield from future.result()

    def _run(self, task: Task, part: PickledRecords) -> list[tuple[str, Result]]:
        process = self._idle.get()
        try:
            return process.run(task, part)
        finally:
            self._idle.put(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.stop()
        self._pool.shutdown()
        for process in self._processes:
            process.close()


def _parse_in_processes(source: Source, jobs: int) -> Iterator[Parsed]:
    with _Parsers(source, jobs) as parsers:
        if isinstance(source, ScannedSource):
            records = source.records(parsers.run("scan", _pickled(source.documents())))
        else:
            records = source.records()
        yield from parsers.run("parse", _pickled(records))


def _pickled(records: Iterable[Record]) -> Iterator[PickledRecords]:
    """Yield ``records`` in parts of ``CHUNK``, or of fewer large ones."""
    part = PickledRecords()
    for record in records:
        part.add(record)
        if len(part) == CHUNK or part.size >= _PART_BYTES:
            yield part
            part = PickledRecords()
    if len(part):
        yield part
