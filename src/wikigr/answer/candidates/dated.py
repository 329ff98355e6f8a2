"""Answers about the day or the month that the question names, in any of the forms in which dates are written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from wikigr.answer.candidates.candidate import AnswerCandidate, Quotation
from wikigr.question.values import Date, dates_asked_for, dates_in, is_dated

# Lines before a quotation among which one may say the date of all that follows.
_MAX_LINES = 40


def of_dates_asked_for(candidates: Sequence[AnswerCandidate], question: str) -> list[AnswerCandidate]:
    """Return those of ``candidates`` that are of the dates in ``question``, or all of them if none is."""
    asked = dates_asked_for(question)
    found = [c for c in candidates if any(_is_of(quotation, date) for date in asked for quotation in c.quotations)]
    return found or list(candidates)


def _is_of(quotation: Quotation, date: Date) -> bool:
    """Return whether the quotation has ``date``, or else its heading, its title, or the last dated line before it."""
    section, start = quotation.section, quotation.start
    own = dates_in(quotation.text)
    if own and any(date.is_same(other) for other, _, _ in own):
        return True
    if any(date.is_same(other) for text in (section.heading, section.title) for other, _, _ in dates_in(text)):
        return True
    lines = section.content[:start].split("\n")[-_MAX_LINES:]
    # The line in which the quotation begins may begin with the date.
    lines[-1] += quotation.text.partition("\n")[0]
    dated = (is_on for is_on in map(partial(is_dated, date=date), reversed(lines)) if is_on is not None)
    return next(dated, False)
