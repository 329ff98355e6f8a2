"""Judge the answers to the questions of the bench, and sum them up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eval.real.questions import BenchQuestion
from wikigr.answer.answer import Answer, PossibleAnswer
from wikigr.evaluation.reliability import RIGHT, reliability
from wikigr.evaluation.samples import Sample

_CITATION_MARKS = re.compile(r"\s*\[(?:\d[\d\s,;]*|unverified)\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one question.

    ``right`` says whether the short answer or the text of the answer holds the gold, and ``near`` whether they, their
    surroundings or one of the alternatives do. ``printed`` is the short answer and the text. A question that could not
    be asked, because the pack could not be built, is neither answered nor ``declined``.
    """

    question: BenchQuestion
    printed: str = ""
    declined: bool = False
    right: bool = False
    near: bool = False
    confidence: float = 0.0
    is_sure: bool = False

    @property
    def is_answered(self) -> bool:
        return bool(self.printed)


def judge(question: BenchQuestion, answer: Answer) -> Outcome:
    """Compare ``answer`` with the gold of ``question``."""
    if answer.abstained:
        return Outcome(question, declined=True, confidence=answer.confidence)
    printed = _printed(answer)
    right = question.is_answered_by(printed)
    return Outcome(
        question,
        printed=printed,
        right=right,
        near=right or any(question.is_answered_by(text) for text in _surroundings(answer)),
        confidence=answer.confidence,
        is_sure=answer.level == "sure",
    )


def _printed(answer: PossibleAnswer) -> str:
    """Return the short answer, if there is one, and the text without citation marks, each on lines of its own."""
    short = "" if answer.span is None else answer.span.text
    return f"{short}\n{_CITATION_MARKS.sub('', answer.text)}".strip()


def _surroundings(answer: Answer) -> Iterator[str]:
    """Yield the surroundings of the answer, and its alternatives with theirs."""
    if answer.context is not None:
        yield answer.context.text
    for alternative in answer.alternatives:
        yield _printed(alternative)
        if alternative.context is not None:
            yield alternative.context.text


@dataclass(frozen=True, slots=True)
class Score:
    """The sum of some outcomes: numbers of questions, and shares in [0, 1], which are None where nothing counts.

    ``right`` and ``near`` are shares of the ``answerable`` questions, ``sure`` is the share of the ``sure_answers``
    that are right, and ``not_covered`` is the share of the ``unanswerable`` questions that were declined.
    """

    answerable: int
    unanswerable: int
    sure_answers: int
    right: float | None
    near: float | None
    sure: float | None
    not_covered: float | None


def score(outcomes: Sequence[Outcome]) -> Score:
    """Sum up ``outcomes``."""
    answerable = [outcome for outcome in outcomes if outcome.question.gold is not None]
    unanswerable = [outcome for outcome in outcomes if outcome.question.gold is None]
    sure = [outcome for outcome in outcomes if outcome.is_sure]
    return Score(
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        sure_answers=len(sure),
        right=_share(answerable, lambda outcome: outcome.right),
        near=_share(answerable, lambda outcome: outcome.near),
        sure=_share(sure, lambda outcome: outcome.right),
        not_covered=_share(unanswerable, lambda outcome: outcome.declined),
    )


def calibration_error(outcomes: Sequence[Outcome]) -> float | None:
    """Return the expected calibration error of the confidence of all answers, or None if there are none."""
    samples = [
        Sample("", o.question.id, 0, confidence=o.confidence, metrics={RIGHT: float(o.right)})
        for o in outcomes
        if o.is_answered
    ]
    found = reliability(samples, seed=0, resamples=1)
    return None if found is None else float(found["ece"].value)


def _share(outcomes: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> float | None:
    return sum(map(holds, outcomes)) / len(outcomes) if outcomes else None
