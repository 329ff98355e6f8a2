"""The probability that an answer is right: features of a candidate beside the others, a fitted model, and the levels.

``probability.json`` holds the weights, what they were fitted on, and the figures; ``training/answers`` writes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from wikigr.answer.candidates.candidate import DERIVED, AnswerCandidate, Material
from wikigr.index.candidate import DENSE
from wikigr.question.dates import with_weekdays
from wikigr.question.intent import Aim, asked_for
from wikigr.question.masked_question import restrictions
from wikigr.reader.passage import as_probability
from wikigr.retrieval.reading import answer_words
from wikigr.text import words

# How sure an answer is: nine of ten are right; more likely right than not; perhaps; the pack does not say.
Level = Literal["sure", "likely", "not_sure", "not_covered"]
LEVELS: tuple[Level, ...] = get_args(Level)

FILE = Path(__file__).with_name("probability.json")
WITH_READER = "with_reader"
WITHOUT_READER = "without_reader"


@dataclass(frozen=True, slots=True)
class AnswerModel:
    """The fitted weights.

    ``order`` holds those of the sum over ``terms`` that orders the candidates of one question. ``right`` holds those of
    the logit of the probability, over the same terms, that score and the ``lead``, which is how far it is above the
    best candidate elsewhere. From ``sure``, ``likely`` and ``covered`` on, a probability has these levels; below the
    last, the pack does not cover the question.
    """

    order: Mapping[str, float]
    right: Mapping[str, float]
    intercept: float
    sure: float
    likely: float
    covered: float

    def score(self, features: Features) -> float:
        """Return the sum by which candidates of one question are ordered."""
        return sum(self.order.get(name, 0.0) * value for name, value in terms(features).items())

    def probability(self, features: Features, score: float, lead: float) -> float:
        """Return the probability that a candidate is right, in [0, 1]."""
        found = {**terms(features), "score": score, "lead": lead}
        logit = self.intercept + sum(self.right.get(name, 0.0) * value for name, value in found.items())
        return as_probability(logit)

    def level(self, probability: float, covered: float | None = None) -> Level:
        """Return the level of an answer; ``covered`` replaces the threshold of the file."""
        if probability < (self.covered if covered is None else covered):
            return "not_covered"
        return "sure" if probability >= self.sure else "likely" if probability >= self.likely else "not_sure"


# A kind that is too rare to be fitted has the weights of what it consists of, and what is computed from all rows those
# of rows that are listed. What follows from stated dates or from the structure of a pack is no more read than a path.
_LIKE = {
    "two_part": "span",
    "elapsed": "path",
    "collected": "path",
    "computed": "rows",
    "compared": "rows",
    "count": "rows",
}


def terms(features: Features) -> dict[str, float]:
    """Return the terms of the sum: the features, and for each kind an intercept, its features and its aim."""
    kind = _LIKE.get(features.kind, features.kind)
    aim = "list" if kind == "rows" != features.kind else features.aim
    return {
        **features.values,
        **{f"{name} {kind}": value for name, value in features.values.items()},
        f"kind {kind}": 1.0,
        f"{kind} for {aim}": 1.0,
        f"aim {aim}": 1.0,
    }


# The largest difference of scores that counts, and the lead of the only candidate.
MAX_LEAD = 4.0


def leads(candidates: Sequence[AnswerCandidate], scores: Sequence[float]) -> list[float]:
    """Return how far each score is above that of the best candidate whose quotations do not overlap."""
    return leads_over_rivals(scores, rivals(candidates))


def rivals(candidates: Sequence[AnswerCandidate]) -> list[list[int]]:
    """Return for each of ``candidates`` the numbers of those whose quotations do not overlap."""
    return [
        [n for n, other in enumerate(candidates) if n != number and not overlaps(candidate, other)]
        for number, candidate in enumerate(candidates)
    ]


def leads_over_rivals(scores: Sequence[float], rivals: Sequence[Sequence[int]]) -> list[float]:
    """Return how far each score is above the highest of its ``rivals``, from -``MAX_LEAD`` to ``MAX_LEAD``."""
    return [
        max(-MAX_LEAD, min(MAX_LEAD, score - max((scores[n] for n in others), default=-math.inf)))
        for score, others in zip(scores, rivals, strict=True)
    ]


def overlaps(one: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Return whether the two quote some of the same text; cells of one row are different answers."""
    if one.span is not None and other.span is not None and one.section.section_id == other.section.section_id:
        return one.span.start < other.span.end and other.span.start < one.span.end
    return any(
        a.section.section_id == b.section.section_id and a.start < b.end and b.start < a.end
        for a in one.quotations
        for b in other.quotations
    )


def rank_candidates(
    candidates: Sequence[AnswerCandidate], material: Material, model: AnswerModel, added: float = 0.0
) -> list[AnswerCandidate]:
    """Return ``candidates`` with their probabilities, best first; ties break by title, section and place.

    ``added`` is added to the weight of the section's rank in the order, but not in the probabilities. It is not
    fitted: a set of weights for other languages would have 154 of them for the order alone, and there are 70 questions.
    """
    described = describe(candidates, material)
    scores = [model.score(features) for features in described]
    judged = [
        (
            score + added * features.values["first"],
            replace(candidate, probability=model.probability(features, score, lead)),
        )
        for candidate, features, score, lead in zip(
            candidates, described, scores, leads(candidates, scores), strict=True
        )
    ]
    judged.sort(key=lambda item: (-item[0], item[1].section.title, *item[1].quotations[0].place))
    return [candidate for _, candidate in judged]


@lru_cache(maxsize=1)
def answer_models() -> Mapping[str, AnswerModel]:
    """Return the models that ship, for answers with and without the reader."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: AnswerModel(**stored[name]) for name in (WITH_READER, WITHOUT_READER)}


# Margins of the reader are logits; a difference of this many is as much as the features tell apart.
_LARGEST_MARGIN = 12.0


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one candidate of a ``kind``, for a question with this ``aim``, by name, about -1 to 1.

    ``margin`` is that of the reader's best span in the quotations and ``gap`` how far it is above the best one
    elsewhere; both are 0 and ``unread`` is 1 where the reader has read none of them. ``sentence`` is the best score of
    a quoted sentence without the reader. ``coverage`` is the share of the question in the quotations, their title and
    heading; ``heading`` the share in title and heading alone. ``section`` is the cosine of the section with the
    question, ``nearest`` that of the nearest section, and ``first`` is 1 for the first section and falls with the rank.
    ``type`` is 1 if the short answer is of the type asked for, -1 if it is not. ``unsaid`` is the share of the words of
    the question that no answer may leave out and that are not in it, and ``unnamed`` that of its names. ``fit`` is the
    candidate's own.
    """

    kind: str
    aim: Aim
    values: dict[str, float]


def describe(candidates: Sequence[AnswerCandidate], material: Material) -> list[Features]:
    """Return the features of all candidates for one question."""
    question = material.question
    aim = asked_for(question)
    required = set(restrictions(words(question.text)))
    ranks = {item.section.section_id: rank for rank, item in enumerate(material.evidence)}
    cosines = {item.section.section_id: item.candidate.scores.get(DENSE, 0.0) for item in material.evidence}
    nearest = max(cosines.values(), default=0.0)
    read = [(s.place, s.span.margin, answer_words(s)) for s in material.sentences if s.span is not None]
    return [
        Features(
            candidate.kind,
            aim,
            {
                **dict(_judged(candidate, material, read)),
                **dict(_worded(candidate, material, required)),
                "section": cosines.get(candidate.section.section_id, 0.0),
                "nearest": nearest,
                "first": 1.0 / (1.0 + ranks.get(candidate.section.section_id, len(ranks))),
                "fit": candidate.fit,
            },
        )
        for candidate in candidates
    ]


def _judged(
    candidate: AnswerCandidate, material: Material, read: Sequence[tuple[tuple[str, int], float, list[str]]]
) -> Iterator[tuple[str, float]]:
    """Yield what the reader and the scores of the sentences say of the quotations.

    ``read`` has the place, the margin and the words of each answer that the reader found.
    """
    quoted = [s for q in candidate.quotations for s in material.within(q.section, q.start, q.end)]
    yield "sentence", max((s.feature_score for s in quoted), default=0.0)
    places = {s.place for s in quoted}
    # What the reader makes of the parts says nothing of what follows from them.
    margins = [s.span.margin for s in quoted if s.span is not None and candidate.kind not in DERIVED]
    yield "unread", float(not margins)
    if not margins:
        yield from (("margin", 0.0), ("gap", 0.0))
        return
    margin = max(margins)
    said = words(candidate.short) if candidate.span is not None else None
    others = (own for place, own, answer in read if place not in places and answer != said)
    yield "margin", _clipped(margin)
    yield "gap", _clipped(margin - max(others, default=-_LARGEST_MARGIN))


def _clipped(margin: float) -> float:
    return max(-1.0, min(1.0, margin / _LARGEST_MARGIN))


def _worded(candidate: AnswerCandidate, material: Material, required: set[str]) -> Iterator[tuple[str, float]]:
    """Yield what the words of the answer and of its place say."""
    text, question = candidate.text, material.question
    place = frozenset[str]().union(*(material.place_stems(q.section) for q in candidate.quotations))
    said = place | set(question.stems(with_weekdays(text)))
    yield "coverage", question.coverage(said)
    yield "unnamed", len(question.names - said) / len(question.names) if question.names else 0.0
    yield "heading", question.coverage(place)
    answer = candidate.short or text
    kind = question.answer_type
    matches = kind is not None and (
        question.is_answer_type_in(answer) or (kind.name == "name" and answer[:1].isupper() and len(answer) < 60)
    )
    yield "type", 0.0 if kind is None else 1.0 if matches else -1.0
    # The numbers of a date may be written in another form.
    missing = required - set(words(text)) - said
    yield "unsaid", len(missing) / len(required) if required else 0.0
    yield "short", float(candidate.span is not None)
    # A quotation of 1,000 characters has the length 1.
    yield "length", min(1.5, math.log1p(len(text)) / math.log1p(1_000.0))
