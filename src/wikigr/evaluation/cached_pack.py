"""A pack with a cache, so that several profiles encode and search the same question only once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.index.candidate import Hit
from wikigr.pack.open import Pack

# The size of each cache. A run asks its questions in order, so old entries are not needed again.
_MAX_TEXTS = 4_096


class _CachingEncoder:
    """An encoder with a cache. ``saved`` is the time in seconds that cached texts took the first time."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self._cache: dict[str, tuple[Vectors, float]] = {}
        self.saved = 0.0

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        # Texts are encoded one at a time, because the last digits of a vector depend on the rest of its batch.
        if len(self._cache) + len(texts) > _MAX_TEXTS:
            self._cache.clear()
        for text in texts:
            if text in self._cache:
                self.saved += self._cache[text][1]
            else:
                begun = time.perf_counter()
                vector = self._encoder.encode([text])[0]
                self._cache[text] = vector, time.perf_counter() - begun
        return np.stack([self._cache[text][0] for text in texts]) if len(texts) else self._encoder.encode([])


class CachedPack(Pack):
    """A read-only ``Pack`` that caches vectors and hits. The pack must not change while it is open.

    Its clock adds the time that cached results took the first time, so the timings of a profile do not depend on the
    profiles that asked before it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Set before the base class opens the pack, which may search.
        self._caching_encoder: _CachingEncoder | None = None
        self._nearest: dict[tuple[bytes, int, bool], tuple[list[Hit], float]] = {}
        self._saved = 0.0
        super().__init__(*arguments, purpose="queries", **options)

    @property
    def encoder(self) -> Embedder:
        if self._caching_encoder is None:
            self._caching_encoder = _CachingEncoder(super().encoder)
        return self._caching_encoder

    def clock(self) -> float:
        encoding = self._caching_encoder.saved if self._caching_encoder else 0.0
        return super().clock() + self._saved + encoding

    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        key = (query.tobytes(), limit, exact)
        if key in self._nearest:
            self._saved += self._nearest[key][1]
        else:
            if len(self._nearest) >= _MAX_TEXTS:
                self._nearest.clear()
            begun = time.perf_counter()
            found = super().nearest(query, limit, exact=exact)
            self._nearest[key] = found, time.perf_counter() - begun
        return self._nearest[key][0]
