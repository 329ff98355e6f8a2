"""A pack that remembers: several profiles ask the same question, and encode and search it once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.pack.open import Pack
from wikigr.retrieval.candidate import Scored

# Questions and sentences that are kept; a run goes through its questions in turn.
_MOST_TEXTS = 4_096


class _RememberingEncoder:
    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        # One at a time: a text's last digits must not depend on what shared its batch, and so on what was known.
        if len(self._known) + len(texts) > _MOST_TEXTS:
            self._known.clear()
        for text in texts:
            if text not in self._known:
                self._known[text] = self._encoder.encode([text])[0]
        return np.stack([self._known[text] for text in texts]) if len(texts) else self._encoder.encode([])


class CachedPack(Pack):
    """A ``Pack`` that keeps vectors and ranked lists; only for reading, and never while the pack changes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Before the base class, which searches while it opens.
        self._remembering: _RememberingEncoder | None = None
        self._nearest: dict[tuple[bytes, int], list[Scored]] = {}
        super().__init__(*arguments, **options)

    @property
    def encoder(self) -> Embedder:
        if self._remembering is None:
            self._remembering = _RememberingEncoder(super().encoder)
        return self._remembering

    def nearest(self, query: Vectors, limit: int) -> list[Scored]:
        key = (query.tobytes(), limit)
        if key not in self._nearest:
            if len(self._nearest) >= _MOST_TEXTS:
                self._nearest.clear()
            self._nearest[key] = super().nearest(query, limit)
        return self._nearest[key]
