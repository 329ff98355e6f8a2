"""The engine of one machine: parsing in several processes, everything else in this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING

from wikigr.embeddings.batching import available_cores
from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.ingest.embedding import encode_texts
from wikigr.ingest.engines.engine import CHUNK, PARSED_SLOWLY, Parsed, parse_records
from wikigr.ingest.engines.parser_process import ParserProcess, Part
from wikigr.ingest.mentions import find_targets
from wikigr.sources.article import Source
from wikigr.sources.blocks import BlockSource, skip_records

if TYPE_CHECKING:
    from wikigr.ingest.mentions import NameMatcher

# Texts encoded between two reports of progress, for each core: about a second of work.
_TEXTS_PER_CORE = 16


class LocalEngine:
    """Runs all stages on this machine.

    ``jobs`` is the number of parser processes; 0 parses in this process, without their limits. Formats that are
    cheap to parse never need one.
    """

    def __init__(self, jobs: int = 0) -> None:
        self._jobs = jobs

    def parse(self, source: Source, skip: int) -> Iterator[Parsed]:
        if self._jobs == 0 or source.format not in PARSED_SLOWLY:
            return parse_records(source, islice(source.records(), skip, None))
        parts, skip = _parts(source, skip)
        return islice(_parse_in_processes(source, parts, self._jobs), skip, None)

    def find_mentions(
        self, matcher: NameMatcher, articles: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, list[int]]]:
        return ((number, find_targets(matcher, number, content)) for number, content in articles)

    def encode(self, encoder: Embedder, texts: Iterable[tuple[bytes, str]]) -> Iterator[tuple[list[bytes], Vectors]]:
        remaining = iter(texts)
        while batch := list(islice(remaining, _TEXTS_PER_CORE * available_cores())):
            yield [key for key, _ in batch], encode_texts(encoder, [text for _, text in batch])

    def discard(self) -> None:
        pass


def _parts(source: Source, skip: int) -> tuple[Iterable[Part], int]:
    """Return the parts of ``source`` after the first ``skip`` records, and how many records of the first to skip."""
    if isinstance(source, BlockSource) and (blocks := source.blocks()):
        return skip_records(blocks, skip)
    records = islice(source.records(), skip, None)
    return iter(lambda: list(islice(records, CHUNK)), []), 0


def _parse_in_processes(source: Source, parts: Iterable[Part], jobs: int) -> Iterator[Parsed]:
    """Parse with ``jobs`` processes, one for each thread; the order is that of the parts."""
    idle: SimpleQueue[ParserProcess] = SimpleQueue()
    processes = [ParserProcess(source) for _ in range(jobs)]
    for process in processes:
        idle.put(process)

    def parse(part: Part) -> list[Parsed]:
        process = idle.get()
        try:
            return process.parse(part)
        finally:
            idle.put(process)

    # The window bounds memory.
    window: deque[Future[list[Parsed]]] = deque()
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="parser")
    try:
        for part in parts:
            window.append(pool.submit(parse, part))
            if len(window) >= 4 * jobs:
                yield from window.popleft().result()
        while window:
            yield from window.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.stop()
        pool.shutdown()
        for process in processes:
            process.close()
