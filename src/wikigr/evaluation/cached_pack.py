"""A pack that remembers: several profiles ask the same question, and encode and search it once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.index.candidate import Hit
from wikigr.pack.open import Pack

# Questions and sentences that are kept; a run goes through its questions in turn.
_MAX_TEXTS = 4_096


class _RememberingEncoder:
    """Encodes a text once; ``spared`` are the seconds that what it knew had taken the first time."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self._known: dict[str, tuple[Vectors, float]] = {}
        self.spared = 0.0

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        # One at a time: a text's last digits must not depend on what shared its batch, and so on what was known.
        if len(self._known) + len(texts) > _MAX_TEXTS:
            self._known.clear()
        for text in texts:
            if text in self._known:
                self.spared += self._known[text][1]
            else:
                begun = time.perf_counter()
                vector = self._encoder.encode([text])[0]
                self._known[text] = vector, time.perf_counter() - begun
        return np.stack([self._known[text][0] for text in texts]) if len(texts) else self._encoder.encode([])


class CachedPack(Pack):
    """A ``Pack`` that keeps vectors and ranked lists; only for reading, and never while the pack changes.

    By its clock, what it remembers takes as long as it did the first time: a profile is as slow as it is alone, and not
    quicker than the one that happened to ask before it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Before the base class, which searches while it opens.
        self._remembering: _RememberingEncoder | None = None
        self._nearest: dict[tuple[bytes, int], tuple[list[Hit], float]] = {}
        self._spared = 0.0
        super().__init__(*arguments, purpose="queries", **options)

    @property
    def encoder(self) -> Embedder:
        if self._remembering is None:
            self._remembering = _RememberingEncoder(super().encoder)
        return self._remembering

    def clock(self) -> float:
        encoding = self._remembering.spared if self._remembering else 0.0
        return super().clock() + self._spared + encoding

    def nearest(self, query: Vectors, limit: int) -> list[Hit]:
        key = (query.tobytes(), limit)
        if key in self._nearest:
            self._spared += self._nearest[key][1]
        else:
            if len(self._nearest) >= _MAX_TEXTS:
                self._nearest.clear()
            begun = time.perf_counter()
            found = super().nearest(query, limit)
            self._nearest[key] = found, time.perf_counter() - begun
        return self._nearest[key][0]
