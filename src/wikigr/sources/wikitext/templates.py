"""Expand the wikitext templates whose loss would leave a hole in a sentence, which the tables list."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from wikigr.sources.wikitext import marks, template_tables

_SECOND_UNITS = frozenset(("in", "oz", "lb", "yd", "ft", "st", "mi", "chain"))
_LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
# Numbered arguments that give a width or a side: ``{{columns-list|2|…}}``, ``{{cquote|…|20px|20px|…}}``.
_PLACEMENT = re.compile(r"\d{1,4}(?:\.\d{1,3})?\s?(?:px|r?em|ex|%)?|left|right|cent(?:er|re)")
_NUMBER = re.compile(r"[-−+]?[\d.,/⁄+]+$")
_SLOT = re.compile(
    r"\{(?:\*(?P<separator>[^{}]*)|(?P<keys>[^{}*:=]+)(?::(?P<table>\w+))?(?:=(?P<default>[^{}]*))?)\}"
    r"|<(?P<optional>(?:[^<>]|<[^<>]*>)*)>"
)
# Arguments that do not read as text: addresses, names of files, colors, switches, codes and sizes.
_NOT_TEXT = re.compile(
    r"(?:\d{1,4}(?:\.\d{1,3})?\s?(?:px|r?em|ex)|left|right|cent(?:er|re)|(?:https?:)?//.*|#[0-9a-f]{3,8}|[yn]|"
    r".*\.(?:jpe?g|png|svg|gif|tiff?|og[gv]|webm|pdf)|(?=[\w-]{10,}$)(?=.*\d)(?=.*[a-z]).*)",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_CASES: dict[str, Callable[[str], str]] = {
    "formatnum": str.strip,
    "lc": str.lower,
    "uc": str.upper,
    "lcfirst": lambda text: text[:1].lower() + text[1:],
    "ucfirst": lambda text: text[:1].upper() + text[1:],
}


@dataclass(frozen=True, slots=True)
class TemplateCall:
    """A call with its arguments as text; ``link`` records a hyperlink to a title and returns its label.

    ``language`` is that of the wiki, as in ``template_tables``.
    """

    arguments: Mapping[str, str]
    link: Callable[[str, str], str]
    language: str = "en"

    @property
    def tables(self) -> dict[str, Any]:
        return template_tables(self.language)

    def arg(self, *keys: str) -> str:
        """Return the first of the named or numbered (``"1"``) arguments that is not empty, otherwise ``""``."""
        return next((value for key in keys if (value := self.arguments.get(key, ""))), "")

    def positional(self) -> list[str]:
        """Return the numbered arguments in order, up to the first missing one."""
        found: list[str] = []
        while (value := self.arguments.get(str(len(found) + 1))) is not None:
            found.append(value)
        return found


def is_known_template(name: str, language: str = "en") -> bool:
    """Return whether ``expand_template`` has a rule for ``name`` on a wiki in ``language``."""
    known = name in template_tables(language)["rules"] or name.startswith(("lang-", "script/"))
    return known or name.partition(":")[0] in _CASES or is_silent(name, language)


def is_silent(name: str, language: str = "en") -> bool:
    """Return whether templates called ``name`` show nothing that belongs to a sentence."""
    rule = template_tables(language)["rules"].get(name)
    return not rule if rule is not None else _silent_names(language).fullmatch(name) is not None


def expand_template(name: str, call: TemplateCall) -> str | None:
    """Return the text of a call, ``""`` if it shows nothing, and ``None`` for an unknown template.

    ``name`` is in lower case with single spaces.
    """
    rule = call.tables["rules"].get(name)
    if rule is not None:
        if not rule.startswith("@"):
            return _fill_pattern(rule, call)
        function, *parameters = rule[1:].split()
        return _FUNCTIONS[function](call, *parameters)
    if name.startswith(("lang-", "script/")):
        return call.arg("1", "text")
    case, _, text = name.partition(":")
    if case in _CASES:
        return _CASES[case](text.strip())
    return "" if is_silent(name, call.language) else None


def plain_arguments(call: TemplateCall) -> str:
    """Return the arguments of an unknown template that read as text, on one line but for a list; ``""`` if none do.

    A first argument that is the code of a language says what the others are. Several numbers alone are something that
    the template computes with.
    """
    values = [value for value in call.positional() if value]
    if len(values) > 1 and _LANGUAGE_TAG.fullmatch(values[0]) and not _LANGUAGE_TAG.fullmatch(values[1]):
        del values[0]
    if len(values) > 2 and all(map(_NUMBER.fullmatch, values)):
        return ""
    values = values or [call.arg(*call.tables["text_arguments"])]
    if len(values) == 1 and marks.LIST in values[0]:
        return f"\n{values[0]}\n"
    text = " ".join(value for value in values if "\n" not in value and not _NOT_TEXT.fullmatch(value))
    return text if len(text) <= 500 else ""


@cache
def _silent_names(language: str) -> re.Pattern[str]:
    return re.compile("|".join(template_tables(language)["silent_patterns"]))


def _fill_pattern(pattern: str, call: TemplateCall) -> str:
    values: list[str] = []

    def fill(slot: re.Match[str]) -> str:
        keys: str | None = slot["keys"]
        if slot["optional"] is not None:
            number = len(values)
            text = _SLOT.sub(fill, slot["optional"])
            return text if any(values[number:]) else ""
        if keys is None:
            values.append(slot["separator"].join(filter(None, call.positional())))
        else:
            value = call.arg(*keys.split("|"))
            values.append(
                (call.tables[slot["table"]].get(value, "") if slot["table"] else value) or slot["default"] or ""
            )
        return values[-1]

    text = _SLOT.sub(fill, pattern)
    return text if any(values) or not values or "=}" in pattern else ""


def _convert(call: TemplateCall) -> str:
    """``{{convert|5|km}}``, ``{{convert|5|to|10|km}}``, ``{{convert|6|ft|2|in}}``: the value as stated."""
    range_words, units = call.tables["range_words"], template_tables("en")["units"]
    values = call.positional()
    text = values[0] if values else ""
    place = 1
    while len(values) >= place + 2 and values[place] in range_words:
        text += range_words[values[place]] + values[place + 1]
        place += 2
    rest = values[place:]
    if not rest:
        return text
    text = _with_unit(text, units.get(rest[0], rest[0]))
    if len(rest) >= 3 and _NUMBER.match(rest[1]) and rest[2] in _SECOND_UNITS:
        text += " " + _with_unit(rest[1], units.get(rest[2], rest[2]))
    return text


def _with_unit(value: str, unit: str) -> str:
    return f"{value}{unit}" if unit.startswith(("°", "/", "%")) else f"{value} {unit}".strip()


def _value(call: TemplateCall) -> str:
    """``{{val|1.5|0.2|e=8|u=m/s}}``: "(1.5±0.2)×10^8 m/s"."""
    values = call.positional()
    text = call.arg("p", "pre") + (values[0] if values else "")
    if len(values) == 2:
        text += values[1] if values[1].startswith("(") else f"±{values[1]}"
    elif len(values) >= 3:
        text += f" +{values[1].lstrip('+')} −{values[2].lstrip('-−')}"
    if exponent := call.arg("e"):
        text = f"({text})×10^{exponent}" if len(values) > 1 else f"{text}×10^{exponent}"
    unit = call.arg("u", "ul")
    if per := call.arg("up", "upl"):
        unit += f"/{per}"
    return _with_unit(text, unit) + call.arg("s", "suf")


def _fraction(call: TemplateCall) -> str:
    values = call.positional()
    if len(values) >= 3:
        return f"{values[0]} {values[1]}/{values[2]}"
    if len(values) == 2:
        return f"{values[0]}/{values[1]}"
    return f"1/{values[0]}" if values else ""


def _superscript(call: TemplateCall) -> str:
    value = call.arg("1")
    return f"^{value}" if _NUMBER.match(value) else f"{marks.SUP_OPEN}{value}{marks.SUP_CLOSE}"


def _ordinal(call: TemplateCall) -> str:
    number = call.arg("1")
    is_teen = number[-2:-1] == "1"
    return number + ("th" if is_teen else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th"))


def _unit(call: TemplateCall) -> str:
    """``{{unité|12|km}}``, ``{{unité|300|km|2}}``, ``{{unité|90|km||h|-1}}``: "12 km", "300 km^2", "90 km/h"."""
    number, *units = call.positional() or [""]
    text = number
    for place in range(0, len(units), 2):
        exponent = units[place + 1] if place + 1 < len(units) else ""
        if exponent in ("-1", "−1") and place:
            text += f"/{units[place]}"
        elif units[place]:
            text += f" {units[place]}" + (f"^{exponent}" if exponent not in ("", "1") else "")
    return text


def _date(call: TemplateCall, parts: str = "") -> str:
    """Return a date as the wiki writes it, of which only the first ``parts`` arguments are used."""
    return _format_date(call, call.positional()[: int(parts) if parts else None])


def _format_date(call: TemplateCall, values: list[str]) -> str:
    """Format year, month and day, or day, month and year; English ones have the day first with ``df``."""
    if values and (iso := _ISO_DATE.match(values[0])):
        values = list(iso.groups())
    if values and values[0] and not re.fullmatch(r"-?\d{1,4}", values[0]):
        # These forms take a date as text.
        return values[0]
    year, month, day = (*values[:3], "", "", "")[:3]
    if len(day) > 2 and len(year) <= 2:
        year, day = day, year
    if month.isdecimal() and 1 <= int(month) <= 12:
        month = call.tables["months"].split()[int(month) - 1]
    day = day.lstrip("0") if day.isdecimal() else ""
    if not month:
        return year
    form = call.tables["date" if day else "month"]
    if day and call.arg("df").lower() not in ("", "n", "no", "false"):
        form = "{d} {m} {y}"
    return str(form.format(d=day, m=month, y=year)).strip()


def _dates(call: TemplateCall) -> str:
    """``{{start and end dates|1911|5|3|1912|6|4}}``: both dates."""
    values = call.positional()
    return " – ".join(filter(None, (_format_date(call, values[:3]), _format_date(call, values[3:6]))))


def _age(call: TemplateCall) -> str:
    """Return the years between two dates, each in three arguments; of one date, the age depends on the day."""
    values = call.positional()
    if len(values) < 6 or not all(re.fullmatch(r"\d{1,4}", value) for value in values[:6]):
        return ""
    numbers = list(map(int, values[:6]))
    (year, month, day), (until, *end) = (
        (part if part[0] > 31 or part[2] <= 31 else part[::-1]) for part in (numbers[:3], numbers[3:])
    )
    return str(until - year - (tuple(end) < (month, day)))


def _as_of(call: TemplateCall) -> str:
    prefix = "as of" if call.arg("lc") or call.arg("since") else "As of"
    return call.arg("alt") or f"{prefix} {_date(call)}{call.arg('post')}"


def _flag(call: TemplateCall) -> str:
    name = call.arg("name", "1")
    return call.link(call.arg("1"), name) if name else ""


def _sort_name(call: TemplateCall) -> str:
    name = f"{call.arg('1')} {call.arg('2')}".strip()
    return name if call.arg("nolink") else call.link(call.arg("3") or name, name)


def _interlanguage(call: TemplateCall) -> str:
    title, code = call.arg("1", "en"), call.arg("2")
    if _LANGUAGE_TAG.fullmatch(title) and code and not _LANGUAGE_TAG.fullmatch(code):
        # Older calls have the language code first.
        title = code
    return call.link(title, call.arg("lt") or title)


def _links_only(call: TemplateCall) -> str:
    """Record the links of a hatnote and drop its text."""
    for target in call.positional():
        call.link(target, "")
    return "\n"


def _ship(call: TemplateCall, prefix: str) -> str:
    name = f"{prefix} {call.arg('1')}"
    number = call.arg("2")
    return call.link(f"{name} ({number})" if number else name, name)


def _transcription(call: TemplateCall) -> str:
    """``{{IPA|haʊs}}`` is text; ``{{IPA|de|haʊs}}`` adds a pronunciation and is dropped, as ``{{IPA-de}}`` is."""
    values = call.positional()
    return "" if len(values) > 1 and _LANGUAGE_TAG.fullmatch(values[0]) else call.arg("1")


def _nihongo(call: TemplateCall, *order: str) -> str:
    """Show the arguments in ``order``, all but the first in parentheses."""
    values = [value for key in order if (value := call.arg(key))]
    if len(values) > 1 and call.arg(order[0]):
        values = [f"{values[0]} ({', '.join(values[1:])})"]
    return f"{', '.join(values)} {call.arg('5', 'extra2')}".strip()


def _chinese(call: TemplateCall) -> str:
    keys = ("t", "s", "c", "p", "w", "j")
    return ", ".join(dict.fromkeys(value for key in keys if (value := call.arg(key)))) or call.arg("1")


def _citation(call: TemplateCall) -> str:
    """A work listed in the text; citations in footnotes are already removed."""
    author = call.arg("author", "author1", "authors")
    if not author and (last := call.arg("last", "last1", "surname")):
        first = call.arg("first", "first1", "given")
        author = f"{last}, {first}" if first else last
    date = call.arg("year", "date")
    author_and_date = f"{author} ({date})" if author and date else author
    title = call.arg("title") or call.arg("chapter")
    parts = (author_and_date, title, call.arg("journal", "work", "magazine", "newspaper"), call.arg("publisher"))
    text = ". ".join(part.rstrip(".") for part in parts if part)
    return f"{text} ({date})" if date and text and not author else text


def _quote(call: TemplateCall) -> str:
    """A quotation, its author and its source, named or in this order; sizes and sides among them are ignored."""
    numbered = [call.arg(str(number)) for number in range(1, 7)]
    stated = [value for value in numbered if value and not _PLACEMENT.fullmatch(value)]
    text = call.arg("text", "quote") or (stated.pop(0) if stated else "")
    author = call.arg("author", "sign", "cite", "autor", "auteur", "autore") or (stated.pop(0) if stated else "")
    source = call.arg("source") or (stated.pop(0) if stated else "")
    if not text:
        return ""
    origin = ", ".join(value for value in (author, source) if value)
    if origin:
        text = f"{text}{marks.BREAK}— {origin}"
    return f"\n\n{marks.QUOTATION}\n{text}\n{marks.KIND_END}\n\n"


def _list(call: TemplateCall, marker: str) -> str:
    items = [value for value in call.positional() if value]
    return "\n" + "".join(f"{marks.LIST}{marker}{' '.join(item.split())}\n" for item in items)


def _line(call: TemplateCall, marker: str, *keys: str) -> str:
    """A term or a definition in a glossary."""
    return f"\n{marks.LIST}{marker}{value}\n" if (value := call.arg(*keys)) else ""


def _blocks(call: TemplateCall) -> str:
    """Templates that only position their content, with or without a number of columns, a width or a side."""
    stated = [value for value in (*call.positional(), call.arg("content")) if value]
    text = "\n".join([value for value in stated if not _PLACEMENT.fullmatch(value)] or stated)
    return f"\n{text}\n" if text else ""


_FUNCTIONS: dict[str, Callable[..., str]] = {
    function.__name__.removeprefix("_"): function
    for function in (
        _age, _as_of, _blocks, _chinese, _citation, _convert, _date, _dates, _flag, _fraction, _interlanguage, _line,
        _links_only, _list, _nihongo, _ordinal, _quote, _ship, _sort_name, _superscript, _transcription, _unit, _value,
    )
}  # fmt: skip
