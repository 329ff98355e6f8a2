"""The ONNX encoders compared with sentence-transformers on the same weights, and what only that backend runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.embeddings.conftest import MakeBert
from tests.embeddings.test_encoder import TEXTS

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
from wikigr.embeddings.models import prepare
from wikigr.embeddings.onnx import OnnxEncoder
from wikigr.errors import ModelError

# Of the small vocabulary of the models that tests make.
SMALL = [
    "",
    "the quantum of light",
    "WHO is 1 atom?",
    "é 東 ( def x : return x * 2 )",
    "wave " * 100,
    "a b c",
    "xyzzy",
]


def test_vectors_agree_with_sentence_transformers(encoder: Embedder) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra 'models' is not installed")
    theirs_encoder = open_encoder(DEFAULT_MODEL, backend="sentence-transformers")
    theirs = theirs_encoder.encode(TEXTS)
    for purpose in ("query", "bulk"):
        ours_encoder = open_encoder(DEFAULT_MODEL, backend="onnx", purpose=purpose, threads=2)  # type: ignore[arg-type]
        assert ours_encoder.identity == theirs_encoder.identity == encoder.identity
        cosines = (ours_encoder.encode(TEXTS) * theirs).sum(axis=1)
        assert cosines.min() >= 0.9999, (purpose, TEXTS[int(cosines.argmin())][:80])


@pytest.mark.parametrize(
    ("pooling", "activation", "prefix"),
    [
        ("mean", "gelu", ""),
        ("cls", "gelu", "bert."),
        ("cls", "relu", ""),
        ("mean", "gelu_new", ""),
        ("cls", "gelu_pytorch_tanh", ""),
    ],
)
def test_any_bert_agrees_with_sentence_transformers(
    make_bert: MakeBert, tmp_path: Path, pooling: str, activation: str, prefix: str
) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra 'models' is not installed")
    from wikigr.embeddings.sentence_transformers import SentenceTransformersEncoder

    folder = make_bert(pooling=pooling, activation=activation, prefix=prefix)
    theirs = SentenceTransformersEncoder(str(folder), device="cpu")
    ours = OnnxEncoder(prepare(str(folder), cache_dir=tmp_path / "cache"))
    assert ours.identity == theirs.identity
    np.testing.assert_allclose(ours.encode(SMALL), theirs.encode(SMALL), atol=2e-6)


def _make_other_architecture(make_bert: MakeBert) -> Path:
    """Create a folder of DistilBERT with the tokenizer and the layout of a BERT folder."""
    pytest.importorskip("torch", reason="the extra 'models' is not installed")
    import transformers

    folder: Path = make_bert("distilbert")
    sizes: dict[str, Any] = {"vocab_size": 40, "pad_token_id": 0, "max_position_embeddings": 40}
    config = transformers.DistilBertConfig(dim=24, n_layers=2, n_heads=4, hidden_dim=40, **sizes)
    transformers.DistilBertModel(config).save_pretrained(folder)
    return folder


def test_other_architectures_need_the_other_backend(make_bert: MakeBert, tmp_path: Path) -> None:
    folder = _make_other_architecture(make_bert)
    with pytest.raises(ModelError, match="Only BERT encoders run on ONNX Runtime") as caught:
        prepare(str(folder), cache_dir=tmp_path / "cache")
    assert "sentence-transformers" in str(caught.value.hint)
    assert not list((tmp_path / "cache").iterdir())
    vectors = open_encoder(str(folder), backend="sentence-transformers").encode(SMALL)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
