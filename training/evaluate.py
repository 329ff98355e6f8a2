"""Measure a trained reader on the held-out articles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import torch
from numpy.typing import NDArray

from training.config import Config
from training.examples import Passage
from training.features import Feature, collate
from training.model import SpanReader
from training.retrieve import ANSWERABLE, OFF_TOPIC, UNANSWERABLE, RetrievedQuestion
from wikigr.evaluation.metrics.accuracy import accuracy, exact_match, token_f1
from wikigr.evaluation.reliability import auroc
from wikigr.reader.windows import Window, WindowMaker, best_spans
from wikigr.segmentation import sentence_spans

_BATCH = 16


@dataclass(frozen=True, slots=True)
class Reading:
    """The answer read from some passages: the span's text, its sentence, and the margin over no answer."""

    text: str
    sentence: str
    margin: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares and areas in [0, 1].

    ``exact_match``, ``f1`` and ``sentence`` (an accepted answer is in the span's sentence) are means over the
    answerable questions, whatever the margin. ``auroc_*`` compares the margins of these questions with those of SQuAD's
    unanswerable questions and of questions from another data set.
    """

    questions: int
    exact_match: float
    f1: float
    sentence: float
    auroc_unanswerable: float
    auroc_off_topic: float


def read_passages(
    model: SpanReader, maker: WindowMaker, pad_id: int, items: Sequence[tuple[str, Sequence[Passage]]], max_tokens: int
) -> list[Reading]:
    """Return the best answer to each question among all windows of its passages."""
    windows: list[tuple[int, Passage, Window]] = [
        (number, passage, window)
        for number, (question, passages) in enumerate(items)
        for passage in passages
        for window in maker.windows(question, passage.title, passage.heading, passage.text)
    ]
    best: dict[int, tuple[float, int, int, Passage]] = {}
    for place, scores in window_logits(model, pad_id, [window for _, _, window in windows]):
        number, passage, window = windows[place]
        (span,) = best_spans(window, scores, max_tokens, [(0, len(passage.text))])
        if span is not None and (number not in best or span.margin > best[number][0]):
            best[number] = (span.margin, span.start, span.end, passage)
    return [_reading(best.get(number)) for number in range(len(items))]


@torch.inference_mode()  # type: ignore[untyped-decorator]
def window_logits(
    model: SpanReader, pad_id: int, windows: Sequence[Window]
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield the number of each of ``windows`` and its logits, padded on the right; the shortest windows come first."""
    order = sorted(range(len(windows)), key=lambda n: len(windows[n].input_ids))
    model.eval()
    device = next(model.parameters()).device
    for start in range(0, len(order), _BATCH):
        numbers = order[start : start + _BATCH]
        batch = collate([Feature.of_window(windows[n]) for n in numbers], pad_id).to(device)
        logits = model(batch.input_ids, batch.token_types, batch.mask).cpu().numpy()
        yield from zip(numbers, logits, strict=True)


def _reading(best: tuple[float, int, int, Passage] | None) -> Reading:
    if best is None:
        return Reading("", "", float("-inf"))
    margin, start, end, passage = best
    touched = [text for text in sentence_spans(passage.text) if text[0] < end and text[1] > start]
    sentence = passage.text[touched[0][0] : touched[-1][1]] if touched else passage.text[start:end]
    return Reading(passage.text[start:end], sentence, margin)


def evaluate(
    model: SpanReader, maker: WindowMaker, pad_id: int, questions: Sequence[RetrievedQuestion], config: Config
) -> dict[str, Figures]:
    """Return the figures of reading the ``gold`` paragraph alone, and of reading the retrieved ``sections``."""
    gold = [(item.question, (item.gold,)) for item in questions]
    found = [(item.question, item.sections) for item in questions]
    return {
        name: summarize(questions, read_passages(model, maker, pad_id, items, config.max_answer_tokens))
        for name, items in (("gold", gold), ("sections", found))
    }


def summarize(questions: Sequence[RetrievedQuestion], readings: Sequence[Reading]) -> Figures:
    """Compare ``readings`` with the accepted answers."""
    groups: dict[str, list[tuple[RetrievedQuestion, Reading]]] = {ANSWERABLE: [], UNANSWERABLE: [], OFF_TOPIC: []}
    for item, reading in zip(questions, readings, strict=True):
        groups[item.group].append((item, reading))
    answered = groups[ANSWERABLE]

    def area(other: str) -> float:
        rows = [*answered, *groups[other]]
        return auroc([reading.margin for _, reading in rows], [item.group == ANSWERABLE for item, _ in rows])

    return Figures(
        questions=len(answered),
        exact_match=fmean(exact_match(reading.text, item.accepted) for item, reading in answered),
        f1=fmean(token_f1(reading.text, item.accepted) for item, reading in answered),
        sentence=fmean(accuracy(reading.sentence, item.accepted) for item, reading in answered),
        auroc_unanswerable=area(UNANSWERABLE),
        auroc_off_topic=area(OFF_TOPIC),
    )
