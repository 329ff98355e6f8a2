"""Dates and numbers in a short answer: as values that can be compared, and as what only some questions are about."""

from __future__ import annotations

import re

from wikigr.text import words

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_YEAR = re.compile(r"(?<![\d.,])(\d{3,4})(?:s\b|(?![\d.,]*\d))\s*(B\.?C(?:\.|E?\b))?")
_DAY_MONTH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+)?({_MONTH})\b\.?(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?", re.I
)
_NUMBER = re.compile(
    r"(?<![\w.])(\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s*(thousand|million|billion|trillion)\b)?"
)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
# What is described by "the year in which …" is a value; other things have names.
_VALUE_NOUNS = frozenset("amount century date day decade month number time year".split())
# "one" is rarely a number.
_WORDS = (
    "zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_WORD = re.compile(rf"\b(?:{'|'.join(word for word in _WORDS if word.isalpha())})\b", re.I)


def date_in(text: str) -> tuple[int, int, int] | None:
    """Return year, month and day of the first date in ``text``, 0 for what is not said; years B.C. are negative."""
    year = _YEAR.search(text)
    if year is None:
        return None
    value = -int(year[1]) if year[2] else int(year[1])
    near = _DAY_MONTH.search(text)
    if near is None:
        return value, 0, 0
    month = next(n for n, name in enumerate(_MONTHS, start=1) if name.startswith(near[2][:3].lower()))
    return value, month, int(near[1] or near[3] or 0)


def number_in(text: str) -> float | None:
    """Return the first number in ``text``, with thousands separators or up to twenty in words."""
    digits, word = _NUMBER.search(text), _WORD.search(text)
    if digits is not None and (word is None or digits.start() < word.start()):
        return float(re.sub(r"[, ]", "", digits[1])) * _SCALES.get(digits[2] or "", 1.0)
    return float(_WORDS.index(word[0].lower())) if word is not None else None


def may_describe(question: str, name: str) -> bool:
    """Return whether ``question`` may be about something of this ``name``: no person or thing is called "1925"."""
    is_name = any(character.isalpha() for character in _DAY_MONTH.sub("", name))
    return is_name or not _VALUE_NOUNS.isdisjoint(words(question))
