"""A tiny MPNet with random weights, in the folder layout of sentence-transformers, and an adapter for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from wikigr.embeddings.prepared_files import sha256_of
from wikigr.reader.adapter import FORMAT, as_json
from wikigr.reader.passage import UNCALIBRATED

MODEL_ID = "sentence-transformers/all-mpnet-base-v2"
HIDDEN, INNER, LAYERS, HEADS, POSITIONS, RANK = 24, 40, 3, 4, 514, 2
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789é?.:,·"
LINEAR = ("attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "intermediate.dense")
CONFIG = {
    "architectures": ["MPNetForMaskedLM"], "model_type": "mpnet", "hidden_size": HIDDEN, "intermediate_size": INNER,
    "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "max_position_embeddings": POSITIONS,
    "hidden_act": "gelu", "layer_norm_eps": 1e-5, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
    "relative_attention_num_buckets": 32,
}  # fmt: skip


def mpnet_tokenizer() -> Tokenizer:
    """Return a tokenizer into letters, with the special tokens of MPNet."""
    vocabulary = ["<s>", "<pad>", "</s>", "[UNK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "[UNK]"])
    return tokenizer


def write_mpnet(folder: Path, seed: int = 0) -> Path:
    """Write the checkpoint to the new folder ``folder``, and return it."""
    folder.mkdir()
    tokenizer = mpnet_tokenizer()
    draw = np.random.default_rng(seed)
    tensors: dict[str, np.ndarray] = {}

    def linear(name: str, outer: int, inner: int) -> None:
        tensors[f"{name}.weight"] = (draw.standard_normal((outer, inner)) * 0.3).astype(np.float32)
        tensors[f"{name}.bias"] = (draw.standard_normal(outer) * 0.3).astype(np.float32)

    def norm(name: str) -> None:
        tensors[f"{name}.weight"] = (1 + draw.standard_normal(HIDDEN) * 0.3).astype(np.float32)
        tensors[f"{name}.bias"] = (draw.standard_normal(HIDDEN) * 0.3).astype(np.float32)

    for name, rows, columns in (
        ("embeddings.word_embeddings", tokenizer.get_vocab_size(), HIDDEN),
        ("embeddings.position_embeddings", POSITIONS, HIDDEN),
        ("encoder.relative_attention_bias", 32, HEADS),
    ):
        tensors[f"{name}.weight"] = draw.standard_normal((rows, columns)).astype(np.float32)
    norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        here = f"encoder.layer.{layer}."
        for part in LINEAR:
            linear(here + part, INNER if part == "intermediate.dense" else HIDDEN, HIDDEN)
        linear(here + "output.dense", HIDDEN, INNER)
        norm(here + "attention.LayerNorm")
        norm(here + "output.LayerNorm")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = {**CONFIG, "vocab_size": tokenizer.get_vocab_size()}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    pooling = {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}
    (folder / "modules.json").write_text(json.dumps([pooling]), encoding="utf-8")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}', encoding="utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def adapter_tensors(seed: int = 1) -> dict[str, np.ndarray]:
    """Return random tensors of an adapter in float16."""
    draw = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, int]] = {}
    for layer in range(LAYERS):
        for part in (*LINEAR, "output.dense"):
            shapes[f"encoder.layer.{layer}.{part}"] = (
                INNER if part == "intermediate.dense" else HIDDEN,
                INNER if part == "output.dense" else HIDDEN,
            )
    tensors = {}
    for name, (outer, inner) in shapes.items():
        tensors[f"{name}.up"] = (draw.standard_normal((outer, RANK)) * 0.3).astype(np.float16)
        tensors[f"{name}.down"] = (draw.standard_normal((RANK, inner)) * 0.3).astype(np.float16)
    tensors["head.weight"] = draw.standard_normal((2, HIDDEN)).astype(np.float16)
    tensors["head.bias"] = draw.standard_normal(2).astype(np.float16)
    return tensors


def write_adapter(path: Path, base: Path, tensors: Mapping[str, np.ndarray] | None = None, **values: Any) -> Path:
    """Write an adapter for the checkpoint ``base`` and its description with ``values`` to ``path``, and return it."""
    path.parent.mkdir(exist_ok=True)
    save_file(dict(adapter_tensors() if tensors is None else tensors), path, {"format": FORMAT})
    described = {
        "format": FORMAT,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "base_model": MODEL_ID,
        "base_sha256": sha256_of(base / "model.safetensors"),
        "calibration": asdict(UNCALIBRATED),
        **values,
    }
    path.with_suffix(".json").write_text(as_json(described), encoding="utf-8")
    return path
