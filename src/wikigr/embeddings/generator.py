"""``EmbeddingGenerator``, the documented interface of the encoders (reference/multidoc-synthesizer.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.embeddings.loader import DEFAULT_MODEL, Backend, open_encoder


class EmbeddingGenerator:
    """Embeds questions and texts with one encoder.

    ``model_name`` is a model id, a short name such as ``all-MiniLM-L6-v2``, or a folder. ``backend`` and the errors are
    those of ``open_encoder``. ``dimension`` is the length of a vector.
    """

    def __init__(self, model_name: str = DEFAULT_MODEL, *, backend: Backend = "auto") -> None:
        self._use(open_encoder(model_name, backend=backend, purpose="query"))

    @classmethod
    def of(cls, encoder: Embedder) -> Self:
        """Return a generator for an encoder that is already open."""
        generator = cls.__new__(cls)
        generator._use(encoder)
        return generator

    def _use(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self.model_name = encoder.identity.model_id
        self.dimension = encoder.identity.dimension

    def generate(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of ``texts``: float32 of shape ``(len(texts), dimension)``, rows of L2 norm 1."""
        if isinstance(texts, str):
            raise TypeError("generate takes a list of texts; use embed_query for a single text")
        return self._encoder.encode(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the embedding of one text: float32 of shape ``(dimension,)``, L2 norm 1."""
        vector: Vectors = self._encoder.encode([text])[0]
        return vector
