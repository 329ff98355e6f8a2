"""Choose the answer in the logits of a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikigr.reader.windows import Window


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` of a section's text; ``margin`` is its logit minus that of no answer."""

    start: int
    end: int
    margin: float


def best_span(window: Window, logits: NDArray[np.float32], max_tokens: int) -> Span | None:
    """Return the span of at most ``max_tokens`` tokens with the highest sum of start and end logits.

    ``logits`` has the shape ``(tokens, 2)`` or is padded on the right; position 0 stands for no answer. Ties go to the
    first and then the shortest span. Returns ``None`` if the window has no text.
    """
    count = len(window.offsets)
    if not count:
        return None
    starts, ends = logits[window.text_start : window.text_start + count].T
    sums = starts[:, None] + ends[None, :]
    place = np.arange(count)
    length = place[None, :] - place[:, None]
    sums = np.where((length >= 0) & (length < max_tokens), sums, -np.inf)
    first, last = np.unravel_index(int(np.argmax(sums)), sums.shape)
    margin = float(sums[first, last] - logits[0].sum())
    return Span(window.offsets[first][0], window.offsets[last][1], margin)
