"""Sessions of ONNX Runtime over the graphs that wikigr wrote.

A run uses one core. Cores that share a run wait for one another in a loop after every operation, which takes 1.7 times
the processor time on a machine with other work; several runs at once keep all cores busy as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.prepared_files import PREPARE_HINT
from wikigr.errors import ModelError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def available_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_in_parallel(run: Callable[[_Item], _Result], items: Sequence[_Item], threads: int) -> list[_Result]:
    """Return ``run(item)`` for each of ``items``, in order; at most ``threads`` of all callers' run at once."""
    if threads == 1 or len(items) < 2:
        return [run(item) for item in items]
    return list(_pool(threads).map(run, items))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the threads that all models of this process share; new ones for each question would each take memory."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, "wikigr-model")


def open_session(graph: Path, *, packed: bool) -> Any:
    """Open ``graph``; raises ``ModelError`` if ONNX Runtime cannot load it.

    ``packed`` prepacks the weights for the matrix kernels, which takes time now and saves some in every run.
    """
    from wikigr.embeddings.runtime import onnxruntime
    from wikigr.embeddings.runtime import state as runtime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # The graph is written in its optimized form, so running the optimizer would only take time.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "0" if packed else "1")
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
