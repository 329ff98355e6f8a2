"""A pack with a cache, so that several profiles encode and search the same question only once."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.index.candidate import Hit
from wikigr.pack.open import Pack

# The size of each cache. A run asks its questions in order, so old entries are not needed again.
_MAX_ENTRIES = 4_096


Value = TypeVar("Value")


class _Cache(Generic[Value]):
    """Results by key. ``saved`` is the time in seconds that the cached results took the first time."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[Value, float]] = {}
        self.saved = 0.0

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        if key in self._entries:
            self.saved += self._entries[key][1]
        else:
            if len(self._entries) >= _MAX_ENTRIES:
                self._entries.clear()
            begun = time.perf_counter()
            made = make()
            self._entries[key] = made, time.perf_counter() - begun
        return self._entries[key][0]


class _CachingEncoder:
    """An encoder that encodes each text once."""

    def __init__(self, encoder: Embedder, vectors: _Cache[Vectors]) -> None:
        self._encoder = encoder
        self._vectors = vectors

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        # Texts are encoded one at a time, because the last digits of a vector depend on the rest of its batch.
        if not texts:
            return self._encoder.encode([])
        return np.stack([self._vectors.get(text, partial(self._encode_one, text)) for text in texts])

    def _encode_one(self, text: str) -> Vectors:
        return self._encoder.encode([text])[0]


class CachedPack(Pack):
    """A read-only ``Pack`` that caches vectors and hits. The pack must not change while it is open.

    Its clock adds the time that cached results took the first time, so the timings of a profile do not depend on the
    profiles that asked before it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Set before the base class opens the pack, which may search.
        self._vectors: _Cache[Vectors] = _Cache()
        self._hits: _Cache[list[Hit]] = _Cache()
        super().__init__(*arguments, purpose="queries", **options)

    @property
    def encoder(self) -> Embedder:
        return _CachingEncoder(super().encoder, self._vectors)

    def clock(self) -> float:
        return super().clock() + self._vectors.saved + self._hits.saved

    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        search = super().nearest
        return self._hits.get((query.tobytes(), limit, exact), lambda: search(query, limit, exact=exact))
