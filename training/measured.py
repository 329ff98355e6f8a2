"""Questions of every kind with the sections that are read for them, and what is measured of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from training.examples import Passage, states_answer
from wikigr.evaluation.metrics.accuracy import exact_match, token_f1
from wikigr.evaluation.reliability import auroc

# An answer is right if it shares at least half of its words with an accepted one.
RIGHT_F1 = 0.5


@dataclass(frozen=True, slots=True)
class Measured:
    """A question with the sections to read.

    An answer is compared with ``accepted``, or matches ``pattern`` where there is one. ``sentences`` are
    ``(section, start, end, bonus)``: what is added to the margin of a span in these characters; without any, spans
    are read in each sentence of the sections. ``gold`` is the number of the section that answers, if it is known.
    """

    group: str
    kind: str
    question: str
    accepted: tuple[str, ...]
    pattern: str
    covered: bool
    sections: tuple[Passage, ...]
    sentences: tuple[tuple[int, int, int, float], ...] = ()
    gold: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """The best span over all sections of a question: its text, the section's number and the margin."""

    text: str
    section: int | None
    margin: float


def figures_of(questions: Sequence[Measured], readings: Sequence[Read]) -> dict[str, dict[str, float]]:
    """Return the figures by group, and by group and kind: shares and areas in [0, 1], rounded.

    ``right`` is the share of covered questions whose answer shares half of its words with an accepted one (or matches
    the pattern), ``section`` that of those read in the right section. ``auroc`` compares the margins of covered
    questions with those of the others, ``auroc_right`` only of those answered right. ``auroc KIND`` takes the
    uncovered questions of one kind.
    """
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(questions):
        groups.setdefault(item.group, []).append(number)
        if item.covered:
            groups.setdefault(f"{item.group}: {item.kind}", []).append(number)
    return {name: _figures([(questions[n], readings[n]) for n in numbers]) for name, numbers in sorted(groups.items())}


def _figures(rows: Sequence[tuple[Measured, Read]]) -> dict[str, float]:
    covered = [(item, read) for item, read in rows if item.covered]
    others = [(item, read) for item, read in rows if not item.covered]
    if not covered:
        return {"questions": 0}
    right = [_is_right(item, read) for item, read in covered]
    found: dict[str, float] = {
        "questions": len(covered),
        "exact_match": fmean(exact_match(read.text, item.accepted) for item, read in covered),
        "f1": fmean(token_f1(read.text, item.accepted) for item, read in covered),
        "right": fmean(right),
    }
    known = [read.section == item.gold for item, read in covered if item.gold is not None]
    if known:
        found["section"] = fmean(known)
    answered = [read.margin for (_, read), ok in zip(covered, right, strict=True) if ok]
    if others:
        found["auroc"] = _area([read.margin for _, read in covered], [read.margin for _, read in others])
    if others and answered:
        found["auroc_right"] = _area(answered, [read.margin for _, read in others])
    kinds = sorted({item.kind for item, _ in others})
    for kind in kinds if len(kinds) > 1 else ():
        area = _area([read.margin for _, read in covered], [read.margin for i, read in others if i.kind == kind])
        found[f"auroc {kind}"] = area
    return {name: round(value, 4) for name, value in found.items()}


def _is_right(item: Measured, read: Read) -> bool:
    if item.pattern:
        return states_answer(read.text, item.pattern, item.accepted)
    return token_f1(read.text, item.accepted) >= RIGHT_F1


def _area(covered: Sequence[float], others: Sequence[float]) -> float:
    return auroc([*covered, *others], [True] * len(covered) + [False] * len(others))
