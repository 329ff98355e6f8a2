"""Bulk encoding with OpenVINO, in bfloat16 if the CPU supports it (extra ``openvino``).

Rounding to bfloat16 changes vectors (cosine 0.9998 or more to those of ONNX Runtime) far less than passages differ, so
both backends have the same identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from wikigr.embeddings.batching import available_cores, token_batches
from wikigr.embeddings.embedder import EncoderIdentity, Vectors
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS, PREPARE_HINT, PreparedModel
from wikigr.embeddings.tokenization import TextTokenizer
from wikigr.errors import ModelError

# bfloat16 halves the work per token, so a batch must be larger to keep a core busy.
_BATCH_TOKENS = 2048
_BATCH_TEXTS = 64

# OpenVINO caches a kernel for every batch shape, up to 5,000 by default, which took a gigabyte in a build of 100,000
# sections. The setting is not part of its public interface, so a version may lack it.
_KERNELS = "CPU_RUNTIME_CACHE_CAPACITY"
_MAX_KERNELS = 64


class OpenVinoEncoder:
    """Runs a prepared encoder on the CPU, one batch per core.

    ``threads`` is the number of cores to use; the default is all cores available to this process. ``precision`` is
    ``"bf16"`` or ``"f32"``; the default is bfloat16 if the CPU supports it. Raises ``ModelError`` if OpenVINO is not
    installed or cannot read the graph.
    """

    def __init__(self, prepared: PreparedModel, threads: int | None = None, *, precision: str | None = None) -> None:
        openvino = _import_openvino()
        self._prepared = prepared
        self._tokenizer = TextTokenizer(prepared)
        if precision is None:
            precision = "bf16" if computes_in_bfloat16() else "f32"
        cores = available_cores() if threads is None else threads
        settings = {
            "INFERENCE_PRECISION_HINT": precision,
            "INFERENCE_NUM_THREADS": cores,
            "NUM_STREAMS": cores,
        }
        try:
            self._model = _compiled(openvino.Core(), str(prepared.graph), settings)
        except RuntimeError as error:
            raise ModelError(
                f"OpenVINO cannot read the encoder in {prepared.folder}: {_first_line(error)}",
                hint=f"{PREPARE_HINT} --force, or use the backend onnx",
            ) from error
        self._queue = openvino.AsyncInferQueue(self._model)
        # The queue has a single callback, which is bound to the output of the current call.
        self._lock = Lock()

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
        try:
            with self._lock:
                self._queue.set_callback(partial(_store, vectors))
                for batch in batches:
                    feed = {INPUT_IDS: batch.input_ids, ATTENTION_MASK: batch.attention_mask}
                    self._queue.start_async(feed, batch.rows)
                self._queue.wait_all()
        except RuntimeError as error:
            raise ModelError(f"The encoder in {self._prepared.folder} failed: {_first_line(error)}") from error
        # With bfloat16, norms are off by a thousandth, but packs rely on unit vectors.
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def computes_in_bfloat16() -> bool:
    """Return whether this CPU supports bfloat16; raises ``ModelError`` if OpenVINO is not installed."""
    return "BF16" in _import_openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def _compiled(core: Any, graph: str, settings: dict[str, Any]) -> Any:
    try:
        return core.compile_model(graph, "CPU", {**settings, _KERNELS: _MAX_KERNELS})
    except RuntimeError as error:
        if _KERNELS not in str(error):
            raise
        return core.compile_model(graph, "CPU", settings)


def _store(vectors: Vectors, request: Any, rows: Any) -> None:
    vectors[rows] = request.get_output_tensor().data


def _import_openvino() -> Any:
    try:
        import openvino
    except ImportError as error:
        raise ModelError("OpenVINO is not installed.", hint="pip install 'wikigr[openvino]'") from error
    return openvino


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
