"""Several encoders as one, for packs that were built with different ones."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from itertools import accumulate

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors


class JoinedEncoder:
    """Encodes a text with each of ``parts``: the vector is theirs, one after the other, and has norm 1."""

    def __init__(self, parts: Sequence[Embedder]) -> None:
        self._parts = parts
        self._scale = math.sqrt(len(parts))
        identities = [part.identity for part in parts]
        self._identity = EncoderIdentity(
            " + ".join(identity.model_id for identity in identities),
            sum(identity.dimension for identity in identities),
            hashlib.sha256(" ".join(identity.weights_sha256 for identity in identities).encode()).hexdigest(),
        )

    @property
    def identity(self) -> EncoderIdentity:
        return self._identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        vectors: Vectors = np.hstack([part.encode(texts) for part in self._parts]) / np.float32(self._scale)
        return vectors

    def vector_of(self, part: int, vector: Vectors) -> Vectors:
        """Return the vector of the encoder number ``part`` in a joined ``vector``, with norm 1."""
        ends = [0, *accumulate(each.identity.dimension for each in self._parts)]
        own: Vectors = vector[ends[part] : ends[part + 1]] * vector.dtype.type(self._scale)
        return own
