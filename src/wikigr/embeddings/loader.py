"""Open an encoder by name, with the backend that suits the purpose, or by its documented interface."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self, get_args

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.models import find_prepared
from wikigr.errors import UsageError

__all__ = ["DEFAULT_MODEL", "Backend", "EmbeddingGenerator", "PrefixedEncoder", "Purpose", "open_encoder", "prefix_of"]

Backend = Literal["onnx", "sentence-transformers"]
Purpose = Literal["query", "queries", "bulk"]


def open_encoder(
    model_id: str | Path = DEFAULT_MODEL,
    *,
    backend: Backend = "onnx",
    purpose: Purpose = "query",
    threads: int | None = None,
) -> Embedder:
    """Open the encoder ``model_id``: an id, a short name, a model folder or a pack's ``encoder`` folder.

    The purpose ``query`` minimizes the time to the first vector. ``queries`` is for many texts, one at a time; the
    vector of a text is then bitwise independent of earlier texts. ``bulk`` is for many texts at once. The backend
    ``onnx`` runs a prepared encoder; ``sentence-transformers`` (extra ``models``) runs other architectures. Encoders of
    the E5 family get their prefixes: ``passage: `` for ``bulk``, otherwise ``query: ``. ``threads`` is the number of
    cores for ONNX Runtime; the default is all.

    Raises ``ModelError`` if the encoder is not prepared (``wikigr model prepare``) or is damaged, or if the backend is
    not installed, and ``UsageError`` for an unknown backend or purpose.
    """
    if backend not in get_args(Backend):
        raise UsageError(f"Unknown backend {backend!r}; choose from {', '.join(get_args(Backend))}.")
    if purpose not in get_args(Purpose):
        raise UsageError(f"Unknown purpose {purpose!r}; choose from {', '.join(get_args(Purpose))}.")
    if backend == "sentence-transformers":
        from wikigr.embeddings.sentence_transformers import SentenceTransformersEncoder

        return _with_prefix(SentenceTransformersEncoder(str(model_id)), purpose)
    prepared = find_prepared(str(model_id))
    from wikigr.embeddings.onnx import OnnxEncoder

    encoder = OnnxEncoder(prepared, packed=purpose != "query", threads=threads)
    return _with_prefix(encoder, purpose)


def _with_prefix(encoder: Embedder, purpose: Purpose) -> Embedder:
    prefix = prefix_of(encoder.identity.model_id, is_passage=purpose == "bulk")
    return PrefixedEncoder(encoder, prefix) if prefix else encoder


_E5 = re.compile(r"(?:.*/)?(?:multilingual-)?e5-(?:small|base|large)(?:-v2)?")


def prefix_of(model_id: str, *, is_passage: bool) -> str:
    """Return what precedes a passage, or a question, for the encoder ``model_id``; ``""`` for most encoders."""
    if _E5.fullmatch(model_id) is None:
        return ""
    return "passage: " if is_passage else "query: "


class PrefixedEncoder:
    """An encoder that puts ``prefix`` before every text."""

    def __init__(self, encoder: Embedder, prefix: str) -> None:
        self._encoder = encoder
        self._prefix = prefix

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts`` with the prefix; see ``Embedder``."""
        return self._encoder.encode([self._prefix + text for text in texts])


class EmbeddingGenerator:
    """Embeds questions and texts with one encoder.

    ``model_name`` is a model id, a short name such as ``all-MiniLM-L6-v2``, or a folder. ``backend`` and the errors are
    those of ``open_encoder``. ``dimension`` is the length of a vector.
    """

    def __init__(self, model_name: str = DEFAULT_MODEL, *, backend: Backend = "onnx") -> None:
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
