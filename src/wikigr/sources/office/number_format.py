"""Show the value of a cell as its number format does: leading zeros, decimals, percent, currency, units and dates.

No maintained library does this: ``ssf`` had its last release in 2020 and fails with current versions of Babel, and
``xlsx2html`` writes HTML. What is not understood is shown as the plain value; names are English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from math import isfinite

Value = int | float | date | time | timedelta

# ECMA-376, part 1, 18.8.31. Conditions, durations and the like are unknown.
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[a-z]{3,7}\]|\[color ?\d+\]'
    r"|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?,*|\.[0#?]+)|(?P<half>am/pm)|(?P<date>y+|m+|d+|h+|s+)|(?P<share>%)|(?P<end>;)"
    r"|(?P<unknown>\[)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_LITERALS = ("quoted", "escaped", "currency", "other", "share")
_LANGUAGE = re.compile(r"\[\$[^\]-]*-([0-9a-f]{1,8})\b", re.IGNORECASE)
_ENGLISH = 0x09
# How ``strftime`` writes the parts of a date; a single letter has no leading zero.
_DATES = {"yy": "%y", "yyyy": "%Y", "mmm": "%b", "mmmm": "%B", "ddd": "%a", "dddd": "%A"} | {
    letter * count: form for letter, form in (("m", "%m"), ("d", "%d"), ("h", "%H"), ("s", "%S")) for count in (1, 2)
}
# Longer formats, and numbers with more digits, are nothing that anyone wrote.
_MAX_CODE_CHARS = 500
_MAX_DIGITS = 28
# The form of the machine, or what programs write for any date or time.
_LOCAL = frozenset(("general", "@", "mm-dd-yy", "m/d/yy h:mm", "h:mm:ss", "yyyy-mm-dd h:mm:ss"))

# The kind of each token, the name of its group in the pattern or ``literal``, and its text.
_Tokens = Sequence[tuple[str, str]]


def plain(value: Value) -> str:
    """Return a value without a format: dates and times as in ISO 8601, numbers with up to 15 digits."""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat("auto" if value.second else "minutes")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(abs(value.total_seconds())), 60)
        sign = "-" if value < timedelta() else ""
        return f"{sign}{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    return f"{value:.15g}"


def show(value: Value, code: str) -> str:
    """Return ``value`` as the number format ``code`` shows it, on one line; durations are shown in hours."""
    shown = ""
    if code.lower() not in _LOCAL and len(code) <= _MAX_CODE_CHARS and not isinstance(value, timedelta):
        sections = _sections(code)
        shown = _number(value, sections) if isinstance(value, int | float) else _date(value, sections[0], code)
    return " ".join(shown.split()) or plain(value)


@lru_cache(maxsize=1000)
def _sections(code: str) -> list[_Tokens]:
    found: list[list[tuple[str, str]]] = [[]]
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup
        if kind == "end":
            found.append([])
        elif kind is not None:
            found[-1].append(("literal" if kind in _LITERALS else kind, match[kind]))
    return list(found)


def _number(value: float, sections: Sequence[_Tokens]) -> str:
    number = 2 if value == 0 and len(sections) > 2 else int(value < 0 and len(sections) > 1)
    tokens = sections[number]
    codes = [text for kind, text in tokens if kind == "digits"]
    if len(codes) != 1 or codes[0].endswith(",") or not isfinite(value):
        return ""
    literals = "".join(text for kind, text in tokens if kind == "literal")
    if "/" in literals or any(kind not in ("literal", "digits") for kind, _ in tokens):
        return ""
    whole, _, fraction = codes[0].partition(".")
    exact = abs(Decimal(repr(value))) * (100 if ("literal", "%") in tokens else 1)
    if exact.adjusted() + len(fraction) >= _MAX_DIGITS:
        return ""
    digits, _, decimals = f"{exact.quantize(Decimal(1).scaleb(-len(fraction)), ROUND_HALF_UP):,f}".partition(".")
    least = len(fraction.rstrip("#?"))
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    if "," not in whole:
        digits = digits.replace(",", "").lstrip("0").rjust(whole.count("0"), "0")
    written = f"{digits}.{decimals}" if decimals else digits
    is_signed = value < 0 and not (number == 1 and ("(" in literals or "-" in literals))
    return "-" * is_signed + "".join(written if kind == "digits" else text for kind, text in tokens)


def _date(value: date | time, tokens: _Tokens, code: str) -> str:
    parts = [text.lower() for kind, text in tokens if kind == "date"]
    has_names = any(part[0] in "md" and len(part) > 2 for part in parts)
    is_foreign = any(int(language, 16) & 0xFF != _ENGLISH for language in _LANGUAGE.findall(code))
    is_known = _DATES.keys() >= set(parts) and all(kind in ("date", "half", "literal") for kind, _ in tokens)
    if not parts or not is_known or (has_names and is_foreign):
        return ""
    if not isinstance(value, datetime):
        value = datetime.combine(*((date.min, value) if isinstance(value, time) else (value, time())))
    beside = ("", *parts, "")
    shown, number = [], 0
    for kind, text in tokens:
        if kind == "date":
            # Months after hours or before seconds are minutes.
            is_minute = beside[number][:1] == "h" or beside[number + 2][:1] == "s"
            form = _DATES[parts[number]]
            form = "%M" if form == "%m" and is_minute else "%I" if form == "%H" and "half" in dict(tokens) else form
            made = value.strftime(form)
            shown.append((made.lstrip("0") or "0") if len(text) == 1 else made)
            number += 1
        else:
            shown.append(value.strftime("%p") if kind == "half" else text)
    return "".join(shown)
