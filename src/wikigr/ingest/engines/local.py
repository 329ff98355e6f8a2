"""The engine of one machine: parsing in several processes, everything else in this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TYPE_CHECKING, Any

from wikigr.embeddings.batching import available_cores
from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.errors import BuildError, SourceError
from wikigr.ingest.embedding import encode_texts
from wikigr.ingest.engines.engine import CHUNK, PARSED_SLOWLY, Parsed, parse_records
from wikigr.ingest.mentions import find_targets
from wikigr.isolation import child_processes, die_with_parent
from wikigr.sources.article import Source
from wikigr.sources.blocks import Block, BlockSource, skip_records

if TYPE_CHECKING:
    from wikigr.ingest.mentions import NameMatcher

# Texts encoded between two reports of progress, for each core: about a second of work.
_TEXTS_PER_CORE = 16

# What a parsing process gets: a block, which it reads itself, or records.
_Part = Block | list[Any]


class LocalEngine:
    """Runs all stages on this machine. ``jobs`` is the number of parsing processes."""

    def __init__(self, jobs: int = 1) -> None:
        self._jobs = jobs

    def parse(self, source: Source, skip: int) -> Iterator[Parsed]:
        if self._jobs <= 1 or source.format not in PARSED_SLOWLY:
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


def _parts(source: Source, skip: int) -> tuple[Iterable[_Part], int]:
    """Return the parts of ``source`` after the first ``skip`` records, and how many records of the first to skip."""
    if isinstance(source, BlockSource) and (blocks := source.blocks()):
        return skip_records(blocks, skip)
    records = islice(source.records(), skip, None)
    return iter(lambda: list(islice(records, CHUNK)), []), 0


def _parse_in_processes(source: Source, parts: Iterable[_Part], jobs: int) -> Iterator[Parsed]:
    # The window bounds memory.
    with ProcessPoolExecutor(jobs, mp_context=child_processes(), initializer=_begin_worker, initargs=(source,)) as pool:
        window: deque[Future[list[Parsed]]] = deque()
        try:
            for part in parts:
                window.append(pool.submit(_parse_part, part))
                if len(window) >= 4 * jobs:
                    yield from window.popleft().result()
            while window:
                yield from window.popleft().result()
        except BrokenProcessPool as error:
            raise BuildError(
                "A parsing process was killed, probably because memory ran out.",
                hint="Run the same command again with fewer --jobs: it resumes where it stopped.",
            ) from error
        finally:
            for future in window:
                future.cancel()


_source: Source | None = None


def _begin_worker(source: Source) -> None:
    global _source
    _source = source
    die_with_parent()


def _parse_part(part: _Part) -> list[Parsed]:
    if _source is None:
        raise SourceError("The parsing process has no source.")
    records = _source.read_block(part) if isinstance(part, Block) and isinstance(_source, BlockSource) else part
    return list(parse_records(_source, records))
