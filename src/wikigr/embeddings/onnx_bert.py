"""Write the ONNX graph of a BERT encoder from its safetensors weights, without torch.

Where they are faster than the standard operators, the graph uses the fused operators (domain ``com.microsoft``) that
ONNX Runtime's optimizer would produce from a torch export. The graph needs no optimization when it is loaded, which is
the larger part of a cold query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, ValueInfoProto, helper
from safetensors import SafetensorError, safe_open

from wikigr.embeddings.checkpoint import Pooling
from wikigr.embeddings.int8 import Ranges, quantize_weights, scale_of
from wikigr.embeddings.prepared import ATTENTION_MASK, EMBEDDING, INPUT_IDS
from wikigr.errors import ModelError

CONTRIB = "com.microsoft"
# ONNX Runtime memory-maps external tensors that are aligned to pages.
_PAGE = 4096
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")

WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
POSITION_EMBEDDINGS = "embeddings.position_embeddings.weight"

Array = NDArray[np.float32]
# Returns the tensor of a BERT encoder with a name as float32. The other arguments are its shape, with ``None`` for any
# length.
Weights = Callable[..., Array]


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
        return cls.of_layers(config)

    @classmethod
    def of_layers(cls, config: Mapping[str, Any]) -> BertConfig:
        """Parse the values of ``config.json`` that MPNet has as well; raises ``ModelError`` for invalid ones."""
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
        if parsed.activation not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
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


@dataclass(slots=True)
class WeightFile:
    """Writes tensors to ``stream`` one after the other and records their offsets."""

    stream: BinaryIO
    name: str
    tensors: list[TensorProto] = field(default_factory=list)

    def add(self, name: str, array: NDArray[np.generic]) -> str:
        """Append ``array`` and return ``name``, for use as the input of a node."""
        data = np.ascontiguousarray(array).tobytes()
        self.stream.write(b"\0" * (-self.stream.tell() % _PAGE))
        tensor = TensorProto(
            name=name,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            dims=array.shape,
            data_location=TensorProto.EXTERNAL,
        )
        for key, value in (
            ("location", self.name),
            ("offset", str(self.stream.tell())),
            ("length", str(len(data))),
        ):
            tensor.external_data.add(key=key, value=value)
        self.stream.write(data)
        self.tensors.append(tensor)
        return name


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
        return self.product_with(name, source, weight, self.weights(weight, *shape).T)

    def product_with(self, name: str, source: str, weight: str, kernel: Array) -> str:
        """Multiply ``source`` with ``kernel`` ``[in, out]``, which is stored as ``weight``, and return ``name``."""
        if self.ranges is None:
            return self.op("MatMul", name, [source, self.data.add(weight, kernel)])
        single = list(self.ranges[source].single)
        if not single:
            return self.op("MatMulIntegerToFloat", name, [*self._quantized(source, (weight, kernel))], domain=CONTRIB)
        rounded = kernel.copy()
        rounded[single] = 0
        factors = self._quantized(source, (weight, rounded))
        most = self.op("MatMulIntegerToFloat", name + ".rounded", [*factors], domain=CONTRIB)
        channels = self.data.add(source + ".channels", np.array(single, np.int64))
        values = self.op("Gather", source + ".single", [source, channels], axis=2)
        others = self.op("MatMul", name + ".single", [values, self.data.add(weight + ".single", kernel[single])])
        return self.op("Add", name, [most, others])

    def attention(self, name: str, source: str, kernel: tuple[str, Array], bias: str) -> str:
        """Attend to ``source`` with a named kernel ``[hidden, 3 * hidden]``, and return ``name``."""
        heads = self.config.heads
        if self.ranges is None:
            factors = [source, self.data.add(*kernel), bias, ATTENTION_MASK]
            return self.op("Attention", name, factors, domain=CONTRIB, num_heads=heads)
        values, weights, scale, scales, zero, weight_zero = self._quantized(source, kernel)
        factors = [values, weights, bias, scale, scales, ATTENTION_MASK, zero, weight_zero]
        return self.op("QAttention", name, factors, domain=CONTRIB, num_heads=heads)

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
        data = WeightFile(stream, data_name)
        graph = BertGraph(bert, CheckpointWeights(weights), data, ranges)
        # Every text is a single segment, so the vector of segment 0 can be added to the positions in advance.
        positions, segments = position_tables(graph)
        words = graph.tensor(WORD_EMBEDDINGS, None, bert.hidden)
        embedded = add_embeddings(graph, words, data.add("embeddings.positions", positions + segments[0]))
        hidden = add_layers(graph, embedded)
    graph.nodes += [*_pooling_nodes(hidden, pooling), *_normalize_nodes()]
    output = helper.make_tensor_value_info(EMBEDDING, TensorProto.FLOAT, ["batch", bert.hidden])
    write_graph(graph, inputs(), [output], folder / name)
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
            domain=CONTRIB,
            epsilon=graph.config.layer_norm_eps,
        )
    )
    return "embedded"


def write_graph(
    graph: BertGraph, sources: Sequence[ValueInfoProto], results: Sequence[ValueInfoProto], path: Path
) -> None:
    """Write ``graph`` with these inputs and outputs to ``path``; its weights are already in their file."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)]
    body = helper.make_graph(graph.nodes, "bert", sources, results, initializer=graph.data.tensors)
    model = helper.make_model(body, producer_name="wikigr", opset_imports=imports, ir_version=8)
    path.write_bytes(model.SerializeToString(deterministic=True))


def position_tables(graph: BertGraph) -> tuple[Array, Array]:
    """Return the tables of positions and segments, each of shape ``[rows, hidden]``, the latter with a row or more."""
    hidden = graph.config.hidden
    positions = graph.weights(POSITION_EMBEDDINGS, None, hidden)
    segments = graph.weights("embeddings.token_type_embeddings.weight", None, hidden)
    if not len(segments):
        raise ModelError("The tensor embeddings.token_type_embeddings.weight of the model has no rows.")
    return positions, segments


def _layer(graph: BertGraph, prefix: str, hidden: str) -> str:
    size = graph.config.hidden
    # The projections of queries, keys and values are one kernel ``[hidden, 3 * hidden]``.
    parts = [prefix + f"attention.self.{part}." for part in ("query", "key", "value")]
    kernel = np.concatenate([graph.weights(part + "weight", size, size).T for part in parts], axis=1)
    bias = np.concatenate([graph.weights(part + "bias", size) for part in parts])
    bias_name = graph.data.add(prefix + "qkv.bias", bias)
    attended = graph.attention(prefix + "attention", hidden, (prefix + "qkv.weight", kernel), bias_name)
    output = prefix + "attention.output."
    inner = add_norm(graph, output + "dense.", output + "LayerNorm.", attended, hidden, size)
    return add_feed_forward(graph, prefix, inner)


def add_feed_forward(graph: BertGraph, prefix: str, inner: str) -> str:
    """Add the second half of the layer ``prefix``, which reads ``inner``, and return the name of its output."""
    size = graph.config.hidden
    up = prefix + "intermediate.dense."
    grown = graph.product(up + "matmul", inner, up + "weight", None, size)
    bias_name = graph.tensor(up + "bias", None)
    activation = graph.config.activation
    if activation == "gelu":
        active = graph.op("BiasGelu", up + "gelu", [grown, bias_name], domain=CONTRIB)
    elif activation == "relu":
        active = graph.op("Relu", up + "relu", [graph.op("Add", up + "add", [grown, bias_name])])
    else:
        active = graph.op("FastGelu", up + "gelu", [grown, bias_name], domain=CONTRIB)
    output = prefix + "output."
    return add_norm(graph, output + "dense.", output + "LayerNorm.", active, inner, None)


def add_norm(graph: BertGraph, dense: str, norm: str, source: str, skip: str, width: int | None) -> str:
    """Add the linear layer ``dense`` of ``source``, of ``width``, and its sum with ``skip``, normalized by ``norm``.

    Returns the name of the result.
    """
    size = graph.config.hidden
    prefix = norm.removesuffix("LayerNorm.")
    product = graph.product(prefix + "matmul", source, dense + "weight", size, width)
    # ONNX Runtime's SkipLayerNormalization combines these three, but is six times slower on a CPU.
    biased = graph.op("Add", prefix + "bias", [product, graph.tensor(dense + "bias", size)])
    summed = graph.op("Add", prefix + "skip", [biased, skip])
    parameters = [graph.tensor(norm + part, size) for part in ("weight", "bias")]
    return graph.op(
        "LayerNormalization",
        prefix + "norm",
        [summed, *parameters],
        axis=-1,
        epsilon=graph.config.layer_norm_eps,
    )


def inputs() -> list[ValueInfoProto]:
    """Return the inputs of every graph: token ids and their mask."""
    return [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "tokens"])
        for name in (INPUT_IDS, ATTENTION_MASK)
    ]


def constant(name: str, value: NDArray[np.generic]) -> NodeProto:
    """Return a node with the output ``name`` that has this ``value``."""
    tensor = helper.make_tensor(
        name + "_value", helper.np_dtype_to_tensor_dtype(value.dtype), value.shape, value.ravel().tolist()
    )
    return helper.make_node("Constant", [], [name], name=name, value=tensor)


def _pooling_nodes(hidden: str, pooling: Pooling) -> list[NodeProto]:
    """Return nodes that pool ``hidden`` ``[batch, tokens, dimension]`` to ``pooled`` ``[batch, dimension]``.

    Padding is ignored.
    """
    if pooling == "cls":
        return [
            constant("first_token", np.array(0, np.int64)),
            helper.make_node("Gather", [hidden, "first_token"], ["pooled"], name="pool_cls", axis=1),
        ]
    # [batch, 1, tokens] @ [batch, tokens, dimension] computes the sum without a masked copy of the hidden states.
    return [
        helper.make_node("Cast", [ATTENTION_MASK], ["mask"], name="mask", to=TensorProto.FLOAT),
        constant("axis_1", np.array([1], np.int64)),
        helper.make_node("Unsqueeze", ["mask", "axis_1"], ["mask_row"], name="mask_row"),
        helper.make_node("MatMul", ["mask_row", hidden], ["sum_row"], name="pool_sum"),
        helper.make_node("Squeeze", ["sum_row", "axis_1"], ["token_sum"], name="token_sum"),
        helper.make_node("ReduceSum", ["mask", "axis_1"], ["token_count"], name="token_count", keepdims=1),
        helper.make_node("Div", ["token_sum", "token_count"], ["pooled"], name="pool_mean"),
    ]


def _normalize_nodes() -> list[NodeProto]:
    """Return nodes that divide ``pooled`` by its L2 norm into the graph's output; a zero vector remains zero."""
    return [
        helper.make_node("ReduceL2", ["pooled"], ["norm"], name="norm", axes=[1], keepdims=1),
        constant("smallest_norm", np.array(1e-12, np.float32)),
        helper.make_node("Max", ["norm", "smallest_norm"], ["safe_norm"], name="safe_norm"),
        helper.make_node("Div", ["pooled", "safe_norm"], [EMBEDDING], name="normalise"),
    ]
