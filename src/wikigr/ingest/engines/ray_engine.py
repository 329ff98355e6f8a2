"""The engine of a Ray cluster: its workers parse, find mentions and encode, and stage their results as Parquet files.

A stage divides its input into parts. Each part has a key made of its content, and its output is a file with that key: a
resumed build therefore computes only what is missing, and never uses the output of another input.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wikigr import __version__
from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.ingest.engines.cluster import Cluster, Worker
from wikigr.ingest.engines.engine import CHUNK, PARSED_SLOWLY, Parsed, parse_records
from wikigr.ingest.engines.parts import CHECK, PartStore, input_folder, output_folder
from wikigr.ingest.engines.workers import (
    BlockParser,
    MentionFinder,
    NodeCheck,
    PartEncoder,
    WorkerEncoder,
    parse_chunk,
    parsed_records,
)
from wikigr.progress import Progress
from wikigr.sources.article import Source
from wikigr.sources.blocks import Block, BlockSource, merge_blocks, skip_records

if TYPE_CHECKING:
    import pyarrow as pa

    from wikigr.ingest.mentions import NameMatcher

# A part of a source is large enough that starting to read it costs little, and there are enough parts to keep workers
# busy. Compressed text takes up to ten times as much memory.
_MIN_BYTES_PER_PART = 1 << 20
_MAX_BYTES_PER_PART = 8 << 20
_PARTS = 64

# Texts in a part to encode: some seconds of work for a core, and less than a second for a GPU.
_TEXTS_PER_CPU_PART = 512
_TEXTS_PER_GPU_PART = 8_192

# Characters of the articles in a part, in which mentions are found: about half a second of work.
_CHARACTERS_PER_PART = 2_000_000

_READING, _MENTIONS, _EMBEDDING = "reading", "mentions", "embedding"

_T = TypeVar("_T")


class RayEngine:
    """Runs the costly stages on ``cluster`` and stages their results in ``store``.

    ``model`` is the name with which the workers open ``encoder``, the encoder of the build.
    """

    def __init__(self, cluster: Cluster, store: PartStore, model: str, encoder: Embedder, progress: Progress) -> None:
        self._cluster = cluster
        self._store = store
        self._encoder = WorkerEncoder(model, encoder.identity, on_gpu=cluster.gpus > 0)
        self._progress = progress
        self._checked = False

    def parse(self, source: Source, skip: int) -> Iterator[Parsed]:
        """Yield the parsed records of ``source``.

        Workers read the blocks of a source that has blocks. Otherwise this process reads the records, and workers parse
        them if that costs more than sending them.
        """
        if isinstance(source, BlockSource) and (blocks := source.blocks()):
            yield from self._parse_blocks(source, blocks, skip)
            return
        records = islice(source.records(), skip, None)
        if source.format in PARSED_SLOWLY:
            self._check_nodes()
            yield from self._cluster.map(parse_chunk, source, _chunks(records, CHUNK))
        else:
            yield from parse_records(source, records)

    def find_mentions(
        self, matcher: NameMatcher, articles: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[int, list[int]]]:
        import pyarrow as pa

        self._check_nodes()
        pickled = pickle.dumps(matcher, protocol=5)
        names = _key(pickled).encode()
        parts = _Parts(self._store, _MENTIONS, self._progress)
        for batch in _by_characters(articles):
            numbers, texts = zip(*batch, strict=True)
            key = _key(names, *(value for number, text in batch for value in (b"%d" % number, text.encode())))
            columns = {"article": pa.array(numbers, pa.int64()), "text": pa.array(texts, pa.string())}
            parts.add(key, f"Finding the mentions in the articles {numbers[0]:,} to {numbers[-1]:,}", columns)
        shared = [self._cluster.share(pickled)] if parts.missing else []
        worker = MentionFinder(self._store, _MENTIONS, parts.keys, parts.inputs, shared)
        for table in self._outputs(worker, parts):
            yield from zip(table.column("article").to_pylist(), table.column("targets").to_pylist(), strict=True)

    def encode(self, encoder: Embedder, texts: Iterable[tuple[bytes, str]]) -> Iterator[tuple[list[bytes], Vectors]]:
        import pyarrow as pa

        self._check_nodes()
        setup = repr((asdict(encoder.identity), self._encoder.on_gpu)).encode()
        parts = _Parts(self._store, _EMBEDDING, self._progress)
        for batch in _chunks(texts, _TEXTS_PER_GPU_PART if self._encoder.on_gpu else _TEXTS_PER_CPU_PART):
            keys, contents = zip(*batch, strict=True)
            first = contents[0].partition("\n")[0][:60]
            columns = {"key": pa.array(keys, pa.binary()), "text": pa.array(contents, pa.string())}
            parts.add(_key(setup, *keys), f"Encoding {len(keys):,} sections, the first of {first!r},", columns)
        worker = PartEncoder(self._store, _EMBEDDING, parts.keys, parts.inputs, self._encoder)
        for table in self._outputs(worker, parts, gpus=1 if self._encoder.on_gpu else 0):
            vectors = table.column("vector").combine_chunks().flatten().to_numpy()
            yield table.column("key").to_pylist(), vectors.reshape(-1, encoder.identity.dimension)

    def discard(self) -> None:
        self._store.remove()

    def _parse_blocks(self, source: BlockSource, blocks: Sequence[Block], skip: int) -> Iterator[Parsed]:
        path = blocks[0].path
        state = Path(path).stat()
        self._check_nodes(path, state.st_size)
        # Merged first, because a resumed build must find the same parts.
        size = max(_MIN_BYTES_PER_PART, min(_MAX_BYTES_PER_PART, state.st_size // _PARTS))
        blocks, skip = skip_records(merge_blocks(blocks, size), skip)
        parts = _Parts(self._store, _READING, self._progress)
        for block in blocks:
            name = f"Reading the bytes {block.start:,} to {block.end:,} of {path}"
            parts.add(_key(repr((__version__, state.st_size, state.st_mtime_ns, block)).encode()), name)
        worker = BlockParser(self._store, _READING, parts.keys, source, blocks)
        # In the order of the source, because the first of two records with one id counts.
        ready: set[int] = set()
        following = 0
        for task in self._finished(worker, parts):
            ready.add(task)
            while following in ready:
                yield from parsed_records(parts.output(following))[skip:]
                skip = 0
                following += 1

    def _outputs(self, worker: Worker, parts: _Parts, gpus: float = 0) -> Iterator[pa.Table]:
        """Yield the output of each part, in any order."""
        return (parts.output(task) for task in self._finished(worker, parts, gpus))

    def _finished(self, worker: Worker, parts: _Parts, gpus: float = 0) -> Iterator[int]:
        """Yield the number of each part as soon as its output exists; first those of an interrupted build."""
        yield from sorted(set(range(len(parts.keys))) - set(parts.missing))
        done = self._cluster.run(
            worker, parts.missing, name=parts.names.__getitem__, note=self._progress.note, gpus=gpus
        )
        for task, output in done:
            parts.outputs[task] = output
            yield task

    def _check_nodes(self, source: str = "", source_size: int = 0) -> None:
        """Check, once, that every node can do the work; raises ``ClusterError``."""
        if self._checked:
            return
        import pyarrow as pa

        token = secrets.token_hex()
        self._store.write(CHECK, token, pa.table({"token": [token]}))
        self._cluster.check(NodeCheck(self._store, token, self._encoder, source, source_size))
        self._checked = True


class _Parts:
    """The parts of one stage: their keys, their names for messages, and which outputs are ``missing``.

    ``inputs`` and ``outputs`` are the names of their files in ``store``.
    """

    def __init__(self, store: PartStore, stage: str, progress: Progress) -> None:
        self._store = store
        self._stage = stage
        self._progress = progress
        self._known = store.names(output_folder(stage))
        self.keys: list[str] = []
        self.names: list[str] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.missing: list[int] = []

    def add(self, key: str, name: str, columns: Mapping[str, Any] | None = None) -> None:
        """Add a part; its input, ``columns``, is written unless its output exists."""
        output, written = self._known.get(key, ""), ""
        if output and not self._store.is_intact(output):
            self._progress.note(f"The file {output} of the interrupted build is damaged, so it is made again.")
            self._store.remove_file(output)
            output = ""
        if not output:
            self.missing.append(len(self.keys))
            if columns is not None:
                import pyarrow as pa

                written = self._store.write(input_folder(self._stage), key, pa.table(columns))
        self.keys.append(key)
        self.names.append(name)
        self.inputs.append(written)
        self.outputs.append(output)

    def output(self, task: int) -> pa.Table:
        return self._store.read(self.outputs[task])


def _key(*values: bytes) -> str:
    """Return a key for ``values``; other values, or the same ones divided otherwise, have another key."""
    digest = blake2b(digest_size=16)
    for value in values:
        digest.update(b"%d:" % len(value))
        digest.update(value)
    return digest.hexdigest()


def _chunks(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk


def _by_characters(articles: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    characters = 0
    for article in articles:
        batch.append(article)
        characters += len(article[1])
        if characters >= _CHARACTERS_PER_PART:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
