"""The default backend: ONNX Runtime on a prepared graph, for queries and for bulk encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wikigr.embeddings.batching import TokenBatch, available_cores, token_batches
from wikigr.embeddings.embedder import EncoderIdentity, Vectors
from wikigr.embeddings.prepared import (
    ATTENTION_MASK,
    DESCRIPTION,
    EMBEDDING,
    INPUT_IDS,
    PREPARE_HINT,
    PreparedModel,
)
from wikigr.embeddings.tokenization import TextTokenizer
from wikigr.errors import ModelError

# Prepacking the weights for the matrix kernels takes 40 ms and then saves 2 ms per run (all-MiniLM-L6-v2). It pays off
# only for a process that encodes more than one question.
_RUNS_BEFORE_PACKING = 20

# A batch of this size keeps the matrix kernels busy and still fits in a core's cache.
_BATCH_TOKENS = 512
_BATCH_TEXTS = 64

# A single short text is too little work for more threads.
_MAX_THREADS_PER_TEXT = 4


class OnnxEncoder:
    """Runs a prepared encoder on the CPU.

    ``threads`` is the number of cores to use; the default is all cores available to this process. With ``bulk``, each
    core processes its own batches; otherwise, all cores share each batch. With ``packed``, the weights are prepacked at
    the start. Otherwise they are prepacked after some runs, which makes the first vector available sooner but may
    change the last digit of later vectors.
    """

    def __init__(
        self, prepared: PreparedModel, threads: int | None = None, *, bulk: bool = False, packed: bool = False
    ) -> None:
        self._prepared = prepared
        self._bulk = bulk
        self._threads = available_cores() if threads is None else threads
        if self._threads < 1:
            raise ValueError("threads must be at least 1")
        self._tokenizer = TextTokenizer(prepared)
        self._packed = bulk or packed
        self._runs = 0
        self._session = self._open_session()

    @property
    def identity(self) -> EncoderIdentity:
        return self._prepared.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``; see ``Embedder.encode``. Raises ``ModelError`` if the graph fails to run."""
        vectors = np.empty((len(texts), self.identity.dimension), np.float32)
        batches = token_batches(
            self._tokenizer.encode(texts),
            pad_id=self._tokenizer.pad_id,
            max_tokens=_BATCH_TOKENS,
            max_texts=_BATCH_TEXTS,
        )

        def fill(batch: TokenBatch) -> None:
            vectors[batch.rows] = self._run(batch)

        if self._bulk and self._threads > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(self._threads) as pool:
                for _ in pool.map(fill, batches):
                    pass
        else:
            for batch in batches:
                fill(batch)
        return vectors

    def _run(self, batch: TokenBatch) -> Vectors:
        from wikigr.embeddings.runtime import state as runtime

        self._runs += 1
        if not self._packed and self._runs > _RUNS_BEFORE_PACKING:
            self._packed = True
            self._session = self._open_session()
        feed = {INPUT_IDS: batch.input_ids, ATTENTION_MASK: batch.attention_mask}
        try:
            (vectors,) = self._session.run([EMBEDDING], feed)
        except (runtime.Fail, runtime.InvalidArgument, runtime.RuntimeException) as error:
            raise ModelError(f"The encoder in {self._prepared.folder} failed: {error}") from error
        if vectors.shape != (len(batch.rows), self.identity.dimension):
            raise ModelError(
                f"The encoder in {self._prepared.folder} returned vectors of shape {vectors.shape}, which contradicts "
                f"its {DESCRIPTION}.",
                hint=f"{PREPARE_HINT} --force",
            )
        return np.asarray(vectors, dtype=np.float32)

    def _open_session(self) -> Any:
        from wikigr.embeddings.runtime import onnxruntime
        from wikigr.embeddings.runtime import state as runtime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1 if self._bulk else min(self._threads, _MAX_THREADS_PER_TEXT)
        # The graph is written in its optimized form, so running the optimizer would only take time.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_prepacking", "0" if self._packed else "1")
        # Otherwise, idle threads would spin after each run and occupy the cores that search needs next.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        try:
            return onnxruntime.InferenceSession(str(self._prepared.graph), options, providers=["CPUExecutionProvider"])
        except (
            runtime.Fail,
            runtime.InvalidArgument,
            runtime.InvalidGraph,
            runtime.InvalidProtobuf,
            runtime.NoSuchFile,
            runtime.NotImplemented,
            runtime.RuntimeException,
        ) as error:
            raise ModelError(
                f"ONNX Runtime cannot load the encoder in {self._prepared.folder}: {error}",
                hint=f"{PREPARE_HINT} --force",
            ) from error
