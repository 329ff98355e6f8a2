"""Leak detection: few-shot examples that are (nearly) gold questions would tell the model the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.evaluation.questions import GoldQuestion
from wikigr.text import words

# The minimum cosine at which an example leaks a gold question. With the default encoder, paraphrases lie above
# 0.9, and different questions about the same subject rarely above 0.8.
MIN_SIMILARITY = 0.85
# The minimum cosine of a loose paraphrase. Different questions about the same subject reach it too, so the example must
# also contain the gold answer.
MIN_RELATEDNESS = 0.6


@dataclass(frozen=True, slots=True)
class Leak:
    """A few-shot example (its position in the file, from 1) that leaks a gold question.

    ``similarity`` is the cosine of the two questions. ``says_answer`` marks an example that is at most a loose
    paraphrase but contains an accepted answer.
    """

    example: int
    question_id: str
    similarity: float
    same_words: bool
    says_answer: bool = False


def find_leaks(
    examples: Sequence[Mapping[str, Any]], questions: Sequence[GoldQuestion], encoder: Embedder
) -> list[Leak]:
    """Return every example that leaks a gold question, in order, each with the nearest such question.

    An example leaks a question if it has the same words, a similarity of at least ``MIN_SIMILARITY``, or a
    similarity of at least ``MIN_RELATEDNESS`` and an accepted answer in its own answer.
    """
    if not examples or not questions:
        return []
    asked = [" ".join(words(question.question)) for question in questions]
    gold = encoder.encode([question.question for question in questions])
    leaks = []
    for place, (example, vector) in enumerate(
        zip(examples, encoder.encode([example["question"] for example in examples]), strict=True), start=1
    ):
        same = " ".join(words(example["question"]))
        similarities = gold @ vector
        nearest = int(np.argmax(similarities))
        if same in asked:
            nearest = asked.index(same)
        if same in asked or similarities[nearest] >= MIN_SIMILARITY:
            leaks.append(Leak(place, questions[nearest].id, round(float(similarities[nearest]), 4), same in asked))
            continue
        for near in np.argsort(-similarities, kind="stable"):
            if similarities[near] < MIN_RELATEDNESS:
                break
            if accuracy(str(example["answer"]), questions[near].answers):
                leaks.append(Leak(place, questions[near].id, round(float(similarities[near]), 4), False, True))
                break
    return leaks
