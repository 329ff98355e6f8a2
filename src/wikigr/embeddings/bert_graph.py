"""Write the ONNX graph of a BERT encoder from its safetensors weights, without torch.

The operators are those that ONNX Runtime fuses a torch export into (``com.microsoft`` domain), so nothing is
left to optimise when the graph is loaded, and loading is the larger part of a cold query. OpenVINO and other
runtimes do not know those operators: ``fused=False`` writes the same network in standard ONNX.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper
from safetensors import SafetensorError, safe_open

from wikigr.embeddings.graph_parts import (
    ATTENTION_MASK,
    INPUT_IDS,
    OPSET,
    Pooling,
    WeightFile,
    constant,
    inputs,
    normalise_nodes,
    outputs,
    pooling_nodes,
)
from wikigr.errors import ModelError

_CONTRIB = "com.microsoft"
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The numbers of a BERT ``config.json`` that shape its graph."""

    layers: int
    heads: int
    hidden: int
    activation: str
    layer_norm_eps: float

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> BertConfig:
        """Read a ``config.json``; raises ``ModelError`` for a network that is no plain BERT encoder."""
        if config.get("model_type") != "bert":
            raise ModelError(f"The graph writer knows BERT only, not {config.get('model_type')!r}.")
        if config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder"):
            raise ModelError("The graph writer knows BERT encoders with absolute positions only.")
        try:
            parsed = cls(
                layers=int(config["num_hidden_layers"]),
                heads=int(config["num_attention_heads"]),
                hidden=int(config["hidden_size"]),
                activation=str(config.get("hidden_act", "gelu")),
                layer_norm_eps=float(config.get("layer_norm_eps", 1e-12)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"The model's config.json is no BERT configuration: {error!r}.") from error
        if parsed.activation not in _ACTIVATIONS:
            raise ModelError(f"The graph writer does not know the activation {parsed.activation!r}.")
        if parsed.layers < 1 or parsed.heads < 1 or parsed.hidden % parsed.heads:
            raise ModelError("The model's config.json has impossible numbers of layers, heads or hidden units.")
        return parsed


class _Weights:
    """The tensors of a checkpoint by their BERT name, whatever prefix the file gives them."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = safe_open(path, framework="numpy")
            names = list(self._file.keys())
        except (OSError, SafetensorError) as error:
            raise ModelError(f"The weights {path} cannot be read: {error}.") from error
        anchor = "embeddings.word_embeddings.weight"
        prefixes = [name.removesuffix(anchor) for name in names if name.endswith(anchor)]
        if len(prefixes) != 1:
            raise ModelError(f"The weights {path} hold no BERT encoder: no single tensor {anchor}.")
        self._prefix = prefixes[0]
        self._path = path

    def __call__(self, name: str, *shape: int | None) -> Array:
        """The tensor ``name`` as float32; ``None`` in ``shape`` stands for any length."""
        try:
            array = self._file.get_tensor(self._prefix + name)
        except SafetensorError as error:
            raise ModelError(f"The weights {self._path} lack the tensor {name}.") from error
        except TypeError as error:
            raise ModelError(f"The tensor {name} of {self._path} has a type that numpy lacks.") from error
        if len(array.shape) != len(shape) or any(
            want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
        ):
            raise ModelError(
                f"The tensor {name} has shape {list(array.shape)}, unlike what config.json says: {list(shape)}."
            )
        return np.asarray(array, dtype=np.float32)


@dataclass(slots=True)
class _Graph:
    """Nodes and weights while they are put together."""

    config: BertConfig
    weights: _Weights
    data: WeightFile
    nodes: list[NodeProto]

    def op(self, operator: str, name: str, sources: list[str], *, domain: str = "", **attributes: Any) -> str:
        """Append a node with one output of its own name, and return that name."""
        self.nodes.append(
            helper.make_node(operator, sources, [name], name=name, domain=domain, **attributes)
        )
        return name

    def tensor(self, name: str, *shape: int | None) -> str:
        return self.data.add(name, self.weights(name, *shape))

    def kernel(self, name: str, *shape: int | None) -> str:
        """A torch ``Linear`` weight ``[out, in]``, stored as ``[in, out]`` for MatMul."""
        return self.data.add(name, self.weights(name, *shape).T)


def write_bert_graph(
    weights: Path, config: Mapping[str, Any], pooling: Pooling, folder: Path, name: str, *, fused: bool = True
) -> int:
    """Write ``folder/name`` and its tensors ``folder/name + ".data"``; the same input gives the same bytes.

    ``weights`` is a safetensors file, ``config`` the parsed ``config.json``. Returns the length of an
    embedding. Raises ``ModelError`` when the weights are no BERT encoder or do not fit ``config``.
    """
    bert = BertConfig.from_json(config)
    data_name = name + ".data"
    with (folder / data_name).open("wb") as stream:
        graph = _Graph(bert, _Weights(weights), WeightFile(stream, data_name), [])
        hidden = _embeddings(graph, fused=fused)
        attention = "" if fused else _attention_bias(graph)
        for layer in range(bert.layers):
            build = _fused_layer if fused else _standard_layer
            hidden = build(graph, f"encoder.layer.{layer}.", hidden, attention)
    graph.nodes += [*pooling_nodes(hidden, pooling, "pooled"), *normalise_nodes("pooled")]
    (folder / name).write_bytes(_model(graph, fused=fused).SerializeToString(deterministic=True))
    return bert.hidden


def _model(graph: _Graph, *, fused: bool) -> ModelProto:
    imports = [helper.make_opsetid("", OPSET)]
    if fused:
        imports.append(helper.make_opsetid(_CONTRIB, 1))
    body = helper.make_graph(
        graph.nodes, "bert", inputs(), outputs(graph.config.hidden), initializer=graph.data.tensors
    )
    return helper.make_model(body, producer_name="wikigr", opset_imports=imports, ir_version=8)


def _embeddings(graph: _Graph, *, fused: bool) -> str:
    hidden = graph.config.hidden
    word = graph.tensor("embeddings.word_embeddings.weight", None, hidden)
    # Every text is one segment, so the vector of segment 0 can be added to the positions once and for all.
    position_table = graph.weights("embeddings.position_embeddings.weight", None, hidden)
    segment_table = graph.weights("embeddings.token_type_embeddings.weight", None, hidden)
    positions = graph.data.add("embeddings.positions", position_table + segment_table[0])
    scale = graph.tensor("embeddings.LayerNorm.weight", hidden)
    shift = graph.tensor("embeddings.LayerNorm.bias", hidden)
    epsilon = graph.config.layer_norm_eps
    if fused:
        graph.nodes.append(
            helper.make_node(
                "EmbedLayerNormalization",
                [INPUT_IDS, "", word, positions, "", scale, shift, ATTENTION_MASK],
                ["embedded", "mask_index"],
                name="embedded",
                domain=_CONTRIB,
                epsilon=epsilon,
            )
        )
        return "embedded"
    words = graph.op("Gather", "words", [word, INPUT_IDS], axis=0)
    graph.nodes += [
        constant("zero", np.array([0], np.int64)),
    ]
    length = graph.op("Shape", "length", [INPUT_IDS], start=1, end=2)
    used = graph.op("Slice", "used_positions", [positions, "zero", length, "zero"])
    total = graph.op("Add", "embedding_sum", [words, used])
    return graph.op("LayerNormalization", "embedded", [total, scale, shift], axis=-1, epsilon=epsilon)


def _projections(graph: _Graph, prefix: str) -> tuple[Array, Array]:
    """Query, key and value projections side by side: ``[hidden, 3 * hidden]`` and ``[3 * hidden]``."""
    hidden = graph.config.hidden
    parts = [prefix + f"attention.self.{part}." for part in ("query", "key", "value")]
    return (
        np.concatenate([graph.weights(part + "weight", hidden, hidden).T for part in parts], axis=1),
        np.concatenate([graph.weights(part + "bias", hidden) for part in parts]),
    )


def _fused_layer(graph: _Graph, prefix: str, hidden: str, _: str) -> str:
    kernel, bias = _projections(graph, prefix)
    attended = graph.op(
        "Attention",
        prefix + "attention",
        [
            hidden,
            graph.data.add(prefix + "qkv.weight", kernel),
            graph.data.add(prefix + "qkv.bias", bias),
            ATTENTION_MASK,
        ],
        domain=_CONTRIB,
        num_heads=graph.config.heads,
    )
    size = graph.config.hidden
    inner = _fused_add_norm(graph, prefix + "attention.output.", attended, hidden, size)
    up = prefix + "intermediate.dense."
    grown = graph.op("MatMul", up + "matmul", [inner, graph.kernel(up + "weight", None, size)])
    bias_name = graph.tensor(up + "bias", None)
    activation = graph.config.activation
    if activation == "gelu":
        active = graph.op("BiasGelu", up + "gelu", [grown, bias_name], domain=_CONTRIB)
    elif activation == "relu":
        active = graph.op("Relu", up + "relu", [graph.op("Add", up + "add", [grown, bias_name])])
    else:
        active = graph.op("FastGelu", up + "gelu", [grown, bias_name], domain=_CONTRIB)
    return _fused_add_norm(graph, prefix + "output.", active, inner, None)


def _fused_add_norm(graph: _Graph, prefix: str, source: str, skip: str, width: int | None) -> str:
    size = graph.config.hidden
    product = graph.op(
        "MatMul", prefix + "matmul", [source, graph.kernel(prefix + "dense.weight", size, width)]
    )
    parameters = [
        graph.tensor(prefix + part, size) for part in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")
    ]
    return graph.op(
        "SkipLayerNormalization",
        prefix + "norm",
        [product, skip, *parameters],
        domain=_CONTRIB,
        epsilon=graph.config.layer_norm_eps,
    )


def _attention_bias(graph: _Graph) -> str:
    """``[batch, 1, 1, tokens]``: 0 for a token, a large negative number for padding."""
    graph.nodes += [
        constant("mask_axes", np.array([1, 2], np.int64)),
        constant("unit", np.array(1.0, np.float32)),
        constant("padding_bias", np.array(-1e4, np.float32)),
    ]
    mask = graph.op("Cast", "attention_mask_float", [ATTENTION_MASK], to=TensorProto.FLOAT)
    wide = graph.op("Unsqueeze", "attention_mask_wide", [mask, "mask_axes"])
    absent = graph.op("Sub", "padding", ["unit", wide])
    return graph.op("Mul", "attention_bias", [absent, "padding_bias"])


def _standard_layer(graph: _Graph, prefix: str, hidden: str, attention_bias: str) -> str:
    size, heads = graph.config.hidden, graph.config.heads
    head_size = size // heads
    here = prefix + "attention.self."
    graph.nodes += [
        constant(here + "split_shape", np.array([0, 0, heads, head_size], np.int64)),
        constant(here + "join_shape", np.array([0, 0, size], np.int64)),
        constant(here + "scale", np.array(1 / math.sqrt(head_size), np.float32)),
    ]

    def project(part: str, order: list[int]) -> str:
        product = graph.op(
            "MatMul", here + part + ".matmul", [hidden, graph.kernel(here + part + ".weight", size, size)]
        )
        biased = graph.op("Add", here + part + ".add", [product, graph.tensor(here + part + ".bias", size)])
        split = graph.op("Reshape", here + part + ".split", [biased, here + "split_shape"])
        return graph.op("Transpose", here + part + ".heads", [split], perm=order)

    query = project("query", [0, 2, 1, 3])
    key = project("key", [0, 2, 3, 1])
    value = project("value", [0, 2, 1, 3])
    raw = graph.op("MatMul", here + "raw_scores", [query, key])
    scaled = graph.op("Mul", here + "scaled_scores", [raw, here + "scale"])
    masked = graph.op("Add", here + "masked_scores", [scaled, attention_bias])
    shares = graph.op("Softmax", here + "shares", [masked], axis=-1)
    mixed = graph.op("MatMul", here + "mixed", [shares, value])
    ordered = graph.op("Transpose", here + "ordered", [mixed], perm=[0, 2, 1, 3])
    attended = graph.op("Reshape", here + "attended", [ordered, here + "join_shape"])
    inner = _standard_add_norm(graph, prefix + "attention.output.", attended, hidden, size)
    up = prefix + "intermediate.dense."
    product = graph.op("MatMul", up + "matmul", [inner, graph.kernel(up + "weight", None, size)])
    grown = graph.op("Add", up + "add", [product, graph.tensor(up + "bias", None)])
    return _standard_add_norm(graph, prefix + "output.", _standard_activation(graph, up, grown), inner, None)


def _standard_add_norm(graph: _Graph, prefix: str, source: str, skip: str, width: int | None) -> str:
    size = graph.config.hidden
    product = graph.op(
        "MatMul", prefix + "matmul", [source, graph.kernel(prefix + "dense.weight", size, width)]
    )
    biased = graph.op("Add", prefix + "add", [product, graph.tensor(prefix + "dense.bias", size)])
    total = graph.op("Add", prefix + "skip", [biased, skip])
    parameters = [graph.tensor(prefix + part, size) for part in ("LayerNorm.weight", "LayerNorm.bias")]
    return graph.op(
        "LayerNormalization",
        prefix + "norm",
        [total, *parameters],
        axis=-1,
        epsilon=graph.config.layer_norm_eps,
    )


def _standard_activation(graph: _Graph, prefix: str, source: str) -> str:
    if graph.config.activation == "relu":
        return graph.op("Relu", prefix + "relu", [source])
    graph.nodes += [
        constant(prefix + "half", np.array(0.5, np.float32)),
        constant(prefix + "unit", np.array(1.0, np.float32)),
    ]
    if graph.config.activation == "gelu":
        graph.nodes.append(constant(prefix + "root", np.array(1 / math.sqrt(2), np.float32)))
        inner = graph.op("Mul", prefix + "reduced", [source, prefix + "root"])
        curve = graph.op("Erf", prefix + "erf", [inner])
    else:
        graph.nodes += [
            constant(prefix + "cubic", np.array(0.044715, np.float32)),
            constant(prefix + "root", np.array(math.sqrt(2 / math.pi), np.float32)),
        ]
        square = graph.op("Mul", prefix + "square", [source, source])
        cube = graph.op("Mul", prefix + "cube", [square, source])
        bent = graph.op("Mul", prefix + "bent", [cube, prefix + "cubic"])
        inner = graph.op("Mul", prefix + "inner", [graph.op("Add", prefix + "sum", [source, bent]), prefix + "root"])
        curve = graph.op("Tanh", prefix + "tanh", [inner])
    lifted = graph.op("Add", prefix + "lifted", [curve, prefix + "unit"])
    halved = graph.op("Mul", prefix + "halved", [lifted, prefix + "half"])
    return graph.op("Mul", prefix + "active", [source, halved])
