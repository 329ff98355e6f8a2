"""Sessions of ONNX Runtime over the graphs that wikigr wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.prepared import PREPARE_HINT
from wikigr.errors import ModelError

# A single short text is too little work for more threads.
MAX_THREADS_PER_TEXT = 4


def open_session(graph: Path, *, threads: int, packed: bool) -> Any:
    """Open ``graph`` on ``threads`` cores; raises ``ModelError`` if ONNX Runtime cannot load it.

    ``packed`` prepacks the weights for the matrix kernels, which takes time now and saves some in every run.
    """
    from wikigr.embeddings.runtime import onnxruntime
    from wikigr.embeddings.runtime import state as runtime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    # The graph is written in its optimized form, so running the optimizer would only take time.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "0" if packed else "1")
    # Otherwise, idle threads would spin after each run and occupy the cores that search needs next.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except (
        runtime.Fail,
        runtime.InvalidArgument,
        runtime.InvalidGraph,
        runtime.InvalidProtobuf,
        runtime.NoSuchFile,
        runtime.NotImplemented,
        runtime.RuntimeException,
    ) as error:
        raise ModelError(f"ONNX Runtime cannot load {graph}: {error}", hint=f"{PREPARE_HINT} --force") from error


def run_session(
    session: Any, graph: Path, output: str, feed: Mapping[str, NDArray[np.int32]], shape: tuple[int, ...]
) -> NDArray[np.float32]:
    """Run ``session`` of ``graph`` on ``feed`` and return its ``output``.

    Raises ``ModelError`` if that fails or does not give the ``shape``.
    """
    from wikigr.embeddings.runtime import state as runtime

    try:
        (values,) = session.run([output], feed)
    except (runtime.Fail, runtime.InvalidArgument, runtime.RuntimeException) as error:
        raise ModelError(f"The graph {graph} failed: {error}") from error
    if values.shape != shape:
        raise ModelError(
            f"The graph {graph} returned values of shape {list(values.shape)} instead of {list(shape)}.",
            hint=f"{PREPARE_HINT} --force",
        )
    return np.asarray(values, dtype=np.float32)
