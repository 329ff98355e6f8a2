"""The best span is the one that trying all spans finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wikigr.reader.spans import best_span
from wikigr.reader.windows import Window

values = st.integers(-20, 20).map(float)


def _window(count: int, head: int = 3) -> Window:
    offsets = [(3 * n, 3 * n + 2) for n in range(count)]
    return Window([0] * (head + count + 1), [0] * (head + count + 1), head, offsets, list(range(count)))


@given(st.lists(st.tuples(values, values), min_size=5, max_size=14), st.integers(1, 5))
def test_best_span_is_the_best_of_all(rows: list[tuple[float, float]], max_tokens: int) -> None:
    window = _window(len(rows) - 4)
    logits = np.array([*rows, (99.0, 99.0)], dtype=np.float32)
    span = best_span(window, logits, max_tokens)
    tokens = range(3, len(rows) - 1)
    best = max(logits[s, 0] + logits[e, 1] for s in tokens for e in tokens if 0 <= e - s < max_tokens)
    assert span is not None
    assert span.margin == best - logits[0].sum()
    first, last = span.start // 3, (span.end - 2) // 3
    assert logits[3 + first, 0] + logits[3 + last, 1] == best
    assert 0 <= last - first < max_tokens


def test_no_text_has_no_span() -> None:
    assert best_span(_window(0), np.zeros((4, 2), dtype=np.float32), 30) is None
