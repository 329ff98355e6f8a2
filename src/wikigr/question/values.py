"""Numbers, and the values of tables that can be compared, so that they are compared as what they are. English only."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

from wikigr.question.dates import dates_in

_NUMBER = re.compile(r"(?<![\w.,])[-−]?(?:\d{1,3}(?:[,  ]\d{3})+|\d+)(?:\.\d+)?(?![\d,]*\d)")
_UNIT = re.compile(r"\s?([^\W\d_]+[²³]?|[%°€$£])")
_TO = re.compile(r"\W{0,3}(?:[–—-]|\b(?:to|and)\b)\W{0,3}", re.IGNORECASE)
# The words before a number that make it the highest or the lowest of a range.
_UP_TO = re.compile(r"(?:\b(?:(?:up )?to|under|below|(?:less|fewer) than|until|at most|max\.?|maximum)|[≤<])\s*$", re.I)
_FROM = re.compile(r"(?:\b(?:over|above|from|more than|at least|min\.?|minimum)|[≥>])\s*$", re.IGNORECASE)
_MAX_CHARS_BEFORE = 20
# A year, a year with its month in either order, and a time of day, at the beginning of a value.
_YEAR = re.compile(r"\W{0,2}(?:(?P<month>\d\d?)/)?(?P<year>1[5-9]\d\d|20\d\d)(?:[-/](?P<month1>\d\d))?(?![\w.,]|\s\d)")
_CLOCK = re.compile(r"\W{0,2}(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?!\d)")
# A word or signs may precede a number, but no letters and a hyphen, as in "H-12".
_BEFORE_NUMBER = re.compile(r"(?:[^\W\d_]+\.?\s+)?[^\w\s]{0,2}\s?")


@dataclass(frozen=True, slots=True)
class Amounts:
    """The numbers from ``low`` to ``high``: one, or a range such as "up to 11 m"; ``unit`` is "" where none is said."""

    low: float
    high: float
    unit: str = ""

    @property
    def is_range(self) -> bool:
        return self.low < self.high

    def holds(self, other: Amounts) -> bool:
        """Return whether ``other`` lies within, in the same unit as far as both say one."""
        same_unit = self.unit == other.unit or not self.unit or not other.unit
        return same_unit and self.low <= other.low and other.high <= self.high


class Measured(NamedTuple):
    """A value that can be compared with others of its ``kind`` (and added to numbers): ``key`` in their order."""

    kind: Literal["date", "clock", "number"]
    key: tuple[float, ...]


def measured(text: str) -> Measured | None:
    """Return the date, the time of day or the number that ``text`` is or begins with, or ``None``.

    Of a range and of several numbers, none is the value.
    """
    if year := _YEAR.match(text):
        return Measured("date", (int(year["year"]), int(year["month"] or year["month1"] or 0), 0))
    if clock := _CLOCK.match(text):
        return Measured("clock", (60 * int(clock["hour"]) + int(clock["minute"]),))
    dates = dates_in(text)
    if dates and dates[0][1] <= 1:
        return Measured("date", (dates[0][0].year, dates[0][0].month, dates[0][0].day))
    amounts = amounts_in(text)
    if len(amounts) != 1 or amounts[0][0].low != amounts[0][0].high:
        return None
    number, start, _ = amounts[0]
    return Measured("number", (number.low,)) if _BEFORE_NUMBER.fullmatch(text, 0, start) else None


def amounts_in(text: str) -> list[tuple[Amounts, int, int]]:
    """Return the numbers and ranges of ``text`` outside of dates, with the characters where each begins and ends."""
    taken = [(start, end) for date, start, end in dates_in(text) if date.day]
    found: list[tuple[Amounts, int, int]] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        place = bisect_right(taken, start, key=itemgetter(1))
        if place < len(taken) and taken[place][0] < end:
            continue
        number = float(re.sub(r"[,  ]", "", match.group()).replace("−", "-"))
        unit = _UNIT.match(text, end)
        measured = unit[1].lower() if unit is not None else ""
        before = text[max(0, start - _MAX_CHARS_BEFORE) : start]
        if found and found[-1][0].low < number and _TO.fullmatch(text, found[-1][2], start):
            found[-1] = (Amounts(found[-1][0].low, number, measured), found[-1][1], end)
            continue
        low = -math.inf if _UP_TO.search(before) else number
        high = math.inf if _FROM.search(before) else number
        found.append((Amounts(low, high, measured), start, end))
    return found
