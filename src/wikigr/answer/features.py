"""What the probability of an answer depends on: features of a candidate beside the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wikigr.answer.candidates.candidate import DERIVED, AnswerCandidate, Material
from wikigr.index.candidate import DENSE
from wikigr.question.intent import Aim, asked_for
from wikigr.question.masked_question import restrictions
from wikigr.question.values import with_weekdays
from wikigr.retrieval.reading import answer_words
from wikigr.retrieval.sentences import SentenceScore
from wikigr.text import words

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
    read = [s for s in material.sentences if s.span is not None]
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
    candidate: AnswerCandidate, material: Material, read: Sequence[SentenceScore]
) -> Iterator[tuple[str, float]]:
    """Yield what the reader and the scores of the sentences say of the quotations."""
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
    others = (
        s.span.margin
        for s in read
        if s.span is not None and s.place not in places and (said is None or answer_words(s) != said)
    )
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
