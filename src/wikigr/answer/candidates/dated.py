"""Answers about the days that the question names, in any of the forms in which dates are written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from wikigr.answer.candidates.candidate import AnswerCandidate, Quotation
from wikigr.question.values import Dates, dates_asked_for, dates_in, is_dated, quarters_in

# Lines before a quotation among which one may say the date of all that follows.
_MAX_LINES = 40


def of_dates_asked_for(candidates: Sequence[AnswerCandidate], question: str) -> list[AnswerCandidate]:
    """Return those of ``candidates`` that are of the dates in ``question``, or all of them if none is.

    What names other quarters of a year than the question is left out as well.
    """
    quarters = {quarter for quarter, _, _ in quarters_in(question)}
    if quarters:
        named = [{quarter for q in c.quotations for quarter, _, _ in quarters_in(q.text)} for c in candidates]
        pairs = zip(candidates, named, strict=True)
        candidates = [c for c, own in pairs if not own or own & quarters] or candidates
    # Of a month, a text rather says what holds from one to another: "from September to November".
    asked = [dates for dates, _, _ in dates_asked_for(question) if dates.are_days]
    found = [c for c in candidates if any(is_of(quotation, dates) for dates in asked for quotation in c.quotations)]
    return found or list(candidates)


def is_of(quotation: Quotation, dates: Dates) -> bool:
    """Return whether the quotation has one of ``dates``, or its heading, its title, or the line before it."""
    section, start = quotation.section, quotation.start
    if any(
        dates.holds(own) for text in (quotation.text, section.heading, section.title) for own, _, _ in dates_in(text)
    ):
        return True
    lines = section.content[:start].split("\n")[-_MAX_LINES:]
    # The line in which the quotation begins may begin with the date.
    lines[-1] += quotation.text.partition("\n")[0]
    dated = (is_on for is_on in map(partial(is_dated, dates=dates), reversed(lines)) if is_on is not None)
    return next(dated, False)
