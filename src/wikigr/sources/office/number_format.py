"""Show the value of a cell as its number format does: leading zeros, decimals, percent, currency and units.

No maintained library does this: ``ssf`` had its last release in 2020 and fails with current versions of Babel, and
``xlsx2html`` writes HTML. What is not understood is shown as the plain value; dates have the form of ISO 8601.
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
    r"|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?,*|\.[0#?]+)|(?P<date>am/pm|y+|m+|d+|h+|s+)|(?P<share>%)|(?P<end>;)"
    r"|(?P<unknown>\[)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_LITERALS = ("quoted", "escaped", "currency", "other", "share")
# Longer formats, and numbers with more digits, are nothing that anyone wrote.
_MAX_CODE_CHARS = 500
_MAX_DIGITS = 28
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
    """Return ``value`` as the number format ``code`` shows it, on one line; dates, times and durations as ``plain``."""
    is_number = isinstance(value, int | float) and len(code) <= _MAX_CODE_CHARS and code.lower() not in ("general", "@")
    shown = _number(value, _sections(code)) if isinstance(value, int | float) and is_number else ""
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
