"""Dates in questions, in texts and in the values of tables, so that they are compared as days. English only.

``with_dates`` writes the dates that a question says by the calendar: "yesterday", "last month".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from wikigr.question.grammar import MONTHS, WEEKDAYS, one_of

_MONTH = "|".join(rf"{month[:3]}(?:{month[3:]}|{month[3]}|\.)?" if month[3:] else month for month in MONTHS)
_MONTHS_BY_LETTERS = {month[:3].lower(): number for number, month in enumerate(MONTHS, 1)}
_DATE = re.compile(
    r"(?<![\d.])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)|"
    r"(?<![\d.])(?P<day1>\d{1,2})(?P<sign>[./])(?P<month1>\d{1,2})(?:\.(?!\d)|(?P=sign)(?P<year1>\d{4}|\d\d))(?![\d/])|"
    rf"\b(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?)?(?P<name>{_MONTH})(?![a-z])"
    r"(?:\s+(?P<day3>\d{1,2})(?:st|nd|rd|th)?(?![\d:]))?(?:,?\s+(?P<year2>\d{4})\b)?",
    re.IGNORECASE,
)
# The words around dates with which a question asks for what is later, earlier or between.
_PART = r"(?:(?P<part>beginning|end|start)\s+of\s+(?:the\s+)?)?"
_LIMITING = rf"\b(?P<limit>after|since|from|between|before|until|by)\s+(?:the\s+)?{_PART}"
_LIMIT = re.compile(f"{_LIMITING}$", re.IGNORECASE)
_LIMITED_YEAR = re.compile(rf"{_LIMITING}(?:year\s+)?(?P<year>(?:1[5-9]|20)\d\d)(?![\w-])", re.IGNORECASE)
_AND = re.compile(rf"\s*(?:[–—-]|\b(?:to|and|until|till)\b)\s*(?:the\s+)?{_PART}", re.IGNORECASE)
# Without it, "from 4 May" is that day: the minutes from 4 May, a price from 4 May.
_ONWARDS = re.compile(r"\s+on(?:wards?)?\b", re.IGNORECASE)
# "between the beginning of the year "
_MAX_LIMIT_CHARS = 40
# Characters before the date with which a line begins.
_MAX_CHARS_BEFORE = 20
# "9/6 early": the day and the month with which an entry of a log begins, in either order.
_DAY_AND_MONTH = re.compile(r"\W{0,4}(\d{1,2})/(\d{1,2})\b(?!/)")
_MAX_HEAD = 60
# "Q4", "4th quarter", "fourth quarter", "quarter 4".
_QUARTERS = ("first", "second", "third", "fourth")
_QUARTER = re.compile(
    rf"\b(?:Q([1-4])|([1-4])(?:st|nd|rd|th)\s+quarter|({'|'.join(_QUARTERS)})\s+quarter|quarter\s+([1-4]))\b",
    re.IGNORECASE,
)
# "Tue", "Tues.", "Mon–Fri", "Monday to Friday".
_ABBREVIATED = [day[:3] for day in WEEKDAYS]
_REST = r"(?:s|r|rs|[a-z]*days?)?(?![\w'’])\.?"
_WEEKDAY = re.compile(
    rf"\b(?P<first>{'|'.join(_ABBREVIATED)}){_REST}(?:\s?(?:[–—-]|\bto\b)\s?(?P<last>{'|'.join(_ABBREVIATED)}){_REST})?"
)


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
class Dates:
    """The days that a question asks for: those of ``first``, or a range whose ends are ``None`` where it is open.

    The ends belong to a range that ``is_closed``.
    """

    first: Date | None
    last: Date | None
    is_closed: bool = True

    @property
    def is_range(self) -> bool:
        return self.first != self.last

    @property
    def are_days(self) -> bool:
        """Whether both ends are known, and days instead of months or years."""
        return self.first is not None and self.last is not None and self.first.day > 0

    def holds(self, date: Date) -> bool:
        """Return whether ``date`` is, or may be, one of the days."""
        if not self.is_range:
            return self.first is not None and self.first.is_same(date)
        ends = [end for end in (self.first, self.last) if end is not None]
        if any(end.is_same(date) for end in ends):
            return self.is_closed
        after = self.first is None or self.first.is_before(date)
        return after and (self.last is None or date.is_before(self.last))


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
        month = _MONTHS_BY_LETTERS[name[:3].lower()] if name else int(said["month"])
        if 1 <= month <= 12 and day <= 31:
            found.append((Date(year + 2000 if 0 < year < 100 else year, month, day), *match.span()))
    return found


def dates_asked_for(text: str) -> list[tuple[Dates, int, int]]:
    """Return the days and ranges of days that a question asks for, with the characters where each begins and ends."""
    found: list[tuple[Dates, int, int]] = []
    begun = ""
    years = [(Date(int(year["year"]), 0, 0), *year.span("year")) for year in _LIMITED_YEAR.finditer(text)]
    for day, start, end in sorted((*dates_in(text), *years), key=lambda date: date[1]):
        limit = _LIMIT.search(text, max(0, start - _MAX_LIMIT_CHARS), start)
        if not (start or day.day or day.year):
            # "May I …?"
            continue
        said, part, place = "", None, start
        # "after the September meeting" names a meeting.
        if limit is not None and (day.day or not limit[0].rstrip().endswith("the")):
            said, part, place = limit["limit"].lower(), limit["part"], limit.start()
        if begun in ("from", "between") and (to := _AND.fullmatch(text, found[-1][2], start)) is not None:
            before, first, _ = found.pop()
            assert before.first is not None
            begin = replace(before.first, year=before.first.year or day.year)
            found.append((Dates(begin, _edge(day, to["part"])), first, end))
            said = ""
        elif said in ("after", "since") or (said == "from" and _ONWARDS.match(text, end)):
            is_closed = part.lower() != "end" if part else said != "after"
            found.append((Dates(day, None, is_closed), place, end))
        elif said in ("before", "until", "by"):
            is_closed = part.lower() == "end" if part else said != "before"
            found.append((Dates(None, day, is_closed), place, end))
        else:
            day = _edge(day, part)
            found.append((Dates(day, day), place, end))
        begun = said
    return found


def _edge(day: Date, part: str | None) -> Date:
    """Return the first or the last day of a month or a year if ``part`` says which, or else ``day``."""
    if not part or day.day:
        return day
    is_end = part.lower() == "end"
    return replace(day, month=day.month or (12 if is_end else 1), day=31 if is_end else 1)


def is_dated(line: str, dates: Dates) -> bool | None:
    """Return whether the line begins with one of ``dates``, or ``None`` if it begins with none; "9/6" is either day."""
    found = next((other for other, start, _ in dates_in(line[:_MAX_HEAD]) if start <= _MAX_CHARS_BEFORE), None)
    if found is not None:
        return dates.holds(found)
    short = _DAY_AND_MONTH.match(line)
    if short is None:
        return None
    one, two = int(short[1]), int(short[2])
    return any(1 <= month <= 12 and dates.holds(Date(0, month, day)) for day, month in ((one, two), (two, one)))


def with_weekdays(text: str) -> str:
    """Return ``text`` with the names of the weekdays in full, and of a range of them ("Mon–Fri") those of all."""

    def spelled(match: re.Match[str]) -> str:
        first, last = (_ABBREVIATED.index(day or match["first"]) for day in (match["first"], match["last"]))
        return " ".join(WEEKDAYS[(first + n) % 7] for n in range((last - first) % 7 + 1))

    return _WEEKDAY.sub(spelled, text)


def quarters_in(text: str) -> list[tuple[int, int, int]]:
    """Return the quarters of a year that ``text`` names, 1 to 4, with the characters where each begins and ends."""
    return [
        (_QUARTERS.index(match[3].lower()) + 1 if match[3] else int(match[1] or match[2] or match[4]), *match.span())
        for match in _QUARTER.finditer(text)
    ]


def date_phrases(dates: Dates) -> list[str]:
    """Return the ways to write the days, as words side by side; none for a month or more, which many words have."""
    first, last = dates.first, dates.last
    if first is None or last is None or not first.day:
        return []
    days = [first]
    if dates.is_range:
        try:
            start, end = date(first.year, first.month, first.day), date(last.year, last.month, last.day)
        except ValueError:
            return []
        # Of a longer range, the first days are looked for.
        days = [
            Date(d.year, d.month, d.day) for d in (start + timedelta(n) for n in range((end - start).days + 1)[:14])
        ]
    return list(dict.fromkeys(phrase for day in days for phrase in _ways_to_write(day.month, day.day)))


def _ways_to_write(month: int, day: int) -> Iterator[str]:
    for name in (MONTHS[month - 1], MONTHS[month - 1][:3]):
        yield from (f"{day} {name}", f"{name} {day}")
    for a, b in ((f"{day:02}", f"{month:02}"), (str(day), str(month))):
        yield from (f"{a} {b}", f"{b} {a}")


_UNITS = {"day": 1, "week": 7}
# In lower case only: "Yesterday" may be the name of a song.
_RELATIVE = re.compile(
    r"(?:\b(?:(?P<end>(?:by|until|before)\s+the\s+end\s+of)|on|in|during|within|over|for|of|from)\s+)?\b(?:the\s+)?(?:(?P<day>today|tomorrow|yesterday)"
    rf"|(?P<which>this|last|next|past|previous|coming)\s+(?:(?P<span>week|month|year)|(?P<weekday>(?i:{one_of(WEEKDAYS)})))"
    r"|(?P<count>\d{1,3})\s+(?P<unit>day|week)s?\s+ago)(?![\w'’-])"
)
_STEPS = {"this": 0, "last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}


def with_dates(question: str, today: date) -> str:
    """Return ``question`` with the dates that ``today`` gives its words, in the year of the calendar."""

    def written(found: re.Match[str]) -> str:
        try:
            return _written(found, today)
        except OverflowError:
            # A day before or after all that the calendar of Python has.
            return found[0]

    return _RELATIVE.sub(written, question)


def _written(found: re.Match[str], today: date) -> str:
    step = _STEPS.get(found["which"] or "", 0)
    if found["span"] == "year" and not step:
        # Notes of this year seldom say so.
        return found[0]
    if found["day"]:
        return _on(today + timedelta({"yesterday": -1, "today": 0, "tomorrow": 1}[found["day"]]))
    if found["count"]:
        return _on(today - timedelta(int(found["count"]) * _UNITS[found["unit"]]))
    monday = today - timedelta(today.weekday())
    if found["weekday"]:
        # "last Friday" is the one before today, "this Friday" that of this week.
        wanted = monday + timedelta(WEEKDAYS.index(found["weekday"].capitalize()))
        if (step < 0 and wanted >= today) or (step > 0 and wanted <= today):
            wanted += timedelta(7 * step)
        return _on(wanted)
    if found["span"] == "week":
        first = monday + timedelta(7 * step)
        last = _day(first + timedelta(6))
        return f"by {last}" if found["end"] else f"between {_day(first)} and {last}"
    if found["span"] == "year":
        return f"in {today.year + step}"
    months = today.year * 12 + today.month - 1 + step
    return f"in {MONTHS[months % 12]} {months // 12}"


def _on(day: date) -> str:
    return f"on {_day(day)}"


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
