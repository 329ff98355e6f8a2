"""Encoders of the E5 family get the prefixes that they were trained with; the others get none."""

from __future__ import annotations

import numpy as np
import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import DEFAULT_MODEL, PrefixedEncoder, prefix_of


@pytest.mark.parametrize("model", ["intfloat/multilingual-e5-small", "intfloat/e5-base-v2", "local/e5-large"])
def test_e5_has_a_prefix_for_questions_and_one_for_passages(model: str) -> None:
    assert prefix_of(model, is_passage=True) == "passage: "
    assert prefix_of(model, is_passage=False) == "query: "


@pytest.mark.parametrize(
    "model", [DEFAULT_MODEL, "intfloat/multilingual-e5-large-instruct", "BAAI/bge-m3", "x/e5-small-sft"]
)
def test_other_encoders_have_none(model: str) -> None:
    assert prefix_of(model, is_passage=True) == prefix_of(model, is_passage=False) == ""


def test_the_prefix_precedes_every_text(encoder: Embedder) -> None:
    prefixed = PrefixedEncoder(encoder, "query: ")
    assert prefixed.identity == encoder.identity
    assert np.array_equal(prefixed.encode(["one", "two"]), encoder.encode(["query: one", "query: two"]))
