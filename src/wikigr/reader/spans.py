"""Choose answers in the logits of a window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from wikigr.reader.passage import Span
from wikigr.reader.windows import Window


def best_span(window: Window, logits: NDArray[np.float32], max_tokens: int) -> Span | None:
    """Return the span of whole words, at most ``max_tokens`` tokens long, with the highest sum of its two logits.

    ``logits`` has the shape ``(tokens, 2)`` or is padded on the right: the logits of the start and of the end of an
    answer; position 0 stands for no answer. Ties go to the first and then the shortest span. Returns ``None`` if the
    window has no text.
    """
    return next(best_spans(window, logits, max_tokens, [(0, window.offsets[-1][1])] if window.offsets else []), None)


def best_spans(
    window: Window, logits: NDArray[np.float32], max_tokens: int, ranges: Iterable[tuple[int, int]]
) -> Iterator[Span]:
    """Yield the best span, as in ``best_span``, within each of ``ranges`` of characters that has one in the window."""
    if not window.offsets:
        return
    none = float(logits[0].sum())
    starts, ends = _of_whole_words(window, logits)
    first_characters, last_characters = np.array(window.offsets).T
    for start, end in ranges:
        left = int(np.searchsorted(first_characters, start))
        right = int(np.searchsorted(last_characters, end, side="right"))
        if left >= right:
            continue
        count = right - left
        sums = starts[left:right, None] + ends[None, left:right]
        length = np.arange(count)[None, :] - np.arange(count)[:, None]
        sums = np.where((length >= 0) & (length < max_tokens), sums, -np.inf)
        first, last = np.unravel_index(int(np.argmax(sums)), sums.shape)
        margin = float(sums[first, last]) - none
        if np.isfinite(margin):
            yield Span(window.offsets[left + first][0], window.offsets[left + last][1], margin)


def _of_whole_words(window: Window, logits: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the logits of starts and ends in the text, with -inf where a start or end would split a word."""
    count = len(window.offsets)
    starts, ends = logits[window.text_start : window.text_start + count].T
    words = np.array(window.words)
    inside = words[1:] == words[:-1]
    starts = np.where(np.concatenate([[False], inside]), -np.inf, starts)
    ends = np.where(np.concatenate([inside, [False]]), -np.inf, ends)
    return starts, ends
