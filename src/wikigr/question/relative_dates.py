"""Write the dates that a question says by the calendar: "yesterday", "this week", "last month". English only."""

from __future__ import annotations

import re
from datetime import date, timedelta

from wikigr.question.grammar import MONTHS, WEEKDAYS, one_of

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
    return _RELATIVE.sub(lambda found: _written(found, today), question)


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
