"""The type of thing that answers a question: a date, a number, a name or a reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wikigr.question import patterns


@dataclass(frozen=True, slots=True)
class AnswerType:
    """``asked_by`` matches a question that wants this type, ``found_by`` a text that holds one."""

    name: str
    asked_by: re.Pattern[str]
    found_by: re.Pattern[str]


# The first one whose pattern matches the question counts.
ANSWER_TYPES = (
    AnswerType("date", patterns.ASKS_DATE, patterns.DATE),
    AnswerType("number", patterns.ASKS_NUMBER, patterns.NUMBER),
    AnswerType("name", patterns.ASKS_NAME, patterns.NAME),
    AnswerType("reason", patterns.ASKS_REASON, patterns.REASON),
)

# A label can be a megabyte long; its beginning tells its type.
_MAX_LABEL_CHARS = 200


def answer_type(question: str) -> AnswerType | None:
    """Return the type of answer that ``question`` asks for, or ``None`` if its wording does not show it."""
    return next((kind for kind in ANSWER_TYPES if kind.asked_by.search(question)), None)


def label_fits(question: str, label: str) -> bool:
    """Return whether a node with this label may be of the type that ``question`` asks for.

    No node is a reason or a manner. Times and numbers do not name persons or places, and vice versa.
    """
    if patterns.ASKS_REASON_OR_MANNER.search(question):
        return False
    label = label[:_MAX_LABEL_CHARS]
    if patterns.ASKS_DATE_LABEL.search(question):
        return patterns.DATE_LABEL.match(label) is not None
    if patterns.ASKS_NUMBER_LABEL.search(question):
        return any(character.isdigit() for character in label) and not patterns.DAY_LABEL.match(label)
    return not (patterns.ASKS_NAME_LABEL.search(question) and patterns.NAMELESS_LABEL.match(label))
