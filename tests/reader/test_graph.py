"""The graph of a reader on MPNet computes what transformers does, and nearly so in 8 bits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, load_file, save
from tests.reader.mpnet import adapter_tensors, write_adapter, write_mpnet

from wikigr.embeddings.int8 import ranges_to_json
from wikigr.embeddings.onnx_mpnet import relative_buckets
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS, PreparedModel
from wikigr.embeddings.session import open_session
from wikigr.errors import ModelError
from wikigr.reader.adapter import Adapter, restored
from wikigr.reader.graph import write_reader_graph
from wikigr.reader.windows import LOGITS

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
    adapter = Adapter(write_adapter(folder / "base.safetensors", base, **values))
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    write_reader_graph(base / "model.safetensors", config, adapter, folder, "reader.onnx")
    return folder / "reader.onnx"


def _logits(graph: Path, feed: Mapping[str, np.ndarray], *, packed: bool = True) -> np.ndarray:
    (logits,) = open_session(graph, packed=packed).run([LOGITS], dict(feed))
    return np.asarray(logits)


def _of_torch(base: Path, feed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the logits of transformers with the adapter merged into its weights."""
    # Imported here, so that only the process that runs these tests loads torch.
    import torch
    from transformers import MPNetModel

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
        np.testing.assert_allclose(found[row, :length], expected[row, :length], atol=1e-3)


def test_8_bits_change_the_logits_little_and_read_each_text_by_itself(base: Path, tmp_path: Path) -> None:
    from training.int8_ranges import record

    feed = _feed()
    graph = _written(base, tmp_path / "exact")
    exact = _logits(graph, feed)
    ranges = ranges_to_json(record(graph, [feed], 0.0, outliers=2, single=2))
    rounding = _written(base, tmp_path / "rounding", ranges=ranges)
    found = _logits(rounding, feed)
    tokens = feed[ATTENTION_MASK] == 1
    assert 0 < (found - exact)[tokens].std() < 0.1 * exact[tokens].std()
    alone = _logits(rounding, {name: values[2:3, :7] for name, values in feed.items()})
    np.testing.assert_allclose(found[2, :7], alone[0], atol=1e-4)
    again = _written(base, tmp_path / "again", ranges=ranges)
    for suffix in ("", ".data"):
        assert Path(f"{rounding}{suffix}").read_bytes() == Path(f"{again}{suffix}").read_bytes()


@pytest.mark.parametrize(("positions", "buckets"), [(512, 32), (300, 8), (5, 32)])
def test_the_buckets_of_distances_are_those_of_transformers(positions: int, buckets: int) -> None:
    import torch
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    distances = torch.arange(1 - positions, positions)
    expected = MPNetEncoder.relative_position_bucket(distances, num_buckets=buckets).numpy()
    assert np.array_equal(relative_buckets(positions, buckets), expected)


def test_an_adapter_in_8_bits_gives_nearly_the_same_updates(base: Path, tmp_path: Path) -> None:
    from training.adapter import rounded

    path = write_adapter(tmp_path / "whole.safetensors", base)
    (tmp_path / "rounded.safetensors").write_bytes(rounded(path.read_bytes()))
    stored = load_file(tmp_path / "rounded.safetensors")
    assert {array.dtype for name, array in stored.items() if name.endswith((".up", ".down"))} == {np.dtype(np.int8)}
    whole, found = restored(load_file(path)), restored(stored)
    assert whole.keys() == found.keys()
    for name, array in whole.items():
        np.testing.assert_allclose(found[name], array, atol=np.abs(array).max() / 200)


def test_scales_that_do_not_fit_are_refused(base: Path, tmp_path: Path) -> None:
    from training.adapter import rounded

    stored = load_file(write_adapter(tmp_path / "whole.safetensors", base))
    content = load(rounded(save(stored)))
    content["scales"] = content["scales"][:-1]
    path = write_adapter(tmp_path / "short.safetensors", base, content)
    with pytest.raises(ModelError, match="Cannot read the reader's adapter"):
        Adapter(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "roberta"}, "config.json has the type 'roberta'"),
        ({"hidden_act": "silu"}, "hidden_act"),
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


def test_a_model_without_a_graph_of_ours_has_no_reader(encoder: PreparedModel, tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    with pytest.raises(ModelError, match=r"Only BERT encoders .* config\.json has the type 'roberta'"):
        write_reader_graph(
            weights, {"model_type": "roberta"}, Adapter(), tmp_path, "reader.onnx", encoder=encoder.graph
        )
