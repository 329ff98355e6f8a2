"""The default backend: ONNX Runtime on a prepared graph, for queries and for bulk encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import EncoderIdentity, Vectors
from wikigr.embeddings.prepared import ATTENTION_MASK, EMBEDDING, INPUT_IDS, PreparedModel
from wikigr.embeddings.session import available_cores, open_session, run_in_parallel, run_session
from wikigr.embeddings.tokenization import TextTokenizer, TokenBatch, token_batches


class OnnxEncoder:
    """Runs a prepared encoder on the CPU.

    ``threads`` is the number of cores to use, each for its own batches; the default is all cores available to this
    process. With ``packed``, the weights are prepacked at the start. Otherwise they are prepacked after some runs,
    which makes the first vector available sooner but may change the last digit of later vectors.
    """

    def __init__(self, prepared: PreparedModel, threads: int | None = None, *, packed: bool = False) -> None:
        self._prepared = prepared
        self._threads = available_cores() if threads is None else threads
        if self._threads < 1:
            raise ValueError("threads must be at least 1")
        self._tokenizer = TextTokenizer(prepared)
        self._packed = packed
        self._runs = 0
        self._session = self._open_session()

    @property
    def identity(self) -> EncoderIdentity:
        return self._prepared.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``; see ``Embedder.encode``. Raises ``ModelError`` if the graph fails to run."""
        vectors = np.empty((len(texts), self.identity.dimension), np.float32)
        # Batches of this size keep the matrix kernels busy and still fit in a core's cache.
        encoded = self._tokenizer.encode(texts)
        batches = token_batches(encoded, pad_id=self._tokenizer.pad_id, max_tokens=512, max_texts=64)

        def fill(batch: TokenBatch) -> None:
            vectors[batch.rows] = self._run(batch)

        run_in_parallel(fill, list(batches), self._threads)
        return vectors

    def _run(self, batch: TokenBatch) -> Vectors:
        self._runs += 1
        # Prepacking takes 40 ms and then saves 2 ms per run (all-MiniLM-L6-v2). It pays off only for a process that
        # encodes more than one question.
        if not self._packed and self._runs > 20:
            self._packed = True
            self._session = self._open_session()
        feed = {INPUT_IDS: batch.input_ids, ATTENTION_MASK: batch.attention_mask}
        shape = (len(batch.rows), self.identity.dimension)
        return run_session(self._session, self._prepared.graph, EMBEDDING, feed, shape)

    def _open_session(self) -> Any:
        return open_session(self._prepared.graph, packed=self._packed)
