"""The protocol of all encoder backends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Identifies an encoder: vectors are comparable only if the identities match, so a pack stores it and checks it.

    ``model_id`` is a hub name such as ``sentence-transformers/all-MiniLM-L6-v2``, ``dimension`` is the length of a
    vector, and ``weights_sha256`` is the hex digest of the original weights.
    """

    model_id: str
    dimension: int
    weights_sha256: str


class Embedder(Protocol):
    """Maps texts to unit vectors."""

    @property
    def identity(self) -> EncoderIdentity: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts`` in one call.

        Returns float32 of shape ``(len(texts), dimension)``: one row of L2 norm 1 per text, in order. An empty input
        gives shape ``(0, dimension)``. Text beyond the model's window is truncated.
        """
        ...
