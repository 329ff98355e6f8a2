"""Ages in questions and ranges of ages in texts: "a ten-year-old", "6–12", "65+", "under 18". English only."""

from __future__ import annotations

import math
import re

from wikigr.question.grammar import NUMBERS, one_of

_ASKED = re.compile(
    rf"\b(?:(?P<number>\d{{1,3}}|{one_of(NUMBERS)})[\s-]years?[\s-]olds?"
    r"|age[ds]?\s+(?:of\s+)?(?P<aged>\d{1,3})(?!\s?[–—-]))\b",
    re.IGNORECASE,
)
_YEARS = r"(?:[\s-]*(?:years?(?:[\s-]+(?:old|of age))?|yrs?)\b\.?)"
_NUMBER = r"(?<![\w.,:/€$£#-])(\d{1,3})"
# What follows an age that has no unit: nothing that makes it a time of day, a date, or a number of something.
_END = rf"(?:{_YEARS}|(?![\w%°€$£²³]|[.,:/–—-]\d|\s?[%°€$£]|\s[a-z]))"
_RANGES = re.compile(
    rf"{_NUMBER}\s?(?:[–—-]|to)\s?(\d{{1,3}}){_END}|"
    rf"{_NUMBER}{_YEARS}?(?:\s?\+(?!\s?\d)|\s+(?:(?:and|or)\s+(?:above|older|over|up(?:wards)?)|on(?:wards)?)\b)|"
    rf"\b(?:from|at least)\s+(?:age\s+)?{_NUMBER}{_YEARS}|"
    rf"\b(?:over|older than)\s+{_NUMBER}{_END}|"
    rf"\b(?:under|below|younger than)\s+{_NUMBER}{_END}|"
    rf"\b(?:up to|until)\s+(?:age\s+)?{_NUMBER}{_END}",
    re.IGNORECASE,
)


def age_in(question: str) -> tuple[int, str] | None:
    """Return the only age in years that ``question`` names, and how it does, or ``None``."""
    found = list(_ASKED.finditer(question))
    said = (found[0]["number"] or found[0]["aged"]).lower() if len(found) == 1 else ""
    return (NUMBERS.index(said) if said in NUMBERS else int(said), found[0][0]) if said else None


def is_for_age(age: int, text: str) -> bool | None:
    """Return whether ``age`` lies in a range of numbers in ``text`` that may be ages, or ``None`` if it has none."""
    ranges = list(map(_range, _RANGES.finditer(text)))
    return any(low <= age <= high for low, high in ranges) if ranges else None


def _range(match: re.Match[str]) -> tuple[float, float]:
    first, last, onwards, least, over, under, most = (None if said is None else int(said) for said in match.groups())
    lows = first, onwards, least, None if over is None else over + 1, 0
    highs = last, most, None if under is None else under - 1, math.inf
    return next(low for low in lows if low is not None), next(high for high in highs if high is not None)
