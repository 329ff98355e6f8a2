"""The other backend, the documented generator, and what is not imported or read."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import PrefixedEncoder, prefix_of

TEXTS = ["", "the energy of light", "who is the atom?", "wave " * 400, "def x ( a ) : return 2"]


def test_the_generator_embeds_queries_and_texts(encoder: Embedder) -> None:
    from wikigr.embeddings import EmbeddingGenerator

    generator = EmbeddingGenerator()
    assert (generator.model_name, generator.dimension) == (encoder.identity.model_id, 384)
    assert EmbeddingGenerator("all-MiniLM-L6-v2").model_name == generator.model_name
    vectors = generator.generate(TEXTS)
    np.testing.assert_allclose(vectors, encoder.encode(TEXTS), atol=1e-6)
    query = generator.embed_query(TEXTS[1])
    assert query.shape == (384,)
    np.testing.assert_allclose(query, vectors[1], atol=1e-5)
    with pytest.raises(TypeError, match="embed_query"):
        generator.generate("one text")


def test_the_package_is_light_until_it_is_used() -> None:
    program = "import sys, wikigr.embeddings; print(*sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("model", "has_prefix"),
    [
        ("intfloat/multilingual-e5-small", True),
        ("intfloat/e5-base-v2", True),
        ("local/e5-large", True),
        ("sentence-transformers/all-MiniLM-L6-v2", False),
        ("intfloat/multilingual-e5-large-instruct", False),
        ("x/e5-small-sft", False),
    ],
)
def test_encoders_of_the_e5_family_get_their_prefixes(encoder: Embedder, model: str, has_prefix: bool) -> None:
    found = prefix_of(model, is_passage=True), prefix_of(model, is_passage=False)
    assert found == (("passage: ", "query: ") if has_prefix else ("", ""))
    prefixed = PrefixedEncoder(encoder, found[1])
    assert prefixed.identity == encoder.identity
    # After some runs, the encoder prepacks its weights, which may change the last digits.
    np.testing.assert_allclose(prefixed.encode(["one"]), encoder.encode([f"{found[1]}one"]), atol=1e-6)
