"""Small encoders with random weights, in the folder layout of sentence-transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = "the of atom energy quantum field light wave when who is a b c 1 2 # é 東 ( ) : * return def x".split()
MakeBert = Callable[..., Path]


@pytest.fixture(scope="module", autouse=True)
def shared_inference() -> None:
    """Run the graphs in every test, because they are what is tested here."""


def _tokenizer() -> Tokenizer:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


@pytest.fixture
def make_bert(tmp_path: Path) -> MakeBert:
    """Write a BERT of unusual size; ``name`` is its folder, and ``seed`` determines its weights."""

    def make(
        name: str = "tiny", *, pooling: str = "mean", activation: str = "gelu", prefix: str = "", seed: int = 0
    ) -> Path:
        folder = tmp_path / name
        (folder / "1_Pooling").mkdir(parents=True)
        hidden, inner, layers, positions, vocabulary = 24, 40, 3, 32, 5 + len(WORDS)
        draw = np.random.default_rng(seed)

        def random(*shape: int) -> np.ndarray:
            return (draw.standard_normal(shape) * 0.3).astype(np.float32)

        tensors = {
            "embeddings.word_embeddings.weight": random(vocabulary, hidden),
            "embeddings.position_embeddings.weight": random(positions, hidden),
            "embeddings.token_type_embeddings.weight": random(2, hidden),
            "embeddings.LayerNorm.weight": 1 + random(hidden),
            "embeddings.LayerNorm.bias": random(hidden),
        }
        for layer in range(layers):
            here = f"encoder.layer.{layer}."
            for part in (
                "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
            ):  # fmt: skip
                tensors[f"{here}{part}.weight"] = random(hidden, hidden)
                tensors[f"{here}{part}.bias"] = random(hidden)
            tensors[here + "intermediate.dense.weight"] = random(inner, hidden)
            tensors[here + "intermediate.dense.bias"] = random(inner)
            tensors[here + "output.dense.weight"] = random(hidden, inner)
            tensors[here + "output.dense.bias"] = random(hidden)
            for part in ("attention.output", "output"):
                tensors[f"{here}{part}.LayerNorm.weight"] = 1 + random(hidden)
                tensors[f"{here}{part}.LayerNorm.bias"] = random(hidden)
        save_file(
            {prefix + key: value for key, value in tensors.items()}, folder / "model.safetensors", {"format": "pt"}
        )
        config = {
            "architectures": ["BertModel"], "model_type": "bert", "hidden_size": hidden, "intermediate_size": inner,
            "num_hidden_layers": layers, "num_attention_heads": 4, "max_position_embeddings": positions,
            "vocab_size": vocabulary, "type_vocab_size": 2, "hidden_act": activation, "layer_norm_eps": 1e-5,
            "pad_token_id": 0,
        }  # fmt: skip
        modes = {"mean": "mean_tokens", "cls": "cls_token"}
        flags = {f"pooling_mode_{flag}": mode == pooling for mode, flag in modes.items()}
        steps = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
        for path, content in {
            "config.json": config,
            "1_Pooling/config.json": {"word_embedding_dimension": hidden, **flags},
            "sentence_bert_config.json": {"max_seq_length": 16, "do_lower_case": False},
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": positions,
             "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]",
             "mask_token": "[MASK]"},
            "modules.json": [{"idx": n, "name": str(n), "path": path,
             "type": f"sentence_transformers.models.{step}"} for n, (step, path) in enumerate(steps.items())],
        }.items():  # fmt: skip
            (folder / path).write_text(json.dumps(content))
        _tokenizer().save(str(folder / "tokenizer.json"))
        return folder

    return make
