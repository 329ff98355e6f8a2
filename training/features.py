"""Examples as token windows with targets, and batches of windows of similar length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from training.examples import Example, Span
from wikigr.reader.windows import Window, WindowMaker

# Of the windows of an answerable example that do not hold the answer, at most this many are read.
_MAX_EMPTY_WINDOWS = 1
# Batches are formed within groups of this many batches, sorted by length.
_BATCHES_PER_GROUP = 24
# Batches are padded to a multiple of this many tokens, because oneDNN compiles its kernels anew for every other shape.
_WIDTH_STEP = 16


@dataclass(frozen=True, slots=True)
class Feature:
    """A window with the tokens at which the accepted spans start and end; both ``(0,)`` if it holds no answer.

    ``taught`` are the teacher's probabilities of starts and ends, float16 of shape ``(tokens, 2)``, if it read the
    window.
    """

    input_ids: np.ndarray
    text_type_start: int
    starts: tuple[int, ...] = (0,)
    ends: tuple[int, ...] = (0,)
    taught: np.ndarray | None = None

    @classmethod
    def of_window(cls, window: Window, spans: Sequence[tuple[int, int]] = ()) -> Feature:
        """Return ``window`` as a feature; ``spans`` holds the first and last token of each accepted answer."""
        starts, ends = (tuple(sorted({span[side] for span in spans})) or (0,) for side in (0, 1))
        return cls(np.array(window.input_ids, np.int32), window.token_types.count(0), starts, ends)


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of shape ``(windows, tokens)``; the targets are boolean.

    ``taught`` has the shape ``(windows, tokens, 2)``, with zeros for windows that no teacher read; ``None`` if it read
    none of them.
    """

    input_ids: Tensor
    token_types: Tensor
    mask: Tensor
    starts: Tensor
    ends: Tensor
    taught: Tensor | None = None


def make_features(examples: Sequence[Example], maker: WindowMaker) -> list[Feature]:
    """Return the windows of ``examples``: all that hold an answer, and of each example one that does not."""
    features: list[Feature] = []
    for example in examples:
        windows = maker.windows(example.question, example.title, example.heading, example.text)
        targets = [token_spans(window, example.spans) for window in windows]
        empty = [n for n, target in enumerate(targets) if not target]
        kept = {n for n, target in enumerate(targets) if target} | set(empty[:_MAX_EMPTY_WINDOWS])
        features += [Feature.of_window(windows[n], targets[n]) for n in sorted(kept)]
    return features


def token_spans(window: Window, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Return the first and last token of each of ``spans`` that lies completely in ``window``."""
    found = []
    for start, end in spans:
        inside = [n for n, (left, right) in enumerate(window.offsets) if left < end and right > start]
        if not inside or window.offsets[inside[0]][0] > start or window.offsets[inside[-1]][1] < end:
            continue
        found.append((window.text_start + inside[0], window.text_start + inside[-1]))
    return found


def epoch_batches(lengths: Sequence[int], size: int, seed: str) -> Iterator[list[int]]:
    """Yield the numbers of the features of each batch of an epoch, in an order that depends only on ``seed``."""
    draw = random.Random(seed)
    order = list(range(len(lengths)))
    draw.shuffle(order)
    group = size * _BATCHES_PER_GROUP
    for first in range(0, len(order), group):
        ordered = sorted(order[first : first + group], key=lambda n: lengths[n])
        batches = [ordered[start : start + size] for start in range(0, len(ordered), size)]
        draw.shuffle(batches)
        yield from batches


def collate(features: Sequence[Feature], pad_id: int) -> Batch:
    """Return ``features`` as one batch, padded on the right."""
    longest = max(len(feature.input_ids) for feature in features)
    shape = (len(features), -(-longest // _WIDTH_STEP) * _WIDTH_STEP)
    input_ids = np.full(shape, pad_id, np.int64)
    token_types, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    starts, ends = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for row, feature in enumerate(features):
        length = len(feature.input_ids)
        input_ids[row, :length] = feature.input_ids
        token_types[row, feature.text_type_start : length] = 1
        mask[row, :length] = 1
        starts[row, list(feature.starts)] = True
        ends[row, list(feature.ends)] = True
    taught = None
    if any(feature.taught is not None for feature in features):
        taught = torch.zeros(*shape, 2)
        for row, feature in enumerate(features):
            if feature.taught is not None:
                taught[row, : len(feature.taught)] = torch.from_numpy(feature.taught.astype(np.float32))
    return Batch(
        input_ids=torch.from_numpy(input_ids),
        token_types=torch.from_numpy(token_types),
        mask=torch.from_numpy(mask),
        starts=torch.from_numpy(starts),
        ends=torch.from_numpy(ends),
        taught=taught,
    )
