"""Answers about the days that the question names, in any of the forms in which dates are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from wikigr.answer.candidates.candidate import AnswerCandidate, Quotation
from wikigr.question.dates import Dates, dates_asked_for, dates_in, is_dated, quarters_in

# "Which quarter had more than the second quarter?", "what followed the first quarter?"
_OTHER_QUARTERS = re.compile(
    r"\b(?:(?:which|what)\s+quarters?|after|before|except|follow(?:s|ed|ing)?|since|than|without)\b", re.IGNORECASE
)


def of_dates_asked_for(candidates: Sequence[AnswerCandidate], question: str) -> list[AnswerCandidate]:
    """Return those of ``candidates`` that are of the dates in ``question``, or all of them if none is.

    Cells whose rows name only other quarters than the question are left out as well, unless it asks for these.
    """
    quarters = {quarter for quarter, _, _ in quarters_in(question)}
    if quarters and _OTHER_QUARTERS.search(question) is None:
        named = [{quarter for q in c.quotations for quarter, _, _ in quarters_in(q.text)} for c in candidates]
        pairs = zip(candidates, named, strict=True)
        candidates = [c for c, own in pairs if c.kind != "cell" or not own or own & quarters] or candidates
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
    # One of the forty lines before a quotation may say the date of all that follows.
    lines = section.content[:start].split("\n")[-40:]
    # The line in which the quotation begins may begin with the date.
    lines[-1] += quotation.text.partition("\n")[0]
    dated = (is_on for is_on in map(partial(is_dated, dates=dates), reversed(lines)) if is_on is not None)
    return next(dated, False)
