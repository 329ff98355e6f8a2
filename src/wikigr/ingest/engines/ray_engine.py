"""The engine of a Ray cluster: its workers parse, find mentions and encode, and the build stores what they return."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.errors import ModelError
from wikigr.ingest.embedding import encode_texts
from wikigr.ingest.engines.cluster import Cluster
from wikigr.ingest.engines.engine import CHUNK, PARSED_SLOWLY, Parsed, parse_records
from wikigr.ingest.mentions import find_targets
from wikigr.sources.article import Source

if TYPE_CHECKING:
    from wikigr.ingest.mentions import NameMatcher

# Texts in a part to encode: some seconds of work for a core, and less than a second for a GPU.
_TEXTS_PER_CPU_PART = 512
_TEXTS_PER_GPU_PART = 8_192
# Characters of the articles in a part, in which mentions are found: about half a second of work.
_CHARACTERS_PER_PART = 2_000_000

Article = tuple[int, str]
Texts = list[tuple[bytes, str]]
_T = TypeVar("_T")


class RayEngine:
    """Runs the costly stages on ``cluster``. ``model`` is the name with which the workers open ``encoder``."""

    def __init__(self, cluster: Cluster, model: str, encoder: Embedder) -> None:
        self._cluster = cluster
        self._encoder = WorkerEncoder(model, encoder.identity, on_gpu=cluster.gpus > 0)
        self._checked = False

    def parse(self, source: Source) -> Iterator[Parsed]:
        """Yield the parsed records of ``source``.

        This process reads the records, and workers parse them if that costs more than sending them.
        """
        if source.format in PARSED_SLOWLY:
            self._check_nodes()
            batches = _batches(source.records(), CHUNK)
            named = self._cluster.map(_parse_chunk, source, batches, name=lambda batch: f"Parsing {batch[0].where}")
            return chain.from_iterable(named)
        return parse_records(source, source.records())

    def find_mentions(self, matcher: NameMatcher, articles: Iterable[Article]) -> Iterator[tuple[int, list[int]]]:
        self._check_nodes()
        pickled = pickle.dumps(matcher, protocol=5)
        shared = (blake2b(pickled, digest_size=16).digest(), np.frombuffer(pickled, np.uint8))
        found = self._cluster.map(_find_mentions, shared, _by_characters(articles), name=_name_of_articles)
        return chain.from_iterable(found)

    def encode(self, encoder: Embedder, texts: Iterable[tuple[bytes, str]]) -> Iterator[tuple[list[bytes], Vectors]]:
        self._check_nodes()
        gpus = int(self._encoder.on_gpu)
        batches = _batches(texts, _TEXTS_PER_GPU_PART if gpus else _TEXTS_PER_CPU_PART)
        return self._cluster.map(_encode, self._encoder, batches, name=_name_of_texts, gpus=gpus, salvage=True)

    def _check_nodes(self) -> None:
        """Check, once, that every node can do the work; raises ``ClusterError``."""
        if not self._checked:
            self._cluster.check(NodeCheck(self._encoder))
            self._checked = True


def _name_of_articles(articles: Sequence[Article]) -> str:
    return f"Finding the mentions in the articles {articles[0][0]:,} to {articles[-1][0]:,}"


def _name_of_texts(texts: Texts) -> str:
    first = texts[0][1].partition("\n")[0][:60]
    return f"Encoding {len(texts):,} sections, the first of {first!r},"


def _batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _by_characters(articles: Iterable[Article]) -> Iterator[list[Article]]:
    batch: list[Article] = []
    characters = 0
    for article in articles:
        batch.append(article)
        characters += len(article[1])
        if characters >= _CHARACTERS_PER_PART:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


# What follows runs in the processes of workers.


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


@dataclass(frozen=True)
class NodeCheck:
    """Checks that a node has the encoder."""

    encoder: WorkerEncoder

    def __call__(self) -> tuple[str, str] | None:
        if self.encoder.on_gpu:
            return None  # the node of this check may have no GPU; the first worker on one opens the model
        try:
            self.encoder.open()
        except ModelError as error:
            message = error.message.rstrip(".")
            return f"cannot open the encoder: {message}", f"On every node: wikigr model prepare {self.encoder.model}"
        return None


def _parse_chunk(source: Source, records: Sequence[Any]) -> list[Parsed]:
    return list(parse_records(source, records))


_matchers: dict[bytes, NameMatcher] = {}


def _find_mentions(shared: tuple[bytes, Any], articles: Sequence[Article]) -> list[tuple[int, list[int]]]:
    key, pickled = shared
    if key not in _matchers:
        _matchers.clear()
        _matchers[key] = pickle.loads(pickled)  # noqa: S301 - from the process of the build
    return [(number, find_targets(_matchers[key], number, text)) for number, text in articles]


@lru_cache(maxsize=1)
def _opened(encoder: WorkerEncoder) -> Embedder:
    return encoder.open()


def _encode(encoder: WorkerEncoder, texts: Texts) -> tuple[list[bytes], Vectors]:
    try:
        vectors = encode_texts(_opened(encoder), [text for _, text in texts])
    except (RuntimeError, MemoryError) as error:  # torch reports a full GPU as a RuntimeError
        raise ModelError(f"The encoder {encoder.model} failed: {' '.join(str(error).split())[:300]}") from error
    return [key for key, _ in texts], vectors
