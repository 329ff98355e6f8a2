"""The graph of a reader on MPNet computes what transformers does, in float32 and nearly so in int8."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reader.mpnet import adapter_tensors, write_adapter, write_mpnet
from transformers import MPNetModel
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from wikigr.embeddings.onnx_bert import quantize_blocks
from wikigr.embeddings.onnx_mpnet import relative_buckets
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.embeddings.session import open_session
from wikigr.errors import ModelError
from wikigr.reader.adapter import Adapter
from wikigr.reader.graph import write_reader_graph
from wikigr.reader.prepared import LOGITS

DRAW = np.random.default_rng(3)
LENGTHS = (300, 512, 7, 130)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_mpnet(tmp_path / "base")


def _feed() -> dict[str, np.ndarray]:
    """Return texts of several lengths, padded on the right."""
    ids = np.full((len(LENGTHS), max(LENGTHS)), 1, np.int32)
    mask = np.zeros_like(ids)
    for row, length in enumerate(LENGTHS):
        ids[row, :length] = DRAW.integers(4, 60, length)
        mask[row, :length] = 1
    return {INPUT_IDS: ids, ATTENTION_MASK: mask}


def _written(base: Path, folder: Path, **values: Any) -> Path:
    folder.mkdir()
    adapter = Adapter(write_adapter(folder / "large.safetensors", base, **values))
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    write_reader_graph(base / "model.safetensors", config, adapter, folder, "reader.onnx")
    return folder / "reader.onnx"


def _logits(graph: Path, feed: dict[str, np.ndarray], *, threads: int = 1, packed: bool = True) -> np.ndarray:
    (logits,) = open_session(graph, threads=threads, packed=packed).run([LOGITS], feed)
    return np.asarray(logits)


def _of_torch(base: Path, feed: dict[str, np.ndarray]) -> np.ndarray:
    """Return the logits of transformers with the adapter merged into its weights."""
    model = MPNetModel.from_pretrained(base, add_pooling_layer=False).eval()
    tensors = {name: torch.from_numpy(array.astype(np.float32)) for name, array in adapter_tensors().items()}
    with torch.inference_mode():
        for name, weight in model.named_parameters():
            layer = name.removesuffix(".weight")
            if f"{layer}.up" in tensors:
                weight += tensors[f"{layer}.up"] @ tensors[f"{layer}.down"]
        ids, mask = (torch.from_numpy(feed[name].astype(np.int64)) for name in (INPUT_IDS, ATTENTION_MASK))
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
        return np.asarray(hidden @ tensors["head.weight"].T + tensors["head.bias"])


@pytest.mark.parametrize("packed", [True, False])
def test_the_logits_are_those_of_transformers(base: Path, tmp_path: Path, packed: bool) -> None:
    feed = _feed()
    expected = _of_torch(base, feed)
    found = _logits(_written(base, tmp_path / "written"), feed, packed=packed)
    for row, length in enumerate(LENGTHS):
        np.testing.assert_allclose(found[row, :length], expected[row, :length], atol=2e-4)


def test_int8_differs_little_and_reads_each_text_by_itself(base: Path, tmp_path: Path) -> None:
    feed = _feed()
    exact = _logits(_written(base, tmp_path / "exact"), feed)
    graph = _written(base, tmp_path / "int8", quantization="int8")
    found = _logits(graph, feed)
    tokens = feed[ATTENTION_MASK] == 1
    error, spread = (found - exact)[tokens].std(), exact[tokens].std()
    assert 0 < error < 0.05 * spread
    alone = _logits(graph, {name: values[2:3, :7] for name, values in feed.items()})
    np.testing.assert_allclose(found[2, :7], alone[0], atol=1e-4)


@pytest.mark.parametrize("quantization", ["none", "int8"])
def test_neither_threads_nor_a_second_run_change_a_byte(base: Path, tmp_path: Path, quantization: str) -> None:
    feed = _feed()
    first, second = (_written(base, tmp_path / name, quantization=quantization) for name in ("one", "two"))
    for suffix in ("", ".data"):
        assert Path(f"{first}{suffix}").read_bytes() == Path(f"{second}{suffix}").read_bytes()
    outputs = [_logits(first, feed, threads=threads) for threads in (1, 2, 4)]
    assert all(np.array_equal(outputs[0], other) for other in outputs[1:])


@pytest.mark.parametrize(("positions", "buckets"), [(512, 32), (300, 8), (5, 32)])
def test_the_buckets_of_distances_are_those_of_transformers(positions: int, buckets: int) -> None:
    distances = torch.arange(1 - positions, positions)
    expected = MPNetEncoder.relative_position_bucket(distances, num_buckets=buckets).numpy()
    assert np.array_equal(relative_buckets(positions, buckets), expected)


@settings(max_examples=50)
@given(st.integers(1, 300), st.integers(1, 5), st.sampled_from([0.0, 1e-30, 1.0, 1e6]))
def test_a_quantized_weight_is_off_by_half_a_step(inner: int, outer: int, size: float) -> None:
    kernel = (np.random.default_rng(inner).standard_normal((inner, outer)) * size).astype(np.float32)
    values, scales = quantize_blocks(kernel)
    assert values.dtype == np.uint8
    assert values.shape[:2] == scales.shape
    restored = ((values.astype(np.float32) - 128) * scales[..., None]).reshape(outer, -1)[:, :inner].T
    step = np.repeat(scales, values.shape[2], axis=1)[:, :inner].T
    assert (np.abs(restored - kernel) <= step * 0.5001).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "roberta"}, "no reader for a model of the type 'roberta'"),
        ({"hidden_act": "silu"}, "no reader for a model of the type 'mpnet'"),
        ({"pad_token_id": -1}, "invalid pad_token_id"),
        ({"pad_token_id": "1"}, "invalid pad_token_id"),
        ({"pad_token_id": 9999}, "invalid pad_token_id"),
        ({"relative_attention_num_buckets": 30}, "invalid relative_attention_num_buckets"),
        ({"relative_attention_num_buckets": 64}, "relative_attention_bias"),
        ({"num_attention_heads": 3}, "relative_attention_bias"),
        ({"hidden_size": 48}, "has shape"),
        ({"num_hidden_layers": 4}, "lack the tensor"),
    ],
)
def test_a_config_that_does_not_fit_is_a_clear_error(
    base: Path, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = base / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        _written(base, tmp_path / "written")


def test_an_unknown_quantization_is_named(base: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="its quantization is 'int4'"):
        _written(base, tmp_path / "written", quantization="int4")
