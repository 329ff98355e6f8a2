"""The type of thing that answers a question: a date, a number, a name, a reason or a procedure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from wikigr.languages import ENGLISH, Language
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


def answer_type(question: str, language: Language = ENGLISH) -> AnswerType | None:
    """Return the type of answer that ``question`` asks for, or ``None`` if its wording does not show it."""
    kinds = ANSWER_TYPES if language.is_english else _answer_types_in(language)
    return next((kind for kind in kinds if kind.asked_by.search(question)), None)


@cache
def _answer_types_in(language: Language) -> tuple[AnswerType, ...]:
    """Return the types of answers whose questions ``language`` describes: dates, numbers and reasons."""
    digits = {"date": r"\b(?:1\d{3}|20\d\d)\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b", "number": r"\d"}
    edge = "" if language.characters else r"\b"

    def whole(pattern: str) -> str:
        return f"{edge}(?:{pattern}){edge}"

    def found_by(kind: str) -> re.Pattern[str]:
        words = "|".join(map(re.escape, language.holds[kind]))
        return re.compile("|".join(filter(None, [digits.get(kind), whole(words)])), re.I)

    return tuple(
        AnswerType(kind, re.compile(whole(pattern), re.I), found_by(kind), is_short=kind != "reason")
        for kind, pattern in language.asks.items()
    )
