"""What runs in the worker processes of a cluster: the stages' functions, from Parquet file to Parquet file."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.embeddings.embedder import Embedder, EncoderIdentity
from wikigr.errors import ModelError, WikigrError
from wikigr.ingest.embedding import encode_texts
from wikigr.ingest.engines.engine import Parsed, parse_records
from wikigr.ingest.engines.items import decode_items, encode_result
from wikigr.ingest.engines.parts import CHECK, PartStore, output_folder
from wikigr.ingest.mentions import NameMatcher, find_targets
from wikigr.sources.article import Source
from wikigr.sources.blocks import Block, BlockSource

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class BlockParser:
    """Parses one block of the source for each task, and returns the name of its output."""

    store: PartStore
    stage: str
    keys: Sequence[str]
    source: BlockSource
    blocks: Sequence[Block]

    def __call__(self, task: int) -> str:
        import pyarrow as pa

        parsed = list(parse_records(self.source, self.source.read_block(self.blocks[task])))
        table = pa.table(
            {
                "place": pa.array([place for place, _ in parsed], pa.string()),
                "items": pa.array(
                    [json.dumps(encode_result(items), separators=(",", ":")) for _, items in parsed], pa.string()
                ),
            }
        )
        return self.store.write(output_folder(self.stage), self.keys[task], table)


def parsed_records(table: pa.Table) -> list[Parsed]:
    """Return what a ``BlockParser`` wrote."""
    places, items = (table.column(name).to_pylist() for name in ("place", "items"))
    return [(place, decode_items(json.loads(stored), place)) for place, stored in zip(places, items, strict=True)]


def parse_chunk(source: Source, records: Sequence[Any]) -> list[Parsed]:
    """Parse records that the process of the build has read."""
    return list(parse_records(source, records))


@dataclass
class MentionFinder:
    """Finds the mentions in the texts of one part for each task, and returns the name of its output.

    ``matcher`` refers to the pickled matcher.
    """

    store: PartStore
    stage: str
    keys: Sequence[str]
    inputs: Sequence[str]
    matcher: list[Any]
    _loaded: NameMatcher | None = field(default=None, init=False)

    def __call__(self, task: int) -> str:
        import pyarrow as pa
        import ray

        if self._loaded is None:
            # From the process of the build.
            self._loaded = pickle.loads(ray.get(self.matcher[0]))  # noqa: S301
        matcher: NameMatcher = self._loaded  # type: ignore[assignment]
        table = self.store.read(self.inputs[task])
        numbers, texts = (table.column(name).to_pylist() for name in ("article", "text"))
        found = [find_targets(matcher, number, text) for number, text in zip(numbers, texts, strict=True)]
        targets = pa.array(found, pa.list_(pa.int64()))
        table = pa.table({"article": pa.array(numbers, pa.int64()), "targets": targets})
        return self.store.write(output_folder(self.stage), self.keys[task], table)


@dataclass(frozen=True)
class WorkerEncoder:
    """How a worker opens its encoder: the prepared model with one thread, or torch in bfloat16 where it has a GPU."""

    model: str
    identity: EncoderIdentity
    on_gpu: bool

    def open(self) -> Embedder:
        """Open the encoder; raises ``ModelError`` if it is missing here or differs from that of the build."""
        encoder: Embedder
        if self.on_gpu:
            from wikigr.embeddings.sentence_transformers import SentenceTransformersEncoder

            encoder = SentenceTransformersEncoder(self.model, "cuda", in_bfloat16=True)
        else:
            from wikigr.embeddings.loader import open_encoder

            encoder = open_encoder(self.model, purpose="bulk", threads=1)
        if encoder.identity != self.identity:
            raise ModelError(
                f"The encoder {self.model} has other weights on this machine than on the machine of the build.",
                hint=f"Prepare the same model on all machines: wikigr model prepare {self.model}",
            )
        return encoder


@dataclass
class PartEncoder:
    """Encodes the texts of one part for each task, and returns the name of its output.

    The encoder forms batches of similar length from the texts.
    """

    store: PartStore
    stage: str
    keys: Sequence[str]
    inputs: Sequence[str]
    encoder: WorkerEncoder
    _opened: Embedder | None = field(default=None, init=False)

    def __call__(self, task: int) -> str:
        import pyarrow as pa

        if self._opened is None:
            self._opened = self.encoder.open()
        table = self.store.read(self.inputs[task])
        try:
            vectors = encode_texts(self._opened, table.column("text").to_pylist())
        except (RuntimeError, MemoryError) as error:  # torch reports a full GPU as a RuntimeError
            raise ModelError(
                f"The encoder {self.encoder.model} failed: {' '.join(str(error).split())[:300]}"
            ) from error
        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), self.encoder.identity.dimension)
        encoded = pa.table({"key": table.column("key"), "vector": values})
        return self.store.write(output_folder(self.stage), self.keys[task], encoded)


@dataclass(frozen=True)
class NodeCheck:
    """Checks that a node sees the staging path, the source (if ``source`` is not empty) and the encoder."""

    store: PartStore
    token: str
    encoder: WorkerEncoder
    source: str
    source_size: int

    def __call__(self) -> tuple[str, str] | None:
        import os
        import socket

        shared = f"{self.store.location} must be one folder that all nodes share, or a URI; --staging-path sets it."
        try:
            known = self.store.names(CHECK)
            if self.token not in known:
                return f"sees another folder at the staging path {self.store.location}", shared
            own = f"{socket.gethostname()}.{os.getpid()}".replace("-", ".")
            self.store.write(CHECK, own, self.store.read(known[self.token]))
        except WikigrError as error:
            return f"cannot use the staging path: {error.message}", shared
        if self.source:
            try:
                size = Path(self.source).stat().st_size
            except OSError as error:
                return (
                    f"cannot read the source {self.source}: {error.strerror}",
                    "Put the source into a folder that all nodes share, under the same path.",
                )
            if size != self.source_size:
                return (
                    f"sees another file at {self.source}: it has {size:,} bytes instead of {self.source_size:,}",
                    "Put the source into a folder that all nodes share, under the same path.",
                )
        if self.encoder.on_gpu:
            return None  # the node of this check may have no GPU; the first worker on one opens the model
        try:
            self.encoder.open()
        except ModelError as error:
            message = error.message.rstrip(".")
            return f"cannot open the encoder: {message}", f"On every node: wikigr model prepare {self.encoder.model}"
        return None
