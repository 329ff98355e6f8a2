"""Write a reader's ONNX graph: the encoder's weights with the adapter merged in, and the head.

The graph has the inputs of an encoder, for BERT also ``token_type_ids``, int32 ``[batch, tokens]`` as well, and the
output ``logits``, float32 ``[batch, tokens, 2]``. Beside a prepared encoder, it reads the embeddings of tokens, half of
the encoder, from the file of the encoder's graph, so both must lie in one folder. With the ranges of the adapter's
description, it multiplies matrices of 8-bit integers (see ``wikigr.embeddings.int8``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import TensorProto, helper

from wikigr.embeddings.onnx_bert import (
    WORD_EMBEDDINGS,
    Array,
    BertConfig,
    BertGraph,
    CheckpointWeights,
    WeightFile,
    add_embeddings,
    add_layers,
    inputs,
    position_tables,
    write_graph,
)
from wikigr.embeddings.onnx_mpnet import add_mpnet, is_mpnet
from wikigr.errors import ModelError
from wikigr.reader.adapter import Adapter
from wikigr.reader.windows import LOGITS, TOKEN_TYPES


class _MergedWeights:
    """The weights of the encoder with those of the adapter added."""

    def __init__(self, weights: CheckpointWeights, adapter: Adapter) -> None:
        self._weights = weights
        self._adapter = adapter

    def __call__(self, name: str, *shape: int | None) -> Array:
        weight = self._weights(name, *shape)
        update = self._adapter.update(name)
        if update is None:
            return weight
        if update.shape != weight.shape:
            raise ModelError(f"The reader's adapter does not fit the encoder: {name} has another shape.")
        return weight + update


def write_reader_graph(
    weights: Path, config: Mapping[str, Any], adapter: Adapter, folder: Path, name: str, *, encoder: Path | None = None
) -> None:
    """Write ``folder/name`` and its tensors ``folder/name + ".data"``; the same input gives the same bytes.

    ``weights`` is the safetensors file of a BERT or MPNet, ``config`` the parsed ``config.json``, and ``encoder`` the
    prepared graph beside it, if there is one. Raises ``ModelError`` if they do not match the adapter.
    """
    bert = BertConfig.of_layers(config) if is_mpnet(config) else BertConfig.from_json(config)
    sources = inputs()
    with (folder / f"{name}.data").open("wb") as stream:
        data = WeightFile(stream, f"{name}.data")
        merged = _MergedWeights(CheckpointWeights(weights), adapter)
        graph = BertGraph(bert, merged, data, adapter.description.ranges)
        if encoder is None:
            graph.tensor(WORD_EMBEDDINGS, None, bert.hidden)
        else:
            data.tensors.append(_shared_embeddings(encoder))
        if is_mpnet(config):
            hidden = add_mpnet(graph, config, WORD_EMBEDDINGS)
        else:
            positions, segments = position_tables(graph)
            tables = [data.add("embeddings.positions", positions), data.add("embeddings.segments", segments)]
            hidden = add_layers(graph, add_embeddings(graph, WORD_EMBEDDINGS, tables[0], (TOKEN_TYPES, tables[1])))
            sources.append(helper.make_tensor_value_info(TOKEN_TYPES, TensorProto.INT32, ["batch", "tokens"]))
        kernel = data.add("head.weight", adapter.tensor("head.weight", 2, bert.hidden).T)
        bias = data.add("head.bias", adapter.tensor("head.bias", 2))
        graph.op("Add", LOGITS, [graph.op("MatMul", "head", [hidden, kernel]), bias])
    logits = helper.make_tensor_value_info(LOGITS, TensorProto.FLOAT, ["batch", "tokens", 2])
    write_graph(graph, sources, [logits], folder / name)


def _shared_embeddings(encoder: Path) -> TensorProto:
    """Return the table of token embeddings in the prepared graph ``encoder``, which stays in that graph's file."""
    try:
        tensors = onnx.load(encoder, load_external_data=False).graph.initializer
    except (OSError, DecodeError) as error:
        raise ModelError(f"Cannot read the graph {encoder}: {error}.") from error
    for tensor in tensors:
        if tensor.name == WORD_EMBEDDINGS and tensor.data_location == TensorProto.EXTERNAL:
            return tensor
    raise ModelError(f"The graph {encoder} does not hold the embeddings of tokens.")
