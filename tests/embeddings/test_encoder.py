"""The encoder gives unit vectors of any text."""

from __future__ import annotations

import numpy as np
import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
from wikigr.errors import ModelError, UsageError

TEXTS = [
    "", " ", "a", "Quantum mechanics", "Who proposed the exclusion principle, and in which year?",
    "Zażółć gęślą jaźń", "量子力学は物理学の理論である。", "שלום עולם", "Ελληνικά γράμματα", "🙂🙃 emoji ☃",
    "def f(x):\n    return x ** 2  # code", "1,234.56 % of €10 — “quoted” …", "naïve café coöperate", "A" * 500,
    *(f"Sentence number {n} speaks of topic {n % 7} at some length. " * (1 + n % 9) for n in range(9)),
    *("The boiling point rises with the length of the chain. " * n for n in (20, 60)),
    *(" ".join(f"word{n * k}" for k in range(n)) for n in (30, 300)),
]  # fmt: skip


def test_shape_type_norm_and_order(encoder: Embedder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.identity.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    alone = np.vstack([encoder.encode([text]) for text in TEXTS[::3]])
    np.testing.assert_allclose(vectors[::3], alone, atol=1e-5)
    assert encoder.encode([]).shape == (0, encoder.identity.dimension)


@pytest.mark.parametrize("text", ["\ud800 unpaired", "nul \0 byte", "x" * 1_000_000, "\n\t\r", "\u200b\u202e"])
def test_odd_text_is_encoded(encoder: Embedder, text: str) -> None:
    (vector,) = encoder.encode([text])
    assert np.isfinite(vector).all()


def test_meaning_is_near_and_nonsense_far(encoder: Embedder) -> None:
    question, answer, other = encoder.encode(
        ["Who discovered radium?", "Marie Curie discovered radium in 1898.", "The recipe needs two eggs."]
    )
    assert question @ answer > 0.6 > 0.3 > question @ other


def test_mistakes_are_clear() -> None:
    with pytest.raises(ModelError, match="has not been prepared") as caught:
        open_encoder("nobody/no-such-model")
    assert "wikigr model prepare" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="Unknown backend"):
        open_encoder(DEFAULT_MODEL, backend="tpu")  # type: ignore[arg-type]
