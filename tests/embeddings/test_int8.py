"""The 8-bit form of the default encoder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.int8 import ValueRange, quantize_weights, recorded_ranges, scale_of
from wikigr.embeddings.loader import open_encoder
from wikigr.embeddings.model_id import DEFAULT_INT8, DEFAULT_MODEL, DEFAULT_WEIGHTS_SHA256
from wikigr.embeddings.models import prepare
from wikigr.embeddings.prepared import PreparedModel
from wikigr.errors import ModelError
from wikigr.reader.prepared import prepare_reader

TEXTS = [
    "Max Planck was a German physicist who originated quantum theory.",
    "git commit --amend replaces the tip of the current branch with a new commit.",
    "The photoelectric effect is the emission of electrons when light hits a material. " * 8,
    "Paris",
    "東京は日本の首都である。",
]


@pytest.fixture(scope="module")
def int8(encoder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> PreparedModel:
    return prepare(DEFAULT_INT8, cache_dir=tmp_path_factory.mktemp("models"))


@given(arrays(np.float32, (3, 4), elements=st.floats(-8, 8, width=32)))
def test_weights_are_rounded_to_seven_bits_per_output(kernel: np.ndarray) -> None:
    integers, scales = quantize_weights(kernel)
    assert np.abs(integers.astype(int)).max() <= 63
    assert (np.abs(integers * scales - kernel) <= scales * 0.501).all()


@given(st.integers(-9000, 9000), st.integers(-9000, 9000))
def test_a_range_and_zero_are_represented(one: int, other: int) -> None:
    low, high = sorted((one / 1000, other / 1000))
    scale, zero = scale_of(ValueRange(low, high))
    assert scale * (0 - float(zero)) <= low + scale
    assert scale * (255 - float(zero)) >= high - scale


def test_ranges_are_recorded_for_the_default_weights_only() -> None:
    ranges = recorded_ranges(DEFAULT_WEIGHTS_SHA256)
    assert ranges is not None
    assert len(ranges) == 24
    assert recorded_ranges("0" * 64) is None


@pytest.mark.parametrize("divisors", [{}, {7: 2.5, 12: 4.0}])
@pytest.mark.parametrize("single", [(), (3, 5)])
def test_ranges_are_read_as_they_were_written(divisors: dict[int, float], single: tuple[int, ...]) -> None:
    written = ValueRange(-1.5, 2.0, divisors, single)
    assert ValueRange.from_json(json.loads(json.dumps(written.to_json()))) == written


def test_vectors_are_close_and_independent_of_their_neighbors(encoder: Embedder, int8: PreparedModel) -> None:
    bulk, single = (open_encoder(int8.folder, purpose=purpose) for purpose in ("bulk", "query"))
    vectors = bulk.encode(TEXTS)
    assert np.einsum("nd,nd->n", vectors, encoder.encode(TEXTS)).min() > 0.97
    alone = np.vstack([single.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(vectors, alone, atol=1e-5)


def test_the_identity_says_that_the_encoder_is_another_one(encoder: Embedder, int8: PreparedModel) -> None:
    assert int8.identity.model_id == f"{DEFAULT_MODEL}@int8"
    assert int8.identity != encoder.identity
    assert int8.identity.weights_sha256 == encoder.identity.weights_sha256
    # The weights take a quarter of the space, the embeddings of tokens as much as before.
    assert sum(file.size for file in int8.files) < 60e6


def test_the_reader_can_stand_beside_it(int8: PreparedModel) -> None:
    assert prepare_reader(int8) is not None


@pytest.mark.parametrize("name", ["intfloat/e5-small@int8", "all-MiniLM-L12-v2@int8"])
def test_other_models_have_no_8_bit_form(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="only sentence-transformers/all-MiniLM-L6-v2 has an 8-bit form"):
        prepare(name, cache_dir=tmp_path)
