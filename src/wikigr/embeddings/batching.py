"""Rectangular batches of token ids, with as little padding as the texts allow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# A text shares a batch with one that is at most a third longer. Padding costs as much as text: on six sentences of a
# section, one batch takes a tenth longer than two such ones, and three take longer again.
_MIN_FILL = 0.75


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Some texts of an input, padded on the right to the longest of them.

    ``rows`` are their places in the input; ``input_ids`` and ``attention_mask`` have shape
    ``(len(rows), tokens)``, dtype int32.
    """

    rows: NDArray[np.intp]
    input_ids: NDArray[np.int32]
    attention_mask: NDArray[np.int32]


def token_batches(
    encoded: Sequence[Sequence[int]], *, pad_id: int, max_tokens: int, max_texts: int
) -> Iterator[TokenBatch]:
    """Sort by length, longest first, and cut into batches of at most ``max_tokens`` tokens, padding included.

    A text longer than ``max_tokens`` is a batch of its own, and one much shorter than the longest of a batch begins
    the next. Longest first, because a run that ends with small batches keeps every core busy to the end, and shows at
    once whether the largest batch fits in memory.
    """
    lengths = np.fromiter((len(ids) for ids in encoded), dtype=np.intp, count=len(encoded))
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        width = int(lengths[order[start]])
        rows = order[start : start + min(max_texts, max(1, max_tokens // width))]
        rows = rows[lengths[rows] >= _MIN_FILL * width]
        input_ids = np.full((len(rows), width), pad_id, dtype=np.int32)
        attention_mask = np.zeros_like(input_ids)
        for place, row in enumerate(rows):
            input_ids[place, : lengths[row]] = encoded[row]
            attention_mask[place, : lengths[row]] = 1
        yield TokenBatch(rows, input_ids, attention_mask)
        start += len(rows)


def available_cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
