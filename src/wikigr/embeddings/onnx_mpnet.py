"""The layers of MPNet (Song et al. 2020), for the graphs that ``onnx_bert`` writes.

They differ from those of BERT in one point: a bias for the distance of two tokens, which all layers share, is added to
the scores of attention.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from wikigr.embeddings.onnx_bert import (
    CONTRIB,
    POSITION_EMBEDDINGS,
    Array,
    BertGraph,
    add_embeddings,
    add_feed_forward,
    add_norm,
    constant,
)
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.errors import ModelError

_MAX_DISTANCE = 128
_BIAS = "relative_bias"


def is_mpnet(config: Mapping[str, Any]) -> bool:
    """Return whether this is the ``config.json`` of an MPNet."""
    return config.get("model_type") == "mpnet"


def add_mpnet(graph: BertGraph, config: Mapping[str, Any], words: str) -> str:
    """Add the whole encoder to ``graph`` and return the name of the hidden states.

    ``words`` is the name of the table of token embeddings, and ``config`` the parsed ``config.json``. Raises
    ``ModelError`` if the weights do not match it.
    """
    positions = _positions(graph, config)
    hidden = add_embeddings(graph, words, graph.data.add("embeddings.positions", positions))
    _add_relative_bias(graph, _buckets(config), len(positions))
    for layer in range(graph.config.layers):
        hidden = _layer(graph, f"encoder.layer.{layer}.", hidden)
    return hidden


def _positions(graph: BertGraph, config: Mapping[str, Any]) -> Array:
    """Return the table of positions; the first token of a text has the number of padding plus one."""
    table = graph.weights(POSITION_EMBEDDINGS, None, graph.config.hidden)
    padding = config.get("pad_token_id", 1)
    if not isinstance(padding, int) or not 0 <= padding < len(table) - 1:
        raise ModelError(f"The model's config.json has the invalid pad_token_id {padding!r:.80}.")
    return table[padding + 1 :]


def _buckets(config: Mapping[str, Any]) -> int:
    buckets = config.get("relative_attention_num_buckets", 32)
    if not isinstance(buckets, int) or buckets < 4 or buckets % 4:
        raise ModelError(f"The model's config.json has the invalid relative_attention_num_buckets {buckets!r:.80}.")
    return buckets


def relative_buckets(positions: int, buckets: int) -> NDArray[np.int64]:
    """Return the bucket of each distance from ``1 - positions`` to ``positions - 1`` (Raffel et al. 2020).

    Half of the buckets are for tokens after a token; of each half, half are for one distance each, and the others for
    ranges that grow exponentially up to a distance of ``_MAX_DISTANCE``.
    """
    half = buckets // 2
    exact = half // 2
    found = []
    for distance in range(1 - positions, positions):
        size = abs(distance)
        if size >= exact:
            grown = math.log(size / exact) / math.log(_MAX_DISTANCE / exact) * (half - exact)
            # Without this, the rounding of the logarithms would decide at the ends of the ranges.
            size = min(half - 1, exact + math.floor(grown + 1e-9))
        found.append(size + (half if distance > 0 else 0))
    return np.array(found, np.int64)


def _add_relative_bias(graph: BertGraph, buckets: int, positions: int) -> None:
    """Add the bias of attention, ``[1, heads, tokens, tokens]``, under the name ``_BIAS``."""
    table = graph.weights("encoder.relative_attention_bias.weight", buckets, graph.config.heads)
    by_distance = graph.data.add("relative_bias.table", table[relative_buckets(positions, buckets)].T)
    for name, value in (("zero", 0), ("one", 1), ("longest", positions - 1)):
        graph.nodes.append(constant(name, np.array(value, np.int64)))
    for name, values in (("axis_0", [0]), ("axis_1", [1]), ("thirds", [graph.config.hidden] * 3)):
        graph.nodes.append(constant(name, np.array(values, np.int64)))
    tokens = graph.op("Gather", "tokens", [graph.op("Shape", "input_shape", [INPUT_IDS]), "one"])
    places = graph.op("Range", "places", ["zero", tokens, "one"])
    columns = graph.op("Unsqueeze", "place_columns", [places, "axis_0"])
    rows = graph.op("Unsqueeze", "place_rows", [places, "axis_1"])
    distances = graph.op("Sub", "distances", [columns, rows])
    shifted = graph.op("Add", "distance_numbers", [distances, "longest"])
    by_head = graph.op("Gather", "relative_bias_heads", [by_distance, shifted], axis=1)
    graph.op("Unsqueeze", _BIAS, [by_head, "axis_0"])


def _layer(graph: BertGraph, prefix: str, hidden: str) -> str:
    size = graph.config.hidden
    attention = prefix + "attention."
    parts = [f"{attention}attn.{part}" for part in "qkv"]
    kernel = np.concatenate([graph.weights(f"{part}.weight", size, size).T for part in parts], axis=1)
    bias = np.concatenate([graph.weights(f"{part}.bias", size) for part in parts])
    product = graph.product_with(attention + "qkv", hidden, attention + "qkv.weight", kernel)
    graph.nodes.append(
        helper.make_node("Split", [product, "thirds"], parts, name=attention + "split", axis=-1),
    )
    attended = graph.op(
        "MultiHeadAttention",
        attention + "heads",
        [*parts, graph.data.add(attention + "qkv.bias", bias), ATTENTION_MASK, _BIAS],
        domain=CONTRIB,
        num_heads=graph.config.heads,
    )
    inner = add_norm(graph, attention + "attn.o.", attention + "LayerNorm.", attended, hidden, size)
    return add_feed_forward(graph, prefix, inner)
