"""The type of thing that answers a question: a date, a number, a name, a reason or a procedure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wikigr.question import patterns


@dataclass(frozen=True, slots=True)
class AnswerType:
    """``asked_by`` matches a question that wants this type, ``found_by`` a text that holds one.

    ``is_short`` says whether a few words can be such an answer.
    """

    name: str
    asked_by: re.Pattern[str]
    found_by: re.Pattern[str]
    is_short: bool = True


# The first one whose pattern matches the question counts.
ANSWER_TYPES = (
    AnswerType("date", patterns.ASKS_DATE, patterns.DATE),
    AnswerType("number", patterns.ASKS_NUMBER, patterns.NUMBER),
    AnswerType("name", patterns.ASKS_NAME, patterns.NAME),
    AnswerType("reason", patterns.ASKS_REASON, patterns.REASON, is_short=False),
    AnswerType("procedure", patterns.ASKS_PROCEDURE, patterns.PROCEDURE, is_short=False),
)


def answer_type(question: str) -> AnswerType | None:
    """Return the type of answer that ``question`` asks for, or ``None`` if its wording does not show it."""
    return next((kind for kind in ANSWER_TYPES if kind.asked_by.search(question)), None)
