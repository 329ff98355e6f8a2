"""Examples as token windows with targets, and batches of windows of similar length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

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

    ``text`` holds the first token of the section's text and the one after its last. ``question`` numbers the question.
    ``taught`` are the teacher's probabilities of starts and ends, float16 of shape ``(tokens, 2)``, if it read the
    window.
    """

    input_ids: np.ndarray
    text_type_start: int
    starts: tuple[int, ...] = (0,)
    ends: tuple[int, ...] = (0,)
    text: tuple[int, int] = (0, 0)
    question: int = 0
    taught: np.ndarray | None = None

    @classmethod
    def of_window(cls, window: Window, spans: Sequence[tuple[int, int]] = (), question: int = 0) -> Feature:
        """Return ``window`` as a feature; ``spans`` holds the first and last token of each accepted answer."""
        starts, ends = (tuple(sorted({span[side] for span in spans})) or (0,) for side in (0, 1))
        text = (window.text_start, window.text_start + len(window.offsets))
        return cls(np.array(window.input_ids, np.int32), window.token_types.count(0), starts, ends, text, question)


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of shape ``(windows, tokens)``; the targets and ``text``, which marks the section's text, are boolean.

    ``questions`` has the shape ``(windows,)`` and numbers the question of each window.
    ``taught`` has the shape ``(windows, tokens, 2)``, with zeros for windows that no teacher read; ``None`` if it read
    none of them.
    """

    input_ids: Tensor
    token_types: Tensor
    mask: Tensor
    starts: Tensor
    ends: Tensor
    text: Tensor
    questions: Tensor
    taught: Tensor | None = None

    def to(self, device: torch.device | str) -> Batch:
        """Return the batch on ``device``."""
        values = (getattr(self, field.name) for field in fields(self))
        return Batch(*(value if value is None else value.to(device) for value in values))


def make_features(examples: Sequence[Example], maker: WindowMaker) -> list[Feature]:
    """Return the windows of ``examples``: all that hold an answer, and of each example one that does not."""
    features: list[Feature] = []
    questions: dict[tuple[str, str], int] = {}
    for example in examples:
        question = questions.setdefault(example.asked, len(questions))
        windows = maker.windows(example.question, example.title, example.heading, example.text)
        targets = [token_spans(window, example.spans) for window in windows]
        empty = [n for n, target in enumerate(targets) if not target]
        kept = {n for n, target in enumerate(targets) if target} | set(empty[:_MAX_EMPTY_WINDOWS])
        features += [Feature.of_window(windows[n], targets[n], question) for n in sorted(kept)]
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


def epoch_batches(
    lengths: Sequence[int], size: int, seed: str, questions: Sequence[int] | None = None
) -> Iterator[list[int]]:
    """Yield the numbers of the features of each batch of an epoch, in an order that depends only on ``seed``.

    The features of a question stay together if ``questions`` gives its number for each feature. A batch then holds
    fewer than ``size`` features where the next question does not fit, and more only if a single question has more.
    """
    draw = random.Random(seed)
    together: dict[int, list[int]] = {}
    for feature, question in enumerate(range(len(lengths)) if questions is None else questions):
        together.setdefault(question, []).append(feature)
    order = list(together.values())
    draw.shuffle(order)
    group = size * _BATCHES_PER_GROUP
    for first in range(0, len(order), group):
        ordered = sorted(order[first : first + group], key=lambda numbers: max(lengths[n] for n in numbers))
        batches = _packed(ordered, size)
        draw.shuffle(batches)
        yield from batches


def _packed(parts: Sequence[list[int]], size: int) -> list[list[int]]:
    batches: list[list[int]] = []
    for part in parts:
        if batches and len(batches[-1]) + len(part) <= size:
            batches[-1] += part
        else:
            batches.append(list(part))
    return batches


def collate(features: Sequence[Feature], pad_id: int) -> Batch:
    """Return ``features`` as one batch, padded on the right."""
    longest = max(len(feature.input_ids) for feature in features)
    shape = (len(features), -(-longest // _WIDTH_STEP) * _WIDTH_STEP)
    input_ids = np.full(shape, pad_id, np.int64)
    token_types, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    starts, ends, text = (np.zeros(shape, np.bool_) for _ in range(3))
    for row, feature in enumerate(features):
        length = len(feature.input_ids)
        input_ids[row, :length] = feature.input_ids
        token_types[row, feature.text_type_start : length] = 1
        mask[row, :length] = 1
        starts[row, list(feature.starts)] = True
        ends[row, list(feature.ends)] = True
        text[row, slice(*feature.text)] = True
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
        text=torch.from_numpy(text),
        questions=torch.tensor([feature.question for feature in features]),
        taught=taught,
    )
