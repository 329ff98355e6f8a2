"""Write the ONNX graph of a BERT encoder from its safetensors weights, without torch.

Where they are faster than the standard operators, the graph uses the fused operators (domain ``com.microsoft``) that
ONNX Runtime's optimizer would produce from a torch export. The graph needs no optimization when it is loaded, which is
the larger part of a cold query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, ValueInfoProto, helper
from safetensors import SafetensorError, safe_open

from wikigr.embeddings.checkpoint import Pooling
from wikigr.embeddings.int8 import Ranges, quantize_weights, scale_of
from wikigr.embeddings.onnx_nodes import OPSET, WeightFile, constant, inputs, normalize_nodes, outputs, pooling_nodes
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.errors import ModelError

_CONTRIB = "com.microsoft"
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")

WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The values of a BERT ``config.json`` that determine its graph."""

    layers: int
    heads: int
    hidden: int
    activation: str
    layer_norm_eps: float

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> BertConfig:
        """Parse the ``config.json`` of a BERT encoder; raises ``ModelError`` for other encoders and invalid values."""
        if config.get("model_type") != "bert" or (
            config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder")
        ):
            raise ModelError(
                f"Only BERT encoders run on ONNX Runtime; config.json has the type {config.get('model_type')!r:.80}.",
                hint="pip install 'wikigr[models]' and use the backend sentence-transformers",
            )
        try:
            parsed = cls(
                layers=int(config["num_hidden_layers"]),
                heads=int(config["num_attention_heads"]),
                hidden=int(config["hidden_size"]),
                activation=str(config.get("hidden_act", "gelu")),
                layer_norm_eps=float(config.get("layer_norm_eps", 1e-12)),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ModelError(f"The model's config.json is not a BERT configuration: {error!r}.") from error
        if parsed.layers < 1 or parsed.heads < 1 or parsed.hidden < 1 or parsed.hidden % parsed.heads:
            raise ModelError("The model's config.json has invalid numbers of layers, heads or hidden units.")
        if parsed.activation not in _ACTIVATIONS:
            known = ", ".join(_ACTIVATIONS)
            raise ModelError(f"The hidden_act in the model's config.json is {parsed.activation!r:.80}, not {known}.")
        return parsed


class CheckpointWeights:
    """The tensors of a checkpoint by their BERT names, without the prefix that the file may use."""

    def __init__(self, path: Path) -> None:
        try:
            file: Any = safe_open(path, framework="numpy")
            names = list(file.keys())
            self._file = file
        except (OSError, SafetensorError) as error:
            raise ModelError(f"Cannot read the weights {path}: {error}.") from error
        prefixes = [name.removesuffix(WORD_EMBEDDINGS) for name in names if name.endswith(WORD_EMBEDDINGS)]
        if len(prefixes) != 1:
            raise ModelError(
                f"The weights {path} are not a BERT encoder: there must be exactly one tensor {WORD_EMBEDDINGS}."
            )
        self._prefix = prefixes[0]
        self._path = path

    def __call__(self, name: str, *shape: int | None) -> Array:
        """Return the tensor ``name`` as float32; ``None`` in ``shape`` matches any length."""
        try:
            array = self._file.get_tensor(self._prefix + name)
        except SafetensorError as error:
            raise ModelError(f"The weights {self._path} lack the tensor {name}.") from error
        except TypeError as error:
            raise ModelError(f"The tensor {name} of {self._path} has a type that NumPy does not support.") from error
        if len(array.shape) != len(shape) or any(
            want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
        ):
            raise ModelError(f"The tensor {name} has shape {list(array.shape)}, but config.json implies {list(shape)}.")
        return np.asarray(array, dtype=np.float32)


class Weights(Protocol):
    """Returns the tensor ``name`` of a BERT encoder as float32; ``None`` in ``shape`` matches any length."""

    def __call__(self, name: str, *shape: int | None) -> Array: ...


@dataclass(slots=True)
class BertGraph:
    """A graph under construction: its nodes and weights. With ``ranges``, it multiplies matrices of 8-bit integers."""

    config: BertConfig
    weights: Weights
    data: WeightFile
    ranges: Ranges | None = None
    nodes: list[NodeProto] = field(default_factory=list)

    def op(self, operator: str, name: str, sources: list[str], *, domain: str = "", **attributes: Any) -> str:
        """Append a node with one output of the same name, and return the name."""
        self.nodes.append(helper.make_node(operator, sources, [name], name=name, domain=domain, **attributes))
        return name

    def tensor(self, name: str, *shape: int | None) -> str:
        return self.data.add(name, self.weights(name, *shape))

    def product(self, name: str, source: str, weight: str, *shape: int | None) -> str:
        """Multiply ``source`` with a torch ``Linear`` weight ``[out, in]``, and return ``name``."""
        kernel = self.weights(weight, *shape).T
        if self.ranges is None:
            return self.op("MatMul", name, [source, self.data.add(weight, kernel)])
        single = list(self.ranges[source].single)
        if not single:
            return self.op("MatMulIntegerToFloat", name, [*self._quantized(source, (weight, kernel))], domain=_CONTRIB)
        rounded = kernel.copy()
        rounded[single] = 0
        factors = self._quantized(source, (weight, rounded))
        most = self.op("MatMulIntegerToFloat", name + ".rounded", [*factors], domain=_CONTRIB)
        channels = self.data.add(source + ".channels", np.array(single, np.int64))
        values = self.op("Gather", source + ".single", [source, channels], axis=2)
        others = self.op("MatMul", name + ".single", [values, self.data.add(weight + ".single", kernel[single])])
        return self.op("Add", name, [most, others])

    def attention(self, name: str, source: str, kernel: tuple[str, Array], bias: str) -> str:
        """Attend to ``source`` with a named kernel ``[hidden, 3 * hidden]``, and return ``name``."""
        heads = self.config.heads
        if self.ranges is None:
            factors = [source, self.data.add(*kernel), bias, ATTENTION_MASK]
            return self.op("Attention", name, factors, domain=_CONTRIB, num_heads=heads)
        values, weights, scale, scales, zero, weight_zero = self._quantized(source, kernel)
        factors = [values, weights, bias, scale, scales, ATTENTION_MASK, zero, weight_zero]
        return self.op("QAttention", name, factors, domain=_CONTRIB, num_heads=heads)

    def _quantized(self, source: str, named_kernel: tuple[str, Array]) -> tuple[str, str, str, str, str, str]:
        """Round ``source`` and the kernel that it is multiplied with to integers.

        Returns the names of the values, the weights, the scale of the values, those of the weights, the zero point of
        the values, and that of the weights.
        """
        assert self.ranges is not None
        value_range = self.ranges[source]
        name, kernel = named_kernel
        divided = source
        if value_range.divisors:
            divisors = np.ones(len(kernel), np.float32)
            divisors[list(value_range.divisors)] = list(value_range.divisors.values())
            kernel = kernel * divisors[:, None]
            divided = self.op("Mul", source + ".divided", [source, self.data.add(source + ".factors", 1 / divisors)])
        scale, zero = scale_of(value_range)
        integers, scales = quantize_weights(kernel)
        self.nodes += [constant(source + ".scale", scale), constant(source + ".zero", zero)]
        values = self.op("QuantizeLinear", source + ".int8", [divided, source + ".scale", source + ".zero"])
        self.nodes.append(constant(name + ".zero", np.array(0, np.int8)))
        weights, weight_scales = self.data.add(name, integers), self.data.add(name + ".scales", scales)
        return values, weights, source + ".scale", weight_scales, source + ".zero", name + ".zero"


def write_bert_graph(
    weights: Path,
    config: Mapping[str, Any],
    pooling: Pooling,
    folder: Path,
    name: str,
    *,
    ranges: Ranges | None = None,
) -> int:
    """Write ``folder/name`` and its tensors ``folder/name + ".data"``; the same input gives the same bytes.

    ``weights`` is a safetensors file, and ``config`` is the parsed ``config.json``. With ``ranges``, the graph
    multiplies matrices of 8-bit integers (see ``int8``). Returns the length of an embedding.
    Raises ``ModelError`` if the weights are not a BERT encoder or do not match ``config``.
    """
    bert = BertConfig.from_json(config)
    data_name = name + ".data"
    with (folder / data_name).open("wb") as stream:
        graph = BertGraph(bert, CheckpointWeights(weights), WeightFile(stream, data_name), ranges)
        hidden = add_layers(graph, _embeddings(graph))
    graph.nodes += [*pooling_nodes(hidden, pooling, "pooled"), *normalize_nodes("pooled")]
    write_graph(graph, inputs(), outputs(bert.hidden), folder / name)
    return bert.hidden


def add_layers(graph: BertGraph, embedded: str) -> str:
    """Add all layers to ``graph``, which read the value ``embedded``, and return the name of the hidden states."""
    hidden = embedded
    for layer in range(graph.config.layers):
        hidden = _layer(graph, f"encoder.layer.{layer}.", hidden)
    return hidden


def add_embeddings(graph: BertGraph, words: str, positions: str, segments: tuple[str, str] = ("", "")) -> str:
    """Add the embedding of tokens to ``graph`` and return its name.

    ``words`` and ``positions`` are the names of the tables, and ``segments`` those of the input and the table of
    segments, if any.
    """
    hidden = graph.config.hidden
    segment_ids, segment_table = segments
    norm = [graph.tensor(f"embeddings.LayerNorm.{part}", hidden) for part in ("weight", "bias")]
    # The second output (the length of each text) is mandatory but unused: attention takes the mask instead.
    graph.nodes.append(
        helper.make_node(
            "EmbedLayerNormalization",
            [INPUT_IDS, segment_ids, words, positions, segment_table, *norm],
            ["embedded", "text_lengths"],
            name="embedded",
            domain=_CONTRIB,
            epsilon=graph.config.layer_norm_eps,
        )
    )
    return "embedded"


def write_graph(
    graph: BertGraph, sources: Sequence[ValueInfoProto], results: Sequence[ValueInfoProto], path: Path
) -> None:
    """Write ``graph`` with these inputs and outputs to ``path``; its weights are already in their file."""
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(_CONTRIB, 1)]
    body = helper.make_graph(graph.nodes, "bert", sources, results, initializer=graph.data.tensors)
    model = helper.make_model(body, producer_name="wikigr", opset_imports=imports, ir_version=8)
    path.write_bytes(model.SerializeToString(deterministic=True))


def _embeddings(graph: BertGraph) -> str:
    # Every text is a single segment, so the vector of segment 0 can be added to the positions in advance.
    positions, segments = position_tables(graph)
    words = graph.tensor(WORD_EMBEDDINGS, None, graph.config.hidden)
    return add_embeddings(graph, words, graph.data.add("embeddings.positions", positions + segments[0]))


def position_tables(graph: BertGraph) -> tuple[Array, Array]:
    """Return the tables of positions and segments, each of shape ``[rows, hidden]``, the latter with a row or more."""
    hidden = graph.config.hidden
    positions = graph.weights("embeddings.position_embeddings.weight", None, hidden)
    segments = graph.weights("embeddings.token_type_embeddings.weight", None, hidden)
    if not len(segments):
        raise ModelError("The tensor embeddings.token_type_embeddings.weight of the model has no rows.")
    return positions, segments


def _projections(graph: BertGraph, prefix: str) -> tuple[Array, Array]:
    """Return the concatenated query, key and value projections: ``[hidden, 3 * hidden]`` and ``[3 * hidden]``."""
    hidden = graph.config.hidden
    parts = [prefix + f"attention.self.{part}." for part in ("query", "key", "value")]
    return (
        np.concatenate([graph.weights(part + "weight", hidden, hidden).T for part in parts], axis=1),
        np.concatenate([graph.weights(part + "bias", hidden) for part in parts]),
    )


def _layer(graph: BertGraph, prefix: str, hidden: str) -> str:
    kernel, bias = _projections(graph, prefix)
    bias_name = graph.data.add(prefix + "qkv.bias", bias)
    attended = graph.attention(prefix + "attention", hidden, (prefix + "qkv.weight", kernel), bias_name)
    size = graph.config.hidden
    inner = _add_norm(graph, prefix + "attention.output.", attended, hidden, size)
    up = prefix + "intermediate.dense."
    grown = graph.product(up + "matmul", inner, up + "weight", None, size)
    bias_name = graph.tensor(up + "bias", None)
    activation = graph.config.activation
    if activation == "gelu":
        active = graph.op("BiasGelu", up + "gelu", [grown, bias_name], domain=_CONTRIB)
    elif activation == "relu":
        active = graph.op("Relu", up + "relu", [graph.op("Add", up + "add", [grown, bias_name])])
    else:
        active = graph.op("FastGelu", up + "gelu", [grown, bias_name], domain=_CONTRIB)
    return _add_norm(graph, prefix + "output.", active, inner, None)


def _add_norm(graph: BertGraph, prefix: str, source: str, skip: str, width: int | None) -> str:
    size = graph.config.hidden
    product = graph.product(prefix + "matmul", source, prefix + "dense.weight", size, width)
    # ONNX Runtime's SkipLayerNormalization combines these three, but is six times slower on a CPU.
    biased = graph.op("Add", prefix + "bias", [product, graph.tensor(prefix + "dense.bias", size)])
    summed = graph.op("Add", prefix + "skip", [biased, skip])
    parameters = [graph.tensor(prefix + part, size) for part in ("LayerNorm.weight", "LayerNorm.bias")]
    return graph.op(
        "LayerNormalization",
        prefix + "norm",
        [summed, *parameters],
        axis=-1,
        epsilon=graph.config.layer_norm_eps,
    )
