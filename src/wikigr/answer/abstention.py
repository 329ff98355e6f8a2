"""Decide whether the pack covers a question: a confidence from what was found, and a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wikigr.answer.sentences import SentenceScore
from wikigr.index.candidate import DENSE, Evidence
from wikigr.index.lexical import stems
from wikigr.question.question import Question
from wikigr.reader.passage import Calibration
from wikigr.retrieval.rerankers.cross_encoder import as_probability
from wikigr.text import words

# The name of the stage in traces.
ABSTENTION = "abstention"

# The exact text of an abstention.
NOT_COVERED = "The pack does not cover this."

# The strength of an answer is mostly its best sentence's score. The cosine of the nearest section adds an absolute
# measure, because section scores are relative to the best section.
SENTENCE_WEIGHT = 0.75
NEAREST_WEIGHT = 0.25

# Answers below this strength are abstentions. On SQuAD 2.0 the threshold passes 97% of the answerable questions and
# 2 to 3% of those on other topics. A pack's manifest may hold a calibrated threshold.
DEFAULT_THRESHOLD = 0.48
THRESHOLD_NAME = "abstention"

# With the reader, the strength is the probability that the answer is right.
DEFAULT_READER_THRESHOLD = 0.25
READER_THRESHOLD_NAME = "reader"
# The margin of an answer that is as good as none, for the gap if there is no other.
_NO_OTHER_MARGIN = -10.0

# Facts must contain this share, by weight, of what the question asks beyond the names of things.
_SAID_BY_FACTS = 0.5

# Slope of the logistic function that maps strength to confidence; confidence is 0.5 at the threshold.
_STEEPNESS = 10.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """``value`` lies in [0, 1] and is 0.5 at the threshold; ``parts`` are its components, for the trace."""

    value: float
    abstain: bool
    parts: Mapping[str, Any]


NO_ANSWER = Confidence(0.0, True, {})


def assess(
    evidence: Sequence[Evidence], sentences: Sequence[SentenceScore], thresholds: Mapping[str, float]
) -> Confidence:
    """Assess how confidently ``sentences`` (best first) answer the question that ``evidence`` was retrieved for."""
    threshold = thresholds.get(THRESHOLD_NAME, DEFAULT_THRESHOLD)
    if not sentences:
        return Confidence(0.0, True, {"strength": 0.0, "threshold": threshold})
    nearest = max((item.candidate.scores.get(DENSE, 0.0) for item in evidence), default=0.0)
    strength = SENTENCE_WEIGHT * sentences[0].score + NEAREST_WEIGHT * max(0.0, nearest)
    value = 1.0 / (1.0 + math.exp(-_STEEPNESS * (strength - threshold)))
    return Confidence(value, strength < threshold, {"strength": strength, "threshold": threshold, "nearest": nearest})


@dataclass(frozen=True, slots=True)
class ReadingFeatures:
    """What the confidence in an answer depends on.

    ``margin`` is that of its span, ``gap`` how far the best other answer is below it, both in logits; ``features`` is
    the score of its sentence without the reader, ``nearest`` the cosine of the nearest section.
    """

    margin: float
    gap: float
    features: float
    nearest: float


def assess_reading(
    evidence: Sequence[Evidence],
    sentences: Sequence[SentenceScore],
    thresholds: Mapping[str, float],
    calibration: Calibration,
) -> Confidence:
    """Like ``assess``, for ``sentences`` that the reader has read: the confidence is a calibrated probability."""
    found = reading_features(evidence, sentences)
    value = as_probability(
        calibration.answer_intercept
        + calibration.answer_margin * found.margin
        + calibration.answer_gap * found.gap
        + calibration.answer_features * found.features
        + calibration.answer_nearest * found.nearest
    )
    threshold = thresholds.get(READER_THRESHOLD_NAME, DEFAULT_READER_THRESHOLD)
    notes = {"strength": value, "threshold": threshold, "threshold_name": READER_THRESHOLD_NAME, **asdict(found)}
    return Confidence(value, value < threshold, notes)


def reading_features(evidence: Sequence[Evidence], sentences: Sequence[SentenceScore]) -> ReadingFeatures:
    """Return the features of the first of ``sentences``, which the reader has read."""
    best = sentences[0]
    assert best.span is not None
    said = answer_words(best)
    others = (s.span.margin for s in sentences if s.span is not None and answer_words(s) != said)
    return ReadingFeatures(
        margin=best.span.margin,
        gap=best.span.margin - max(others, default=_NO_OTHER_MARGIN),
        features=best.feature_score,
        nearest=max((item.candidate.scores.get(DENSE, 0.0) for item in evidence), default=0.0),
    )


def answer_words(sentence: SentenceScore) -> list[str]:
    """Return the words of the short answer in ``sentence``; the same words are the same answer."""
    assert sentence.span is not None
    return words(sentence.section.content[sentence.span.start : sentence.span.end])


def facts_miss_question(sentences: Sequence[SentenceScore], question: Question) -> bool:
    """Return whether ``sentences`` are only facts of a graph that say little of what ``question`` asks.

    A list of facts about something looks like an answer to any question about it, such as one for a phone number. A
    question that only names things ("Who is Ada?") does ask for these facts.
    """
    from wikigr.sources.statements import FACTS

    if not sentences or any(sentence.section.heading != FACTS for sentence in sentences):
        return False
    named = {stem for sentence in sentences for stem in stems(sentence.section.title)}
    said = {stem for sentence in sentences for stem in stems(sentence.text)}
    asked = {stem: weight for stem, weight in question.weights.items() if stem not in named}
    return sum(weight for stem, weight in asked.items() if stem in said) < _SAID_BY_FACTS * sum(asked.values())
