"""The adapter file gives the logits of the model that wrote it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from training.adapter import Shape, load_adapter, read_shape, write_adapter
from training.config import Config
from training.model import SpanReader
from wikigr.reader.passage import UNCALIBRATED

CONFIG = Config(base="small", phases=(), rank=4)


def _random_model(tiny_bert: Path, seed: int) -> SpanReader:
    model = SpanReader(tiny_bert, rank=CONFIG.rank, scale=CONFIG.scale)
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    tensors = {name: torch.randn(t.shape, generator=generator) * 0.1 for name, t in model.adapter().items()}
    model.load_adapter({name: tensor.half().float() for name, tensor in tensors.items()})
    return model


def _logits(model: SpanReader) -> torch.Tensor:
    ids = torch.arange(1000, 1024).reshape(2, 12)
    with torch.inference_mode():
        logits: torch.Tensor = model(ids, torch.zeros_like(ids), torch.ones_like(ids))
    return logits


def _write(model: SpanReader, path: Path) -> None:
    figures = {"gold": {"f1": 0.5}}
    write_adapter(model, path, CONFIG, base_sha256="0" * 64, figures=figures, calibration=UNCALIBRATED, command="test")


def test_round_trip(tiny_bert: Path, tmp_path: Path) -> None:
    model = _random_model(tiny_bert, 1)
    path = tmp_path / "adapter.safetensors"
    _write(model, path)
    loaded = _random_model(tiny_bert, 2)
    assert not torch.equal(_logits(loaded), _logits(model))
    load_adapter(loaded, path)
    assert torch.equal(_logits(loaded), _logits(model))
    with safe_open(path, "pt") as file:
        assert file.get_tensor("head.bias").dtype == torch.float16
    assert read_shape(path) == Shape("small", 4, 2.0)
    described = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert described["data"]["squad2"] == "CC BY-SA 4.0"
    assert described["base_sha256"] == "0" * 64
    assert Config.from_json(described["config"]) == CONFIG


def test_the_tensors_merge_with_the_base_weights(tiny_bert: Path, tmp_path: Path) -> None:
    from transformers import BertModel

    model = _random_model(tiny_bert, 1)
    path = tmp_path / "adapter.safetensors"
    _write(model, path)
    merged = BertModel.from_pretrained(tiny_bert, add_pooling_layer=False).eval()
    with safe_open(path, "pt") as file, torch.no_grad():
        for name in [key for key in file.keys() if key.endswith(".up")]:  # noqa: SIM118
            up, down = (file.get_tensor(name.removesuffix("up") + part).float() for part in ("up", "down"))
            merged.get_parameter(name.removesuffix("up") + "weight").add_(up @ down)
        weight, bias = (file.get_tensor(f"head.{part}").float() for part in ("weight", "bias"))
    ids = torch.arange(1000, 1024).reshape(2, 12)
    with torch.inference_mode():
        hidden = merged(ids, torch.ones_like(ids), torch.zeros_like(ids)).last_hidden_state
        torch.testing.assert_close(hidden @ weight.T + bias, _logits(model), atol=1e-4, rtol=1e-4)


def test_the_same_model_gives_the_same_bytes(tiny_bert: Path, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        _write(_random_model(tiny_bert, 1), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_an_adapter_of_another_size_does_not_fit(tiny_bert: Path, tmp_path: Path) -> None:
    path = tmp_path / "adapter.safetensors"
    _write(_random_model(tiny_bert, 1), path)
    with pytest.raises(ValueError, match="does not fit"):
        load_adapter(SpanReader(tiny_bert, rank=5, scale=1.0), path)
