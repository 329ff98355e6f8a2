"""Windows as flat arrays, which a GPU cuts batches from, and the best spans in them.

The windows are made once, with the tokenizer of the small base. MPNet has the same word pieces with other numbers, and
one more separator after the question, so that its windows are the same ones read differently (``doubled``).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.examples import Example, Passage
from training.features import Batch, make_features
from training.measured import Measured, Read
from wikigr.reader.windows import Window, WindowMaker
from wikigr.segmentation import sentence_spans

Arrays = dict[str, NDArray[Any]]

_START, _END, _MAY_START, _MAY_END = 1, 2, 4, 8
_WIDTH_STEP = 16
_NEVER = -1e4


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How the word pieces of the small base are numbered in a model, and whether it doubles the separator."""

    numbers: NDArray[np.int64]
    pad: int
    doubled: bool

    @classmethod
    def of(cls, small: dict[str, int], tokens: dict[str, int] | None = None) -> Vocabulary:
        """Return the numbering of ``tokens``, which maps tokens to numbers; that of the small base if there is none."""
        if tokens is None:
            return cls(np.arange(len(small)), small["[PAD]"], doubled=False)
        special = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>"}
        numbers = np.zeros(len(small), np.int64)
        for token, number in small.items():
            numbers[number] = tokens[special.get(token, token)]
        return cls(numbers, tokens["<pad>"], doubled=True)


def pack_examples(
    parts: Iterable[tuple[str, Sequence[Example], Sequence[float]]], maker: WindowMaker
) -> tuple[Arrays, list[str]]:
    """Return the windows of the examples of each part, and the names of the parts.

    ``parts`` gives for each example a number in [0, 1); a run can read only those below a share.
    """
    ids, marks, lengths, types, text, question, part, place = ([] for _ in range(8))  # type: ignore[var-annotated]
    names: list[str] = []
    questions = 0
    for name, examples, places in parts:
        for feature, number in _features(examples, places, maker):
            length = len(feature.input_ids)
            own = np.zeros(length, np.uint8)
            own[list(feature.starts)] |= _START
            own[list(feature.ends)] |= _END
            ids.append(feature.input_ids.astype(np.uint16))
            marks.append(own)
            lengths.append(length)
            types.append(feature.text_type_start)
            text.append(feature.text)
            question.append(questions + feature.question)
            part.append(len(names))
            place.append(number)
        questions = max(question, default=0) + 1
        names.append(name)
    arrays: Arrays = {
        "ids": np.concatenate(ids),
        "marks": np.concatenate(marks),
        "first": np.concatenate(([0], np.cumsum(lengths))),
        "types": np.array(types, np.int16),
        "text": np.array(text, np.int16),
        "question": np.array(question, np.int32),
        "part": np.array(part, np.int8),
        "place": np.array(place, np.float32),
    }
    return arrays, names


def _features(examples: Sequence[Example], places: Sequence[float], maker: WindowMaker) -> Iterator[tuple]:  # type: ignore[type-arg]
    by_question = {example.asked: place for example, place in zip(examples, places, strict=True)}
    order = list(dict.fromkeys(example.asked for example in examples))
    for feature in make_features(examples, maker):
        yield feature, by_question[order[feature.question]]


def pack_questions(questions: Sequence[Measured], maker: WindowMaker) -> Arrays:
    """Return all windows of all sections of ``questions``, with the sentences of each token and where spans may be."""
    ids, marks, sentence, bonus, offsets = ([] for _ in range(5))  # type: ignore[var-annotated]
    lengths, types, text, question, section = ([] for _ in range(5))  # type: ignore[var-annotated]
    for number, item in enumerate(questions):
        for place, passage in enumerate(item.sections):
            given = [(start, end, more) for own, start, end, more in item.sentences if own == place]
            ranges = given or [(start, end, 0.0) for start, end in sentence_spans(passage.text)]
            for window in maker.windows(item.question, passage.title, passage.heading, passage.text):
                ids.append(np.array(window.input_ids, np.uint16))
                own, within, more, places = _text_tokens(window, ranges)
                marks.append(own)
                sentence.append(within)
                bonus.append(more)
                offsets.append(places)
                lengths.append(len(window.input_ids))
                types.append(window.token_types.count(0))
                text.append((window.text_start, window.text_start + len(window.offsets)))
                question.append(number)
                section.append(place)
    return {
        "ids": np.concatenate(ids),
        "marks": np.concatenate(marks),
        "sentence": np.concatenate(sentence),
        "bonus": np.concatenate(bonus),
        "offsets": np.concatenate(offsets),
        "first": np.concatenate(([0], np.cumsum(lengths))),
        "types": np.array(types, np.int16),
        "text": np.array(text, np.int16),
        "question": np.array(question, np.int32),
        "section": np.array(section, np.int16),
    }


def _text_tokens(window: Window, ranges: Sequence[tuple[int, int, float]]) -> tuple[np.ndarray, ...]:
    """Return for each token of ``window`` where spans may begin and end, its sentence, its bonus and its characters."""
    length = len(window.input_ids)
    marks, sentence = np.zeros(length, np.uint8), np.zeros(length, np.int16)
    bonus, offsets = np.zeros(length, np.float16), np.zeros((length, 2), np.uint16)
    if not window.offsets or not ranges:
        return marks, sentence, bonus, offsets
    lefts, rights, more = (np.array(values) for values in zip(*sorted(ranges), strict=True))
    places, words = np.array(window.offsets), np.array(window.words)
    number = np.searchsorted(lefts, places[:, 0], side="right") - 1
    inside = (number >= 0) & (places[:, 1] <= rights[number])
    text = slice(window.text_start, window.text_start + len(places))
    goes_on = words[1:] == words[:-1]
    marks[text] = np.where(inside, _MAY_START * ~goes_on[:-1] + _MAY_END * ~goes_on[1:], 0)
    sentence[text] = np.where(inside, number + 1, 0)
    bonus[text] = np.where(inside, more[number], 0)
    offsets[text] = places
    return marks, sentence, bonus, offsets


def write_questions(path: Path, questions: Iterable[Measured]) -> None:
    """Write ``questions`` as xz-compressed JSON Lines."""
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(question), ensure_ascii=False) + "\n" for question in questions)


def read_questions(path: Path) -> list[Measured]:
    """Read what ``write_questions`` wrote."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [_measured(json.loads(line)) for line in lines]


def _measured(values: dict[str, Any]) -> Measured:
    sections = tuple(Passage(**section) for section in values.pop("sections"))
    sentences = tuple((section, start, end, bonus) for section, start, end, bonus in values.pop("sentences"))
    accepted = tuple(values.pop("accepted"))
    return Measured(**values, sections=sections, sentences=sentences, accepted=accepted)


class DeviceWindows:
    """The arrays of ``pack_examples`` or ``pack_questions`` on a device, for a model with some vocabulary."""

    def __init__(self, arrays: Arrays, vocabulary: Vocabulary, device: str) -> None:
        self.lengths = np.diff(arrays["first"].astype(np.int64)) + vocabulary.doubled
        self.device = device
        self.doubled = vocabulary.doubled
        self._vocabulary = vocabulary
        self._numbers = torch.from_numpy(vocabulary.numbers).to(device)
        self._arrays = {
            name: torch.from_numpy(np.ascontiguousarray(_wide(array))).to(device) for name, array in arrays.items()
        }
        self._taught: Tensor | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def teach(self, taught: NDArray[np.float16]) -> None:
        """Use a teacher's probabilities of starts and ends, float16 of shape ``(tokens, 2)``."""
        self._taught = torch.from_numpy(taught).to(self.device)

    def places(self, rows: Tensor, width: int) -> tuple[Tensor, Tensor]:
        """Return which tokens of the flat arrays stand in a batch of ``rows``, and where there is one."""
        position = torch.arange(width, device=self.device)
        first = self._arrays["first"][rows].unsqueeze(1)
        length = self._arrays["first"][rows + 1].unsqueeze(1) - first
        source = position.expand(len(rows), width)
        if self._vocabulary.doubled:
            source = source - (position >= self._arrays["types"][rows].unsqueeze(1)).long()
        inside = source < length
        return first + torch.where(inside, source, 0), inside

    def batch(self, rows: Tensor, width: int) -> Batch:
        """Return the windows ``rows`` as a batch, padded to ``width``."""
        at, inside = self.places(rows, width)
        ids = torch.where(inside, self._numbers[self._arrays["ids"][at]], self._vocabulary.pad)
        position = torch.arange(width, device=self.device)
        shift = int(self._vocabulary.doubled)
        types = self._arrays["types"][rows].unsqueeze(1)
        start, end = (self._arrays["text"][rows].long() + shift).unbind(1)
        text = (position >= start.unsqueeze(1)) & (position < end.unsqueeze(1))
        marks = torch.where(inside, self._arrays["marks"][at], 0)
        taught = None
        if self._taught is not None:
            taught = torch.where(inside.unsqueeze(-1), self._taught[at], 0).float()
        return Batch(
            input_ids=ids,
            token_types=((position >= types + shift) & inside).long(),
            mask=inside.long(),
            starts=(marks & _START) > 0,
            ends=(marks & _END) > 0,
            text=text,
            questions=self._arrays["question"][rows],
            taught=taught,
        )

    def tokens(self, name: str, rows: Tensor, width: int) -> Tensor:
        """Return the array ``name`` of tokens for a batch, with zeros where there is no token."""
        at, inside = self.places(rows, width)
        values = self._arrays[name][at]
        return torch.where(inside if values.dim() == inside.dim() else inside.unsqueeze(-1), values, 0)

    def scatter(self, target: Tensor, rows: Tensor, values: Tensor) -> None:
        """Put the ``values`` of a batch, ``(windows, tokens, …)``, at its tokens in the flat ``target``."""
        at, inside = self.places(rows, values.shape[1])
        if self._vocabulary.doubled:
            position = torch.arange(values.shape[1], device=self.device)
            inside = inside & (position != self._arrays["types"][rows].unsqueeze(1))
        target[at[inside]] = values[inside].to(target.dtype)

    def in_order(self, rows: Sequence[int], size: int) -> Iterator[tuple[list[int], int]]:
        """Yield batches of about ``size`` windows of ``rows``, the shortest first, with their widths."""
        order = sorted(rows, key=lambda row: self.lengths[row])
        for begun in range(0, len(order), size):
            chosen = order[begun : begun + size]
            yield chosen, width_of(int(self.lengths[chosen[-1]]))


def width_of(longest: int) -> int:
    """Return the width of a batch whose longest window has ``longest`` tokens."""
    return -(-longest // _WIDTH_STEP) * _WIDTH_STEP


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    # Torch has no arithmetic for unsigned integers of 16 bits.
    wider: dict[np.dtype[Any], type] = {np.dtype(np.uint16): np.int32, np.dtype(np.float16): np.float32}
    return array.astype(wider[array.dtype]) if array.dtype in wider else array


def best_spans(logits: Tensor, marks: Tensor, sentence: Tensor, bonus: Tensor, max_tokens: int, cost: float) -> Tensor:
    """Return margin, first and last token of the best span of each window, float32 of shape ``(windows, 3)``.

    As ``wikigr.reader.windows.best_spans``, in all sentences at once; ``bonus`` of its first token is added.
    """
    starts = logits[..., 0].masked_fill((marks & _MAY_START) == 0, _NEVER) + bonus
    ends = logits[..., 1].masked_fill((marks & _MAY_END) == 0, _NEVER)
    width = logits.shape[1]
    best = torch.full_like(starts, 2 * _NEVER)
    tokens = torch.zeros_like(best)
    for more in range(min(max_tokens, width)):
        sums = torch.full_like(starts, 2 * _NEVER)
        same = sentence[:, : width - more] == sentence[:, more:]
        value = starts[:, : width - more] + ends[:, more:] - cost * more
        sums[:, : width - more] = torch.where(same, value, 2 * _NEVER)
        tokens = torch.where(sums > best, float(more), tokens)
        best = torch.maximum(best, sums)
    margin, first = best.max(1)
    length = tokens.gather(1, first.unsqueeze(1)).squeeze(1)
    return torch.stack((margin - logits[:, 0].sum(-1), first.float(), first + length), 1)


def read_all(
    logits_of: Callable[[Batch], Tensor],
    windows: DeviceWindows,
    arrays: Arrays,
    questions: Sequence[Measured],
    *,
    size: int,
    limits: Sequence[tuple[int, float]],
) -> list[list[Read]]:
    """Return the best span of each of ``questions`` over all of its windows, for each of ``limits``.

    ``logits_of`` maps a batch to logits; ``limits`` are the most tokens of a span and the cost of each.
    """
    found = np.zeros((len(limits), len(windows), 3), np.float32)
    for rows, width in windows.in_order(range(len(windows)), size):
        chosen = torch.tensor(rows, device=windows.device)
        logits = logits_of(windows.batch(chosen, width)).float()
        marks, sentence, bonus = (windows.tokens(name, chosen, width) for name in ("marks", "sentence", "bonus"))
        for place, (max_tokens, cost) in enumerate(limits):
            found[place, rows] = best_spans(logits, marks, sentence, bonus, max_tokens, cost).cpu().numpy()
    shift = int(windows.doubled)
    return [_best_of(spans, shift, arrays, questions) for spans in found]


def _best_of(spans: NDArray[np.float32], shift: int, arrays: Arrays, questions: Sequence[Measured]) -> list[Read]:
    readings = [Read("", None, 2 * _NEVER)] * len(questions)
    for row, (margin, first, last) in enumerate(spans.tolist()):
        number, section = int(arrays["question"][row]), int(arrays["section"][row])
        if margin > max(_NEVER / 2, readings[number].margin):
            at = int(arrays["first"][row]) - shift
            start, end = arrays["offsets"][at + int(first), 0], arrays["offsets"][at + int(last), 1]
            readings[number] = Read(questions[number].sections[section].text[int(start) : int(end)], section, margin)
    return readings
