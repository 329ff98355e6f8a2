"""Whether the pack covers a question: a confidence from what was retrieved, and a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wikigr.answer.question_terms import QuestionTerms
from wikigr.answer.sentences import SentenceScore
from wikigr.retrieval.candidate import Evidence

DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Confidence:
    """``value`` in [0, 1]; ``parts`` are the measures it was made of, for the trace."""

    value: float
    abstain: bool
    parts: Mapping[str, float]


def judge(
    evidence: Sequence[Evidence],
    sentences: Sequence[SentenceScore],
    terms: QuestionTerms,
    thresholds: Mapping[str, float],
) -> Confidence:
    """Judge whether ``sentences`` (best first) answer the question."""
    del evidence, terms
    if not sentences:
        return Confidence(0.0, True, {})
    value = 1 / (1 + math.exp(-10 * (sentences[0].score - 0.4)))
    return Confidence(value, value < thresholds.get("abstain", DEFAULT_THRESHOLD), {})
