"""Show the value of a cell as its number format does: leading zeros, currency, units, shares, durations and dates.

No maintained library does this: ``ssf`` had its last release in 2020 and fails with current versions of Babel, and
``xlsx2html`` writes HTML. What is not understood, such as fractions, is shown as the plain value; names are English.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

Value = int | float | date | time | timedelta

# ECMA-376, part 1, 18.8.31.
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[\$(?:-(?P<language>[0-9a-f]+)|(?P<currency>[^\]-]*)[^\]]*)\]'
    r"|\[(?P<condition>[<>=]+-?[\d.]+)\]|\[(?P<elapsed>h+|m+|s+)\]|\[[^\]]*\]|(?P<general>general)|(?P<end>;)"
    r"|(?P<digits>\.?[0#?][0#?,]*)|E(?P<exponent>[+-]0+)|(?P<half>am/pm|a/p)|(?P<second>s+\.0+)"
    r"|(?P<date>y+|m+|d+|h+|s+)|(?P<share>%)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_LITERALS = ("quoted", "escaped", "currency", "other")
_DATES = ("date", "second", "elapsed", "half")
_TIMES = frozenset("hs")
_CONDITION = re.compile(r"([<>=]+)(-?\d+(?:\.\d+)?)")
_COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
# Longer formats, and numbers with more digits, are nothing that anyone wrote.
_MAX_CODE_CHARS = 500
_MAX_DIGITS = 28
# The form of the machine, as with the languages F800 and F400, or what programs write for any date or time.
_LOCAL = frozenset(("general", "@", "mm-dd-yy", "m/d/yy h:mm", "h:mm:ss", "yyyy-mm-dd h:mm:ss"))
_LOCAL_LANGUAGES = frozenset((0xF800, 0xF400))
_ENGLISH = 0x09
_MIDNIGHT = datetime(1899, 12, 30)


class _Part(NamedTuple):
    """A token of a format: its ``kind`` is the name of its group in the pattern, or ``literal``."""

    kind: str
    text: str


class _Section(NamedTuple):
    """One of the formats that semicolons separate, as ``condition``; a number is written between the literals.

    ``whole`` and ``fraction`` are the places of its digits, and ``scale`` is what it is multiplied with.
    """

    parts: tuple[_Part, ...]
    kinds: frozenset[str]
    literals: str
    whole: str
    fraction: str
    scale: Decimal
    condition: str


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
    """Return ``value`` as the number format ``code`` shows it, on one line."""
    if code.lower() in _LOCAL or len(code) > _MAX_CODE_CHARS:
        return plain(value)
    sections = _sections(code)
    shown = _number(value, sections) if isinstance(value, int | float) else _date(value, sections[0])
    has_time = not _TIMES.isdisjoint(text[:1].lower() for kind, text in sections[0].parts if kind in _DATES)
    return " ".join(shown.split()) or plain(value if has_time or not isinstance(value, datetime) else value.date())


@lru_cache(maxsize=1000)
def _sections(code: str) -> tuple[_Section, ...]:
    found: list[list[_Part]] = [[]]
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup
        if kind == "end":
            found.append([])
        elif kind is not None:
            found[-1].append(_Part("literal" if kind in _LITERALS else kind, match[kind]))
    return tuple(map(_section, found))


def _section(parts: Sequence[_Part]) -> _Section:
    texts = {kind: [part.text for part in parts if part.kind == kind] for kind in {part.kind for part in parts}}
    whole = "".join(text for text in texts.get("digits", ()) if not text.startswith("."))
    fraction = next((text[1:] for text in texts.get("digits", ()) if text.startswith(".")), "")
    # Commas after the last digit divide by a thousand each.
    last = fraction or whole
    thousands = len(last) - len(last.rstrip(","))
    scale = Decimal(100) ** len(texts.get("share", ())) / Decimal(1000) ** thousands
    literals = "".join(texts.get("literal", ()))
    condition = "".join(texts.get("condition", ())[:1])
    return _Section(tuple(parts), frozenset(texts), literals, whole.rstrip(","), fraction.rstrip(","), scale, condition)


def _number(value: float, sections: Sequence[_Section]) -> str:
    number = 2 if value == 0 and len(sections) > 2 else int(value < 0 and len(sections) > 1)
    if any(section.condition for section in sections):
        fits = (n for n, one in enumerate(sections) if not one.condition or _fits(value, one.condition))
        number = next(fits, 0)
    section = sections[number]
    if "digits" not in section.kinds and "general" not in section.kinds:
        # A word may stand for a zero, but neither a line nor nothing.
        return section.literals if len(sections) > 1 and any(map(str.isalpha, section.literals)) else ""
    if not section.kinds.isdisjoint(_DATES) or "/" in section.literals or not isfinite(value):
        return ""
    is_marked = number == 1 and ("(" in section.literals or "-" in section.literals)
    shown = _fill(abs(value), section)
    return f"-{shown}" if shown and value < 0 and not is_marked else shown


def _fits(value: float, condition: str) -> bool:
    found = _CONDITION.fullmatch(condition)
    return found is not None and found[1] in _COMPARED and bool(_COMPARED[found[1]](value, float(found[2])))


def _fill(value: float, section: _Section) -> str:
    """Return the literals of a section with the digits of ``value``, which is not negative, in their places.

    Returns ``""`` for more digits than a number has.
    """
    number = Decimal(repr(value)) * section.scale
    power = number.adjusted() if "exponent" in section.kinds and number else 0
    number = number.scaleb(-power)
    if number.adjusted() + len(section.fraction) >= _MAX_DIGITS:
        return ""
    number = number.quantize(Decimal(1).scaleb(-len(section.fraction)), ROUND_HALF_UP)
    digits, _, decimals = f"{number:,f}".partition(".")
    least = len(section.fraction.rstrip("#?"))
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    if "," not in section.whole:
        digits = digits.replace(",", "").lstrip("0").rjust(section.whole.count("0"), "0")
    shown: list[str] = []
    left = sum(part.kind == "digits" and not part.text.startswith(".") for part in section.parts)
    # Literals may stand between the digits; the first place takes all that are left.
    for kind, text in reversed(section.parts):
        if kind == "digits" and text.startswith("."):
            shown.append(f".{decimals}" if decimals else "")
        elif kind == "digits":
            left -= 1
            taken = max(len(digits) - len(text), 0) if left else 0
            shown.append(digits[taken:])
            digits = digits[:taken]
        elif kind == "exponent":
            sign = "-" if power < 0 else text[0].replace("-", "")
            shown.append(f"E{sign}{abs(power):0{len(text) - 1}}")
        elif kind == "general":
            shown.append(f"{value:.15g}")
        elif kind in ("literal", "share"):
            shown.append(text)
    return "".join(reversed(shown))


def _date(value: date | time | timedelta, section: _Section) -> str:
    languages = [int(part.text, 16) for part in section.parts if part.kind == "language"]
    has_names = any(kind == "date" and text[0] in "mMdD" and len(text) > 2 for kind, text in section.parts)
    is_foreign = any(language & 0xFF != _ENGLISH for language in languages)
    if section.kinds.isdisjoint(_DATES) or _LOCAL_LANGUAGES.intersection(languages) or (is_foreign and has_names):
        return ""
    if isinstance(value, timedelta):
        if value < timedelta():
            return ""
        moment = _MIDNIGHT + value
    elif isinstance(value, datetime):
        moment = value
    else:
        moment = datetime.combine(*((_MIDNIGHT, value) if isinstance(value, time) else (value, time())))
    seconds = int((moment - _MIDNIGHT).total_seconds() + 0.5)
    units = [text[0].lower() for kind, text in section.parts if kind in _DATES and kind != "half"]
    shown = []
    number = 0
    for kind, text in section.parts:
        if kind in _DATES and kind != "half":
            # Months after hours or before seconds are minutes.
            is_minute = "h" in units[max(number - 1, 0) : number] or "s" in units[number + 1 : number + 2]
            number += 1
            if kind == "elapsed":
                shown.append(f"{seconds // {'h': 3600, 'm': 60, 's': 1}[text[0].lower()]:0{len(text)}}")
            elif kind == "second":
                shown.append(f"{moment:%S.%f}"[: 3 + text.count("0")])
            else:
                shown.append(_date_part(moment, text.lower(), is_minute=is_minute, is_half="half" in section.kinds))
        elif kind == "half":
            shown.append(("PM" if moment.hour >= 12 else "AM")[: (len(text) + 1) // 2 - (len(text) == 3)])
        elif kind == "literal":
            shown.append(text)
    return "".join(shown)


def _date_part(moment: datetime, code: str, *, is_minute: bool, is_half: bool) -> str:
    if code[0] in "dm" and len(code) > 2:
        name = f"{moment:{'%A' if code[0] == 'd' else '%B'}}"
        return name[:3] if len(code) == 3 else name[:1] if code == "mmmmm" else name
    if code[0] == "y":
        return f"{moment.year:04}" if len(code) > 2 else f"{moment.year % 100:02}"
    if code[0] == "h":
        number = (moment.hour % 12 or 12) if is_half else moment.hour
    elif code[0] == "m":
        number = moment.minute if is_minute else moment.month
    else:
        number = moment.day if code[0] == "d" else moment.second
    return f"{number:0{min(len(code), 2)}}"
