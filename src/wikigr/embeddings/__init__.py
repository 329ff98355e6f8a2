"""Encoders, which map texts to unit vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wikigr.embeddings.loader import EmbeddingGenerator

__all__ = ["EmbeddingGenerator"]


def __getattr__(name: str) -> Any:
    # Import on use: every question imports this package, and numpy and the backends are slow to import.
    if name == "EmbeddingGenerator":
        from wikigr.embeddings.loader import EmbeddingGenerator

        return EmbeddingGenerator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
