"""The best span is the one that trying all spans finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.reader.windows import TOKEN_COST, Window, best_spans

values = st.integers(-20, 20).map(float)


def _window(count: int, head: int = 3) -> Window:
    offsets = [(3 * n, 3 * n + 2) for n in range(count)]
    return Window([0] * (head + count + 1), [0] * (head + count + 1), head, offsets, [-1, *range(count), -1])


@given(st.lists(st.tuples(values, values), min_size=5, max_size=14), st.integers(1, 5))
def test_best_span_is_the_best_of_all(rows: list[tuple[float, float]], max_tokens: int) -> None:
    window = _window(len(rows) - 4)
    logits = np.array([*rows, (99.0, 99.0)], dtype=np.float32)
    (span,) = best_spans(window, logits, max_tokens, [(0, window.offsets[-1][1])])
    tokens = range(3, len(rows) - 1)
    costs = {(s, e): logits[s, 0] + logits[e, 1] - TOKEN_COST * (e - s) for s in tokens for e in tokens}
    best = max(value for (s, e), value in costs.items() if 0 <= e - s < max_tokens)
    assert span is not None
    assert span.margin == pytest.approx(best - logits[0].sum(), abs=1e-4)
    first, last = span.start // 3, (span.end - 2) // 3
    assert costs[3 + first, 3 + last] == pytest.approx(best, abs=1e-4)
    assert 0 <= last - first < max_tokens


@given(
    st.lists(st.tuples(values, values, st.booleans()), min_size=1, max_size=9),
    st.lists(st.tuples(st.integers(0, 28), st.integers(0, 28)), max_size=4),
    st.integers(1, 5),
    st.booleans(),
)
def test_each_range_has_the_best_span_of_whole_words_inside_it(
    rows: list[tuple[float, float, bool]], ranges: list[tuple[int, int]], max_tokens: int, is_cut: bool
) -> None:
    window = _window(len(rows))
    words = [0]
    for _, _, goes_on in rows[1:]:
        words.append(words[-1] + (not goes_on))
    before, after = (words[0], words[-1]) if is_cut else (-1, -1)
    window = replace(window, words=[before, *words, after])
    logits = np.array([(1.0, 2.0), *[(99.0, 99.0)] * 2, *[row[:2] for row in rows], (99.0, 99.0)], dtype=np.float32)
    for (start, end), span in zip(ranges, best_spans(window, logits, max_tokens, ranges), strict=True):
        inside = [n for n, (left, right) in enumerate(window.offsets) if start <= left and right <= end]
        allowed = {
            (window.offsets[s][0], window.offsets[e][1]): rows[s][0] + rows[e][1] - 3.0 - TOKEN_COST * (e - s)
            for s in inside
            for e in inside
            if 0 <= e - s < max_tokens
            and (words[s - 1] if s else before) != words[s]
            and (words[e + 1] if e + 1 < len(rows) else after) != words[e]
        }
        if span is None:
            assert not allowed
        else:
            assert span.margin == pytest.approx(allowed[span.start, span.end], abs=1e-4)
            assert span.margin == pytest.approx(max(allowed.values()), abs=1e-4)


def test_no_text_has_no_span() -> None:
    assert best_spans(_window(0), np.zeros((4, 2), dtype=np.float32), 30, [(0, 0)]) == [None]
