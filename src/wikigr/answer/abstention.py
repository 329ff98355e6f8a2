"""Decide whether the pack covers a question: a confidence from what was found, and a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from wikigr.answer.sentences import SentenceScore
from wikigr.index.candidate import DENSE, Evidence
from wikigr.index.lexical import stems
from wikigr.question.question import Question
from wikigr.reader.passage import Calibration
from wikigr.retrieval.chain import Chain
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

# With the reader, the strength is the probability that the answer is right. The default threshold was chosen on the
# demo pack and a pack of facts.
DEFAULT_READER_THRESHOLD = 0.22
READER_THRESHOLD_NAME = "reader"
_OF_THE_READER = (READER_THRESHOLD_NAME, DEFAULT_READER_THRESHOLD)
# The margin of an answer that is as good as none, for the gap if there is no other.
_NO_OTHER_MARGIN = -10.0

# The confidence in a chain of hops is a logistic function of the logit of its strength, fitted on 192 questions of
# MuSiQue, HotpotQA, SQuAD 2.0 and the demo pack for which a chain was followed. A third of them were answered right.
_CHAIN_INTERCEPT = -0.7
_CHAIN_SLOPE = 0.5
_SMALLEST = 1e-6

# Facts must contain this share, by weight, of what the question asks beyond the names of things.
_SAID_BY_FACTS = 0.5
# … unless the confidence is at least this. On small graphs of the held-out schemas in ``benchmarks/schemas``, on which
# it was chosen, that answers 9, 8 and 2 more of a hundred one-hop questions right (taxonomy, music, family).
_SURE = 0.7

# Slope of the logistic function that maps strength to confidence; confidence is 0.5 at the threshold.
_STEEPNESS = 10.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """``value`` lies in [0, 1]; ``parts`` are its components, for the trace."""

    value: float
    abstain: bool
    parts: Mapping[str, Any]


NO_ANSWER = Confidence(0.0, True, {})


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


def assess(
    evidence: Sequence[Evidence],
    sentences: Sequence[SentenceScore],
    thresholds: Mapping[str, float],
    calibration: Calibration | None = None,
    chain: Chain | None = None,
) -> Confidence:
    """Assess how confidently ``sentences`` (best first) answer the question that ``evidence`` was retrieved for.

    Without the reader, whose ``calibration`` is then ``None``, the threshold is one of the strength of the best
    sentence, at which the confidence is 0.5. With it, the confidence is the probability that the best sentence contains
    the right answer, and the threshold is one of the confidence; the best sentence is read, or it is a definition. If a
    ``chain`` of hops leads to it, its strength decides.
    """
    name, default = (THRESHOLD_NAME, DEFAULT_THRESHOLD) if calibration is None else _OF_THE_READER
    threshold = thresholds.get(name, default)
    notes: dict[str, Any] = {"strength": 0.0, "threshold": threshold, "threshold_name": name}
    if not sentences:
        return Confidence(0.0, True, notes)
    if chain is not None:
        strength = value = as_probability(_CHAIN_INTERCEPT + _CHAIN_SLOPE * _logit(chain.strength))
    elif calibration is not None and sentences[0].span is not None:
        found = reading_features(evidence, sentences)
        strength = value = as_probability(calibration.answer_logit(*astuple(found)))
        notes |= asdict(found)
    else:
        nearest = _nearest(evidence)
        strength = SENTENCE_WEIGHT * sentences[0].feature_score + NEAREST_WEIGHT * max(0.0, nearest)
        value = as_probability(_STEEPNESS * (strength - (threshold if calibration is None else DEFAULT_THRESHOLD)))
        strength = strength if calibration is None else value
        notes["nearest"] = nearest
    return Confidence(value, strength < threshold, {**notes, "strength": strength})


def _logit(probability: float) -> float:
    clipped = min(1.0 - _SMALLEST, max(_SMALLEST, probability))
    return math.log(clipped / (1.0 - clipped))


def _nearest(evidence: Sequence[Evidence]) -> float:
    """Return the cosine of the section that is nearest to the question, or 0."""
    return max((item.candidate.scores.get(DENSE, 0.0) for item in evidence), default=0.0)


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
        nearest=_nearest(evidence),
    )


def answer_words(sentence: SentenceScore) -> list[str]:
    """Return the words of the short answer in ``sentence``; the same words are the same answer."""
    assert sentence.span is not None
    return words(sentence.section.content[sentence.span.start : sentence.span.end])


def facts_miss_question(sentences: Sequence[SentenceScore], question: Question, confidence: float) -> bool:
    """Return whether ``sentences`` are only facts of a graph that say little of what ``question`` asks.

    A list of facts about something looks like an answer to any question about it, such as one for a phone number. A
    question that only names things ("Who is Ada?") does ask for these facts. Other words than the question's may state
    what it asks ("the grave of", "buried in"), if ``confidence`` is high. Facts that state no rank, negation, number
    or reason do not answer a question that has one, and none states the parent of a parent.
    """
    from wikigr.retrieval.relation_paths.masked_question import nesting, restrictions
    from wikigr.sources.statements import FACTS

    if not sentences or any(sentence.section.heading != FACTS for sentence in sentences):
        return False
    named = {stem for sentence in sentences for stem in stems(sentence.section.title)}
    said = {stem for sentence in sentences for stem in stems(sentence.text)}
    asked_words = words(question.text)
    if not {word for s in sentences for word in words(s.text)}.issuperset(restrictions(asked_words)):
        return True
    if nesting(asked_words) > 1:
        return True
    if confidence >= _SURE:
        return False
    asked = {stem: weight for stem, weight in question.weights.items() if stem not in named}
    return sum(weight for stem, weight in asked.items() if stem in said) < _SAID_BY_FACTS * sum(asked.values())
