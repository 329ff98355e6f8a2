"""The prefixes that encoders of the E5 family were trained with (Wang et al. 2022, arXiv:2212.03533)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors

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
