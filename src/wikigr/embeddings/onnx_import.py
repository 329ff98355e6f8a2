"""Graphs of encoders that ``onnx_bert`` does not support: export one with torch, or adapt a third-party ONNX graph.

The adapted graph has the inputs and the output of prepared encoders (see ``prepared``).
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto, helper

from wikigr.embeddings.checkpoint import Pooling
from wikigr.embeddings.onnx_nodes import OPSET, inputs, normalize_nodes, outputs, pooling_nodes
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.embeddings.runtime import onnxruntime
from wikigr.embeddings.runtime import state as runtime
from wikigr.errors import ModelError

_SEGMENTS = "token_type_ids"
# The prefix of all added names, which avoids collisions with names in the graph.
_PREFIX = "wikigr_"
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_TEXT_OUTPUT = "sentence_embedding"


def adapt_graph(source: Path, dimension: int, pooling: Pooling, folder: Path, name: str) -> None:
    """Write ``folder/name``, with tensors in ``folder/name + ".data"``, from the graph ``source``.

    ``source`` has the inputs ``input_ids``, ``attention_mask`` and optionally ``token_type_ids``, and the output
    ``last_hidden_state`` ``[batch, tokens, dimension]`` or ``sentence_embedding`` ``[batch, dimension]``. ONNX
    Runtime's optimizer runs once here instead of at every load. Raises ``ModelError``.
    """
    try:
        model = onnx.load(source)
    except (OSError, DecodeError, onnx.checker.ValidationError) as error:
        raise ModelError(f"Cannot read the graph {source}: {error}.") from error
    _adapt_inputs(model, source)
    _adapt_output(model, source, dimension, pooling)
    _optimize(model, folder, name, source)


def _adapt_inputs(model: ModelProto, source: Path) -> None:
    """Add casts from int32 to the integer types of the graph's inputs, and replace segment ids by zeros."""
    graph = model.graph
    initializers = {tensor.name for tensor in graph.initializer}
    own = {value.name: value.type.tensor_type.elem_type for value in graph.input if value.name not in initializers}
    if not {INPUT_IDS, ATTENTION_MASK} <= own.keys() <= {INPUT_IDS, ATTENTION_MASK, _SEGMENTS}:
        raise ModelError(f"The graph {source} has the inputs {sorted(own)}, which do not match a text encoder.")
    renamed = {name: f"{_PREFIX}own_{name}" for name in own}
    for node in graph.node:
        node.input[:] = [renamed.get(value, value) for value in node.input]
    first = [
        helper.make_node("Cast", [name], [renamed[name]], name=f"{_PREFIX}cast_{name}", to=own[name])
        for name in (INPUT_IDS, ATTENTION_MASK)
    ]
    if _SEGMENTS in own:
        ids = renamed[INPUT_IDS]
        first.append(helper.make_node("Sub", [ids, ids], [f"{_PREFIX}zeros"], name=f"{_PREFIX}zeros"))
        first.append(
            helper.make_node(
                "Cast", [f"{_PREFIX}zeros"], [renamed[_SEGMENTS]], name=f"{_PREFIX}cast_zeros", to=own[_SEGMENTS]
            )
        )
    nodes = [*first, *graph.node]
    del graph.node[:], graph.input[:]
    graph.node.extend(nodes)
    graph.input.extend(inputs())


def _adapt_output(model: ModelProto, source: Path, dimension: int, pooling: Pooling) -> None:
    graph = model.graph
    given = [value.name for value in graph.output]
    tokens = next((name for name in _TOKEN_OUTPUTS if name in given), None)
    if tokens is not None:
        graph.node.extend([*pooling_nodes(tokens, pooling, f"{_PREFIX}pooled"), *normalize_nodes(f"{_PREFIX}pooled")])
    elif _TEXT_OUTPUT in given:
        graph.node.extend(normalize_nodes(_TEXT_OUTPUT))
    else:
        raise ModelError(f"The graph {source} has the outputs {given}, none of which is {_TOKEN_OUTPUTS[0]}.")
    del graph.output[:]
    graph.output.extend(outputs(dimension))


def _optimize(model: ModelProto, folder: Path, name: str, source: Path) -> None:
    adapted = folder / ("adapted-" + name)
    adapted_data = Path(os.fspath(adapted) + ".data")
    onnx.save(model, adapted, save_as_external_data=True, location=adapted_data.name, size_threshold=1024)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # The next level would choose a tensor layout for this CPU, but the file may be used on another one.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / name)
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", name + ".data")
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    try:
        onnxruntime.InferenceSession(str(adapted), options, providers=["CPUExecutionProvider"])
    except (
        runtime.Fail,
        runtime.InvalidArgument,
        runtime.InvalidGraph,
        runtime.NotImplemented,
        runtime.RuntimeException,
    ) as error:
        raise ModelError(f"ONNX Runtime cannot run the graph {source}: {error}") from error
    finally:
        adapted.unlink()
        adapted_data.unlink(missing_ok=True)


_INSTALL = "pip install torch==2.13.0, then pip install 'wikigr[models]', and run this again"


def export_graph(checkpoint: Path, folder: Path) -> Path:
    """Write the transformer in the folder ``checkpoint`` to ``folder/model.onnx`` and return the path.

    The graph maps ``input_ids`` and ``attention_mask`` to ``last_hidden_state``. Raises ``ModelError`` if torch is not
    installed or cannot export the architecture.
    """
    try:
        import torch
        from transformers import AutoModel
    except ImportError as error:
        raise ModelError(
            f"The encoder in {checkpoint} is not in the BERT family and has no onnx/model.onnx, so torch is needed to "
            "export its graph, but torch is not installed.",
            hint=_INSTALL,
        ) from error
    target = folder / "model.onnx"
    axes = {0: "batch", 1: "tokens"}
    try:
        model = AutoModel.from_pretrained(
            checkpoint, attn_implementation="eager", use_safetensors=True, trust_remote_code=False
        ).eval()

        class Encoder(torch.nn.Module):  # type: ignore[misc]
            """Returns only the hidden states, because tracing does not support the model's output class."""

            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, input_ids: Any, attention_mask: Any) -> Any:
                return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

        # Two texts of different lengths, so that the trace depends on the mask and fixes neither dimension.
        mask = torch.ones((2, 8), dtype=torch.int64)
        mask[1, 5:] = 0
        with warnings.catch_warnings(), torch.no_grad():
            # The exporter warns that it is deprecated, but its successor needs another package.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Encoder().eval(),
                (mask * 5, mask),
                str(target),
                input_names=[INPUT_IDS, ATTENTION_MASK],
                output_names=["last_hidden_state"],
                dynamic_axes={INPUT_IDS: axes, ATTENTION_MASK: axes, "last_hidden_state": axes},
                opset_version=OPSET,
                dynamo=False,
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, ImportError) as error:
        raise ModelError(
            f"torch cannot export the encoder in {checkpoint}: {str(error).strip().partition(chr(10))[0]}",
            hint="Use the backend sentence-transformers for this model.",
        ) from error
    return target
