"""The guard against leaks: a worked example that is a gold question, or nearly one, tells the model the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.questions import GoldQuestion
from wikigr.text import words

# Cosine of two questions from which one gives the other away. Rewordings of a question lie above 0.9 with the default
# encoder, different questions on one subject rarely above 0.8.
SIMILAR = 0.85


@dataclass(frozen=True, slots=True)
class Leak:
    """Example ``example`` (its place in the file, from 1) is too near to the gold question ``question_id``."""

    example: int
    question_id: str
    similarity: float
    same_words: bool


def find_leaks(
    examples: Sequence[Mapping[str, Any]], questions: Sequence[GoldQuestion], encoder: Embedder
) -> list[Leak]:
    """Return every example that says the same as a gold question, each with the nearest one, in order."""
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
    return leaks
