"""The guard against leaks: a worked example that is a gold question, or nearly one, tells the model the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.evaluation.questions import GoldQuestion
from wikigr.text import words

# Cosine of two questions from which one gives the other away. Rewordings of a question lie above 0.9 with the default
# encoder, different questions on one subject rarely above 0.8.
SIMILAR = 0.85
# Of a freer rewording the cosine may be as low as this, as it may be of different questions on one subject; there, an
# example counts that also says the gold answer.
RELATED = 0.6


@dataclass(frozen=True, slots=True)
class Leak:
    """Example ``example`` (its place in the file, from 1) gives the gold question ``question_id`` away.

    ``says_answer``: it is a freer rewording, if it is one, but has an accepted answer in it.
    """

    example: int
    question_id: str
    similarity: float
    same_words: bool
    says_answer: bool = False


def find_leaks(
    examples: Sequence[Mapping[str, Any]], questions: Sequence[GoldQuestion], encoder: Embedder
) -> list[Leak]:
    """Return every example that gives a gold question away, each with the nearest one, in order.

    It does when it has the same words, or a similarity (cosine) of at least ``SIMILAR``, or one of at least ``RELATED``
    and an accepted answer in its own.
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
        if same in asked or similarities[nearest] >= SIMILAR:
            leaks.append(Leak(place, questions[nearest].id, round(float(similarities[nearest]), 4), same in asked))
            continue
        for near in np.argsort(-similarities, kind="stable"):
            if similarities[near] < RELATED:
                break
            if accuracy(str(example["answer"]), questions[near].answers):
                leaks.append(Leak(place, questions[near].id, round(float(similarities[near]), 4), False, True))
                break
    return leaks
