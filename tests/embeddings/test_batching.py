"""Batches contain every text once, within the limits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wikigr.embeddings.batching import token_batches


@given(
    st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=40), max_size=60), st.integers(1, 120), st.integers(1, 9)
)
def test_every_text_once_within_the_budget(encoded: list[list[int]], budget: int, most: int) -> None:
    seen: list[int] = []
    widths = []
    for batch in token_batches(encoded, pad_id=0, max_tokens=budget, max_texts=most):
        rows, width = batch.input_ids.shape
        assert batch.input_ids.dtype == batch.attention_mask.dtype == np.int32
        assert rows <= most
        assert rows * width <= budget or rows == 1
        assert width == max(len(encoded[row]) for row in batch.rows)
        assert 4 * min(len(encoded[row]) for row in batch.rows) >= 3 * width
        widths.append(width)
        for row, ids, mask in zip(batch.rows, batch.input_ids, batch.attention_mask, strict=True):
            length = len(encoded[row])
            assert ids.tolist() == encoded[row] + [0] * (width - length)
            assert mask.tolist() == [1] * length + [0] * (width - length)
            seen.append(int(row))
    assert sorted(seen) == list(range(len(encoded)))
    assert widths == sorted(widths, reverse=True)
