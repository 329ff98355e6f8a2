"""Encoders: texts to unit vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wikigr.embeddings.generator import EmbeddingGenerator

__all__ = ["EmbeddingGenerator"]


def __getattr__(name: str) -> Any:
    # Loaded on use: this package is imported on the way to every question, numpy and the backends are not light.
    if name == "EmbeddingGenerator":
        from wikigr.embeddings.generator import EmbeddingGenerator

        return EmbeddingGenerator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
