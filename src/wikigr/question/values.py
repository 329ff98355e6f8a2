"""Numbers and dates in questions and in the values of tables, so that they are compared as what they are."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from wikigr.question.grammar import MONTHS

_MONTH = "|".join(rf"{month[:3]}(?:{month[3:]}|{month[3]}|\.)?" if month[3:] else month for month in MONTHS)
_DATE = re.compile(
    r"(?<![\d.])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)|"
    r"(?<![\d.])(?P<day1>\d{1,2})(?P<sign>[./])(?P<month1>\d{1,2})(?:\.(?!\d)|(?P=sign)(?P<year1>\d{4}|\d\d))(?![\d/])|"
    rf"\b(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?)?(?P<name>{_MONTH})(?![a-z])"
    r"(?:\s+(?P<day3>\d{1,2})(?:st|nd|rd|th)?(?![\d:]))?(?:,?\s+(?P<year2>\d{4})\b)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,])[-−]?(?:\d{1,3}(?:[,  ]\d{3})+|\d+)(?:\.\d+)?(?![\d,]*\d)")
_UNIT = re.compile(r"\s?([^\W\d_]+[²³]?|[%°€$£])")
_TO = re.compile(r"\W{0,3}(?:[–—-]|\b(?:to|and)\b)\W{0,3}", re.IGNORECASE)
# The words before a number that make it the highest or the lowest of a range, and those before a date with which a
# question asks for what is later or earlier.
_UP_TO = re.compile(r"(?:\b(?:(?:up )?to|under|below|(?:less|fewer) than|until|at most|max\.?|maximum)|[≤<])\s*$", re.I)
_FROM = re.compile(r"(?:\b(?:over|above|from|more than|at least|min\.?|minimum)|[≥>])\s*$", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:after|since|from)\s+(?:the\s+)?$", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:before|until|by)\s+(?:the\s+)?$", re.IGNORECASE)
_MAX_CHARS_BEFORE = 20
# "9/6 early": the day and the month with which an entry of a log begins, in either order.
_DAY_AND_MONTH = re.compile(r"\W{0,4}(\d{1,2})/(\d{1,2})\b(?!/)")
_MAX_HEAD = 60

# What a question asks of a date: the same, a later or an earlier one.
Order = Literal["same", "after", "before"]


@dataclass(frozen=True, slots=True)
class Date:
    """A day, or a part of it: ``year``, ``month`` and ``day`` are 0 where they are not said."""

    year: int
    month: int
    day: int

    def is_same(self, other: Date) -> bool:
        """Return whether both may be the same day, as far as it is said."""
        pairs = zip((self.year, self.month, self.day), (other.year, other.month, other.day), strict=True)
        return all(not one or not two or one == two for one, two in pairs)

    def is_before(self, other: Date) -> bool:
        """Return whether this day is before ``other``; without one of the years, they are in the same one."""
        year, other_year = (self.year, other.year) if self.year and other.year else (0, 0)
        return (year, self.month, self.day) < (other_year, other.month, other.day)


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


# A year, a year with its month in either order, and a time of day, at the beginning of a value.
_YEAR = re.compile(r"\W{0,2}(?:(?P<month>\d\d?)/)?(?P<year>1[5-9]\d\d|20\d\d)(?:[-/](?P<month1>\d\d))?(?![\w.,]|\s\d)")
_CLOCK = re.compile(r"\W{0,2}(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?!\d)")
# A word or signs may precede a number, but no letters and a hyphen, as in "H-12".
_BEFORE_NUMBER = re.compile(r"(?:[^\W\d_]+\.?\s+)?[^\w\s]{0,2}\s?")


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


def dates_in(text: str) -> list[tuple[Date, int, int]]:
    """Return the dates of ``text`` with the characters where each begins and ends; names of months are English."""
    found = []
    for match in _DATE.finditer(text):
        said = {name.rstrip("123"): value for name, value in match.groupdict().items() if value}
        name = said.get("name", "")
        # "may" is a verb, and "March" a name, unless there is a day or a year.
        if (
            name
            and not said.keys() & {"day", "year"}
            and name.lower() in ("may", "march", "mar")
            and not name[0].isupper()
        ):
            continue
        year, day = int(said.get("year", 0)), int(said.get("day", 0))
        month = _month(name) if name else int(said["month"])
        if 1 <= month <= 12 and day <= 31:
            found.append((Date(year + 2000 if 0 < year < 100 else year, month, day), *match.span()))
    return found


def dates_asked_for(text: str) -> list[Date]:
    """Return the days and months on which a question asks what happened, rather than before or after them."""
    return [date for date, start, _ in dates_in(text) if date.month and order_before(text, start) == "same"]


def is_dated(line: str, date: Date) -> bool | None:
    """Return whether the line begins with ``date``, or ``None`` if it begins with none; "9/6" is either day."""
    found = next((other for other, start, _ in dates_in(line[:_MAX_HEAD]) if start <= _MAX_CHARS_BEFORE), None)
    if found is not None:
        return found.is_same(date)
    short = _DAY_AND_MONTH.match(line)
    return None if short is None else {int(short[1]), int(short[2])} == {date.day or int(short[1]), date.month}


def date_phrases(date: Date) -> list[str]:
    """Return the ways to write the day, as words side by side; none for a whole month, which many words have."""
    if not date.day:
        return []
    month, day = MONTHS[date.month - 1], date.day
    written = [f"{day} {name}" for name in (month, month[:3])] + [f"{name} {day}" for name in (month, month[:3])]
    numbers = [(f"{day:02}", f"{date.month:02}"), (str(day), str(date.month))]
    return list(dict.fromkeys([*written, *(f"{a} {b}" for a, b in numbers), *(f"{b} {a}" for a, b in numbers)]))


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if name[:3].lower() == month[:3].lower())


def order_before(text: str, place: int) -> Order:
    """Return what the words before the character ``place`` of a question, where a date begins, ask of it."""
    before = text[max(0, place - _MAX_CHARS_BEFORE) : place]
    return "after" if _AFTER.search(before) else "before" if _BEFORE.search(before) else "same"


def amounts_in(text: str) -> list[tuple[Amounts, int, int]]:
    """Return the numbers and ranges of ``text`` outside of dates, with the characters where each begins and ends."""
    taken = [(start, end) for date, start, end in dates_in(text) if date.day]
    found: list[tuple[Amounts, int, int]] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        if any(first < end and start < last for first, last in taken):
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
