"""The graph writer on BERT variants, compared with sentence-transformers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tests.embeddings.conftest import MakeBert

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.models import prepare
from wikigr.embeddings.onnx import OnnxEncoder
from wikigr.errors import ModelError

TEXTS = ["", "the quantum of light", "WHO is 1 atom?", "é 東 ( def x : return x * 2 )", "wave " * 100, "a b c", "xyzzy"]


def test_pooling_changes_the_vector(make_bert: MakeBert, tmp_path: Path) -> None:
    vectors = [
        OnnxEncoder(prepare(str(make_bert(mode, pooling=mode)), cache_dir=tmp_path / "cache")).encode(TEXTS[1:2])[0]
        for mode in ("mean", "cls")
    ]
    assert vectors[0] @ vectors[1] < 0.999


def test_a_neighbor_does_not_matter(make_bert: MakeBert, tmp_path: Path) -> None:
    for mode in ("mean", "cls"):
        prepared = prepare(str(make_bert(mode, pooling=mode)), cache_dir=tmp_path / "cache")
        for encoder in (OnnxEncoder(prepared), OnnxEncoder(prepared, threads=2, packed=True)):
            together = encoder.encode(TEXTS)
            alone = np.vstack([encoder.encode([text]) for text in TEXTS])
            np.testing.assert_allclose(together, alone, atol=1e-5)


def test_vectors_stay_the_same_when_the_weights_are_repacked(make_bert: MakeBert, tmp_path: Path) -> None:
    encoder = OnnxEncoder(prepare(str(make_bert()), cache_dir=tmp_path / "cache"))
    vectors = [encoder.encode(["quantum field"])[0] for _ in range(9)]
    np.testing.assert_allclose(vectors, np.broadcast_to(vectors[0], (9, 24)), atol=1e-6)


def test_the_same_weights_give_the_same_bytes(make_bert: MakeBert, tmp_path: Path) -> None:
    folder = make_bert()
    first, second = (prepare(str(folder), cache_dir=tmp_path / name) for name in ("one", "two"))
    names = sorted(path.name for path in first.folder.iterdir())
    assert names == ["encoder.json", "model.onnx", "model.onnx.data", "tokenizer.json"]
    for name in names:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()
    digest = first.identity.weights_sha256
    assert first.identity == EncoderIdentity(f"local/tiny@{digest[:12]}", 24, digest)
    assert first.max_tokens == 16


def test_half_precision_weights_are_read(make_bert: MakeBert, tmp_path: Path) -> None:
    whole, half = make_bert("whole"), make_bert("half")
    tensors = load_file(half / "model.safetensors")
    save_file({k: v.astype(np.float16) for k, v in tensors.items()}, half / "model.safetensors", {"format": "pt"})
    one, other = (
        OnnxEncoder(prepare(str(folder), cache_dir=tmp_path / "cache")).encode(TEXTS) for folder in (whole, half)
    )
    assert (one * other).sum(axis=1).min() > 0.999
    assert not np.array_equal(one, other)


def test_weights_that_do_not_fit_are_named(make_bert: MakeBert, tmp_path: Path) -> None:
    missing, misshapen, foreign, torn, bare = map(make_bert, ("missing", "misshapen", "foreign", "torn", "bare"))
    tensors = load_file(missing / "model.safetensors")
    lost = "encoder.layer.1.output.dense.bias"
    save_file({k: v for k, v in tensors.items() if k != lost}, missing / "model.safetensors")
    config = json.loads((misshapen / "config.json").read_text())
    (misshapen / "config.json").write_text(json.dumps({**config, "hidden_size": 32}))
    save_file({"weight": np.zeros(3, np.float32)}, foreign / "model.safetensors")
    segments = "embeddings.token_type_embeddings.weight"
    save_file({**tensors, segments: tensors[segments][:0]}, bare / "model.safetensors")
    (torn / "model.safetensors").write_bytes((torn / "model.safetensors").read_bytes()[:5000])
    for folder, message in (
        (missing, lost),
        (misshapen, "has shape"),
        (foreign, "not a BERT encoder"),
        (torn, "Cannot read the weights"),
        (bare, "no rows"),
    ):
        with pytest.raises(ModelError, match=message):
            prepare(str(folder), cache_dir=tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"hidden_size": float("inf")}, {"num_hidden_layers": float("nan")}, {"hidden_act": {"name": "gelu"}},
        {"hidden_act": ["gelu"]}, {"hidden_size": 0},
    ],
)  # fmt: skip
def test_a_hostile_config_is_a_clear_error(make_bert: MakeBert, tmp_path: Path, change: dict[str, object]) -> None:
    folder = make_bert()
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelError, match=r"config\.json"):
        prepare(str(folder), cache_dir=tmp_path / "cache")
