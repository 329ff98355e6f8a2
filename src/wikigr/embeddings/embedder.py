"""The protocol that every encoder backend follows."""

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
    """What makes two encoders produce comparable vectors; a pack stores it and refuses another.

    ``model_id`` is a hub name such as ``sentence-transformers/all-MiniLM-L6-v2``; ``weights_sha256`` is the
    hex digest of the weights that the encoder was made from; ``dimension`` the length of a vector.
    """

    model_id: str
    dimension: int
    weights_sha256: str


class Embedder(Protocol):
    """Text to unit vectors."""

    @property
    def identity(self) -> EncoderIdentity: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts`` in one call.

        Returns float32 of shape ``(len(texts), dimension)``, rows of L2 norm 1, in the order of ``texts``;
        an empty input gives shape ``(0, dimension)``. Text past the model's window is cut.
        """
        ...
