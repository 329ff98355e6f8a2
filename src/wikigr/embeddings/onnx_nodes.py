"""Parts shared by all encoder graphs: inputs, output, external weights, pooling and normalization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, ValueInfoProto, helper

from wikigr.embeddings.checkpoint import Pooling
from wikigr.embeddings.prepared import ATTENTION_MASK, EMBEDDING, INPUT_IDS

OPSET = 17

# ONNX Runtime memory-maps external tensors that are aligned to pages.
_PAGE = 4096


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


def inputs() -> list[ValueInfoProto]:
    return [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "tokens"])
        for name in (INPUT_IDS, ATTENTION_MASK)
    ]


def outputs(dimension: int) -> list[ValueInfoProto]:
    return [helper.make_tensor_value_info(EMBEDDING, TensorProto.FLOAT, ["batch", dimension])]


def constant(name: str, value: NDArray[np.generic]) -> NodeProto:
    tensor = helper.make_tensor(
        name + "_value", helper.np_dtype_to_tensor_dtype(value.dtype), value.shape, value.ravel().tolist()
    )
    return helper.make_node("Constant", [], [name], name=name, value=tensor)


def pooling_nodes(hidden: str, pooling: Pooling, pooled: str) -> list[NodeProto]:
    """Return nodes that pool ``hidden`` ``[batch, tokens, dimension]`` to ``pooled`` ``[batch, dimension]``.

    Padding is ignored.
    """
    if pooling == "cls":
        return [
            constant("first_token", np.array(0, np.int64)),
            helper.make_node("Gather", [hidden, "first_token"], [pooled], name="pool_cls", axis=1),
        ]
    mask = [
        helper.make_node("Cast", [ATTENTION_MASK], ["mask"], name="mask", to=TensorProto.FLOAT),
        constant("axis_1", np.array([1], np.int64)),
    ]
    if pooling == "mean":
        # [batch, 1, tokens] @ [batch, tokens, dimension] computes the sum without a masked copy of the hidden states.
        return [
            *mask,
            helper.make_node("Unsqueeze", ["mask", "axis_1"], ["mask_row"], name="mask_row"),
            helper.make_node("MatMul", ["mask_row", hidden], ["sum_row"], name="pool_sum"),
            helper.make_node("Squeeze", ["sum_row", "axis_1"], ["token_sum"], name="token_sum"),
            helper.make_node("ReduceSum", ["mask", "axis_1"], ["token_count"], name="token_count", keepdims=1),
            helper.make_node("Div", ["token_sum", "token_count"], [pooled], name="pool_mean"),
        ]
    return [
        *mask,
        constant("axis_2", np.array([2], np.int64)),
        constant("lowest", np.array(np.finfo(np.float32).min, np.float32)),
        helper.make_node("Cast", [ATTENTION_MASK], ["mask_bool"], name="mask_bool", to=TensorProto.BOOL),
        helper.make_node("Unsqueeze", ["mask_bool", "axis_2"], ["mask_column"], name="mask_column"),
        helper.make_node("Where", ["mask_column", hidden, "lowest"], ["real_tokens"], name="real_tokens"),
        helper.make_node("ReduceMax", ["real_tokens"], [pooled], name="pool_max", axes=[1], keepdims=0),
    ]


def normalize_nodes(pooled: str) -> list[NodeProto]:
    """Return nodes that divide ``pooled`` by its L2 norm into the graph's output; a zero vector remains zero."""
    return [
        helper.make_node("ReduceL2", [pooled], ["norm"], name="norm", axes=[1], keepdims=1),
        constant("smallest_norm", np.array(1e-12, np.float32)),
        helper.make_node("Max", ["norm", "smallest_norm"], ["safe_norm"], name="safe_norm"),
        helper.make_node("Div", [pooled, "safe_norm"], [EMBEDDING], name="normalise"),
    ]
