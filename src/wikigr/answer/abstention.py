"""Whether the pack covers a question: a confidence from what was found, and a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wikigr.answer.sentences import SentenceScore
from wikigr.index.candidate import Evidence
from wikigr.index.lexical import stems
from wikigr.question.terms import QuestionTerms

# What is said, word for word, when it does not.
NOT_COVERED = "The pack does not cover this."

# The strength of an answer is mostly its best sentence's score; the nearest section's cosine adds what is absolute
# about it, since section scores are relative to the best one of the question.
SENTENCE_WEIGHT = 0.75
NEAREST_WEIGHT = 0.25

# Below this strength the pack does not cover the question. On SQuAD 2.0 it lets 97 % of the answerable questions
# through and 2 to 3 % of questions on other topics. A pack's manifest may hold a calibrated one.
DEFAULT_THRESHOLD = 0.48
THRESHOLD_NAME = "abstention"

# Share, by weight, of what is asked about the things it names that facts must say to have to do with it.
_SAID_BY_FACTS = 0.5

# How fast confidence grows from 0.5 at the threshold.
_STEEPNESS = 10.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """``value`` in [0, 1], 0.5 at the threshold; ``parts`` are the measures it was made of, for the trace."""

    value: float
    abstain: bool
    parts: Mapping[str, float]


def judge(
    evidence: Sequence[Evidence], sentences: Sequence[SentenceScore], thresholds: Mapping[str, float]
) -> Confidence:
    """Judge whether ``sentences`` (best first) answer the question that ``evidence`` was retrieved for."""
    threshold = thresholds.get(THRESHOLD_NAME, DEFAULT_THRESHOLD)
    if not sentences:
        return Confidence(0.0, True, {"strength": 0.0, "threshold": threshold})
    nearest = max((item.candidate.scores.get("dense", 0.0) for item in evidence), default=0.0)
    strength = SENTENCE_WEIGHT * sentences[0].score + NEAREST_WEIGHT * max(0.0, nearest)
    value = 1.0 / (1.0 + math.exp(-_STEEPNESS * (strength - threshold)))
    return Confidence(value, strength < threshold, {"strength": strength, "threshold": threshold, "nearest": nearest})


def facts_beside_question(sentences: Sequence[SentenceScore], terms: QuestionTerms) -> bool:
    """Tell whether ``sentences`` are facts of a graph alone, and say little of what the question asks about.

    A list of facts about what a question names looks like an answer to anything asked about it, such as a phone
    number. A question that only names things ("Who is Ada?") asks for just these facts.
    """
    from wikigr.sources.statements import FACTS

    if not sentences or any(sentence.section.heading != FACTS for sentence in sentences):
        return False
    named = {stem for sentence in sentences for stem in stems(sentence.section.title)}
    said = {stem for sentence in sentences for stem in stems(sentence.text)}
    asked = {stem: weight for stem, weight in terms.weights.items() if stem not in named}
    return sum(weight for stem, weight in asked.items() if stem in said) < _SAID_BY_FACTS * sum(asked.values())
