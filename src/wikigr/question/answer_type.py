"""The kind of thing that a question asks for, and a pattern that finds such things in a text."""

from __future__ import annotations

import re

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty hundreds? "
    "thousands? millions? billions? half twice third quarter several percent"
).split()
_CALENDAR_WORDS = (
    "January February March April May June July August September October November December Monday Tuesday "
    "Wednesday Thursday Friday Saturday Sunday century centuries decade spring summer autumn winter"
).split()


def _any_of(phrases: list[str]) -> str:
    return rf"\b(?:{'|'.join(phrases)})\b"


_NUMBER = re.compile(rf"\d|{_any_of(_NUMBER_WORDS)}", re.IGNORECASE)
_DATE = re.compile(
    r"\b(?:1\d{3}|20\d\d)s?\b|\b\d{1,4} ?(?:BC|AD|BCE|CE)\b|\b\d{1,2}(?:st|nd|rd|th) century\b|"
    + _any_of(_CALENDAR_WORDS)
)
# A capitalized word that is not the first of its sentence.
_NAME = re.compile(r"(?<=[a-z,;:'\"“(–-] )[A-ZÀ-Þ][\w'’-]+|(?<=[(\"“])[A-ZÀ-Þ][\w'’-]+")
_REASON = re.compile(
    _any_of("because,due to,since,so that,in order to,as a result,caused?,led to,reasons?,allows?".split(",")),
    re.IGNORECASE,
)

# How a question asks, and what it then wants; the first that fits counts.
_KINDS = tuple(
    (re.compile(_any_of(asks), re.IGNORECASE), wants)
    for asks, wants in (
        (["when", "what (?:year|date|century|decade|day|month|time)", "which (?:year|century|decade|month)"], _DATE),
        (
            [
                "how (?:many|much|long|old|far|fast|tall|large|big|high|deep|often)",
                r"what (?:percent\w*|number|fraction|age|amount|size|temperature)",
            ],
            _NUMBER,
        ),
        (
            [
                "who|whom|whose|where",
                "which (?:person|city|country)",
                "what (?:city|country|state|person|company|group|organi[sz]ation)",
            ],
            _NAME,
        ),
        (["why"], _REASON),
    )
)


def expected_kind(question: str) -> re.Pattern[str] | None:
    """Return a pattern for what would answer ``question`` (a date, a number, a name, a reason), or ``None``."""
    return next((wants for asks, wants in _KINDS if asks.search(question)), None)
