"""A pack with a cache, so that several profiles encode and search the same question only once."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.index.candidate import Hit
from wikigr.pack.open import Pack

# The size of the cache. A run asks its questions in order, so old entries are not needed again.
_MAX_ENTRIES = 8_192


class _Cache:
    """Results by key. ``saved`` is the time in seconds that the cached results took the first time."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[Any, float]] = {}
        self.saved = 0.0

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key in self._entries:
            value, seconds = self._entries[key]
            self.saved += seconds
            return value
        if len(self._entries) >= _MAX_ENTRIES:
            self._entries.clear()
        begun = time.perf_counter()
        value = make()
        self._entries[key] = value, time.perf_counter() - begun
        return value


class _CachingEncoder:
    """An encoder that encodes each text once, and alone: the last digits depend on the rest of a batch."""

    def __init__(self, encoder: Embedder, cache: _Cache) -> None:
        self._encoder, self._cache = encoder, cache

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = [self._cache.get(text, partial(self._encoder.encode, [text])) for text in texts]
        return np.concatenate(vectors) if vectors else self._encoder.encode([])


class CachedPack(Pack):
    """A read-only ``Pack`` that caches vectors and hits. The pack must not change while it is open.

    Its clock adds the time that cached results took the first time, so the timings of a profile do not depend on the
    profiles that asked before it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Set before the base class opens the pack, which may search.
        self._cache = _Cache()
        super().__init__(*arguments, purpose="queries", **options)

    @property
    def encoder(self) -> Embedder:
        return _CachingEncoder(super().encoder, self._cache)

    def clock(self) -> float:
        return super().clock() + self._cache.saved

    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        search = partial(super().nearest, query, limit, exact=exact)
        found: list[Hit] = self._cache.get((query.tobytes(), limit, exact), search)
        return found
