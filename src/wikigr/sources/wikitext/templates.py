"""What the text of a template call is, for templates whose loss would leave a hole in a sentence.

Templates are programs of their wiki and are not run here. These few are so common, and so simple in effect,
that their arguments say enough; all others are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wikigr.sources.wikitext.marks import BREAK, LIST, SUP_CLOSE, SUP_OPEN

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_UNITS = {
    "C": "°C",
    "F": "°F",
    "K": "K",
    "R": "°R",
    "km2": "km²",
    "m2": "m²",
    "cm2": "cm²",
    "mm2": "mm²",
    "sqkm": "km²",
    "sqm": "m²",
    "sqmi": "sq mi",
    "sqft": "sq ft",
    "sqin": "sq in",
    "sqyd": "sq yd",
    "km3": "km³",
    "m3": "m³",
    "cm3": "cm³",
    "cumi": "cu mi",
    "cuft": "cu ft",
    "cuin": "cu in",
    "in": "in",
    "USgal": "US gallons",
    "impgal": "imperial gallons",
    "floz": "fl oz",
    "ftlb": "ft·lb",
    "lbft": "lb·ft",
    "/sqkm": "/km²",
    "/km2": "/km²",
    "/sqmi": "/sq mi",
}
_RANGE_WORDS = {
    "-": "–",
    "–": "–",
    "to": " to ",
    "to(-)": " to ",
    "and": " and ",
    "and(-)": " and ",
    "or": " or ",
    "by": " by ",
    "by(x)": " by ",
    "x": " × ",
    "×": " × ",
    "xx": " × ",
    "+/-": " ± ",
    "±": " ± ",
    "to about": " to about ",
}
_SECOND_UNITS = frozenset(("in", "oz", "lb", "yd", "ft", "st", "mi", "chain"))
_MAGNITUDES = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion", "l": "lakh", "c": "crore"}
_LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
# Numbered arguments that say how wide, or on which side: ``{{columns-list|2|…}}``, ``{{cquote|…|20px|20px|…}}``.
_PLACEMENT = re.compile(r"\d{1,4}(?:\.\d{1,3})?\s?(?:px|r?em|ex|%)?|left|right|cent(?:er|re)")
_NUMBER = re.compile(r"[-−+]?[\d.,/⁄+]+$")


@dataclass(frozen=True, slots=True)
class TemplateCall:
    """A call with its arguments as text. ``link`` notes a hyperlink to a title and returns its label."""

    arguments: Mapping[str, str]
    link: Callable[[str, str], str]

    def arg(self, *keys: str) -> str:
        """The first of the named (or numbered: ``"1"``) arguments that is not empty, else ``""``."""
        return next((value for key in keys if (value := self.arguments.get(key, ""))), "")

    def positional(self) -> list[str]:
        """The numbered arguments in order, up to the first that is missing."""
        found: list[str] = []
        while (value := self.arguments.get(str(len(found) + 1))) is not None:
            found.append(value)
        return found


_Expansion = Callable[[TemplateCall], str]


def expand_template(name: str, call: TemplateCall) -> str | None:
    """The text of a call; ``""`` or, when the template is not known, ``None`` where there is nothing to show.

    ``name`` is in lower case with single spaces.
    """
    expansion = _TEMPLATES.get(name)
    if expansion is not None:
        return expansion(call)
    if name.startswith(("lang-", "script/")):
        return call.arg("1", "text")
    if name.startswith("formatnum:"):
        return name.removeprefix("formatnum:").strip()
    return None


def is_known_template(name: str) -> bool:
    """Whether ``expand_template`` has text for ``name``."""
    return name in _TEMPLATES or name.startswith(("lang-", "script/", "formatnum:"))


def _first(call: TemplateCall) -> str:
    return call.arg("1")


def _second(call: TemplateCall) -> str:
    return call.arg("2", "1")


def _after_code(*keys: str) -> _Expansion:
    """Text in another language: without it there is nothing to show, for the first argument is a code."""
    return lambda call: call.arg(*keys)


def _constant(text: str) -> _Expansion:
    return lambda call: text


def _or_else(text: str) -> _Expansion:
    return lambda call: call.arg("1") or text


def _around(prefix: str, suffix: str = "") -> _Expansion:
    return lambda call: f"{prefix}{value}{suffix}" if (value := call.arg("1")) else ""


def _joined(separator: str) -> _Expansion:
    return lambda call: separator.join(value for value in call.positional() if value)


def _convert(call: TemplateCall) -> str:
    """``{{convert|5|km}}``, ``{{convert|5|to|10|km}}``, ``{{convert|6|ft|2|in}}``: the value as stated."""
    values = call.positional()
    text = values[0] if values else ""
    rest = values[1:]
    while len(rest) >= 2 and rest[0] in _RANGE_WORDS:
        text += _RANGE_WORDS[rest[0]] + rest[1]
        rest = rest[2:]
    if not rest:
        return text
    text = _with_unit(text, rest[0])
    if len(rest) >= 3 and _NUMBER.match(rest[1]) and rest[2] in _SECOND_UNITS:
        text += " " + _with_unit(rest[1], rest[2])
    return text


def _with_unit(value: str, unit: str) -> str:
    written = _UNITS.get(unit, unit)
    return f"{value}{written}" if written.startswith(("°", "/")) else f"{value} {written}".strip()


def _val(call: TemplateCall) -> str:
    """``{{val|1.5|0.2|e=8|u=m/s}}``: "1.5±0.2×10^8 m/s"."""
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
    if unit:
        text += unit if unit.startswith(("%", "°")) else f" {unit}"
    return text + call.arg("s", "suf")


def _fraction(call: TemplateCall) -> str:
    values = call.positional()
    if len(values) >= 3:
        return f"{values[0]} {values[1]}/{values[2]}"
    if len(values) == 2:
        return f"{values[0]}/{values[1]}"
    return f"1/{values[0]}" if values else ""


def _root(call: TemplateCall) -> str:
    value = call.arg("1")
    if value and not value.isalnum():
        value = f"({value})"
    return f"√{value}"


def _ordinal(call: TemplateCall) -> str:
    number = call.arg("1")
    is_teen = number[-2:-1] == "1"
    return number + ("th" if is_teen else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th"))


def _rupees(call: TemplateCall) -> str:
    magnitude = _MAGNITUDES.get(call.arg("2"), "")
    return f"₹{call.arg('1')} {magnitude}".rstrip()


def _date(call: TemplateCall) -> str:
    return _format_date(call.positional(), call)


def _death_date_and_age(call: TemplateCall) -> str:
    return _format_date(call.positional()[:3], call)


def _format_date(values: list[str], call: TemplateCall) -> str:
    """Year, month, day (as numbers or names, any missing) as a date; day first with ``df``."""
    if values and not re.fullmatch(r"-?\d{1,4}", values[0]):
        # The forms that take a date already written out.
        return values[0]
    year, month, day = (*values[:3], "", "", "")[:3]
    if month.isdigit() and 1 <= int(month) <= 12:
        month = _MONTHS[int(month) - 1]
    day = day.lstrip("0") if day.isdigit() else ""
    if not month:
        return year
    if not day:
        return f"{month} {year}"
    is_day_first = call.arg("df").lower() not in ("", "n", "no", "false")
    return f"{day} {month} {year}" if is_day_first else f"{month} {day}, {year}"


def _birth_year(call: TemplateCall) -> str:
    return _format_date(call.positional()[:2], call)


def _as_of(call: TemplateCall) -> str:
    prefix = "as of" if call.arg("lc") or call.arg("since") else "As of"
    return call.arg("alt") or f"{prefix} {_format_date(call.positional(), call)}{call.arg('post')}"


def _flag(call: TemplateCall) -> str:
    name = call.arg("name", "1")
    return call.link(call.arg("1"), name) if name else ""


def _sort_name(call: TemplateCall) -> str:
    name = f"{call.arg('1')} {call.arg('2')}".strip()
    return name if call.arg("nolink") else call.link(call.arg("3") or name, name)


def _interlanguage(call: TemplateCall) -> str:
    title, code = call.arg("1", "en"), call.arg("2")
    if _LANGUAGE_TAG.fullmatch(title) and code and not _LANGUAGE_TAG.fullmatch(code):
        # The older order of the arguments.
        title = code
    return call.link(title, call.arg("lt") or title)


def _links_only(call: TemplateCall) -> str:
    """Hatnotes: a hyperlink the author chose, in a line that is no part of the text."""
    for target in call.positional():
        call.link(target, "")
    return "\n"


def _ship(prefix: str) -> _Expansion:
    def expand(call: TemplateCall) -> str:
        name = f"{prefix} {call.arg('1')}"
        number = call.arg("2")
        return call.link(f"{name} ({number})" if number else name, name)

    return expand


def _any_ship(call: TemplateCall) -> str:
    name = f"{call.arg('1')} {call.arg('2')}".strip()
    number = call.arg("3")
    return call.link(f"{name} ({number})" if number else name, name)


def _quote(call: TemplateCall) -> str:
    """A quotation, its author and where it stands, named or in this order, with sizes or a side between."""
    numbered = [call.arg(str(number)) for number in range(1, 7)]
    stated = [value for value in numbered if value and not _PLACEMENT.fullmatch(value)]
    text = call.arg("text", "quote") or (stated.pop(0) if stated else "")
    author = call.arg("author", "sign", "cite") or (stated.pop(0) if stated else "")
    source = call.arg("source") or (stated.pop(0) if stated else "")
    if not text:
        return ""
    origin = ", ".join(value for value in (author, source) if value)
    return f"\n\n{text}{BREAK}— {origin}\n\n" if origin else f"\n\n{text}\n\n"


def _nihongo(*order: str) -> _Expansion:
    """The numbers of the arguments in the order of display: all but the first in parentheses."""

    def expand(call: TemplateCall) -> str:
        shown = [value for key in order if (value := call.arg(key))]
        if len(shown) > 1 and call.arg(order[0]):
            shown = [f"{shown[0]} ({', '.join(shown[1:])})"]
        return f"{', '.join(shown)} {call.arg('5', 'extra2')}".strip()

    return expand


def _transcription(call: TemplateCall) -> str:
    """``{{IPA|haʊs}}`` is text; ``{{IPA|de|haʊs}}`` tells the pronunciation and is left out, as ``{{IPA-de}}`` is."""
    values = call.positional()
    return "" if len(values) > 1 and _LANGUAGE_TAG.fullmatch(values[0]) else call.arg("1")


def _circa(call: TemplateCall) -> str:
    # The year may follow the call.
    return " – ".join(f"c. {value}" for value in call.positional() if value) or "c. "


def _misspelled(call: TemplateCall) -> str:
    """``{{sic|irrega|rdless}}``: a word in pieces, so that no program mends it."""
    return "".join(value for value in call.positional() if value != "?")


def _list(marker: str) -> _Expansion:
    def expand(call: TemplateCall) -> str:
        items = [value for value in call.positional() if value]
        return "\n" + "".join(f"{LIST}{marker}{_one_line(item)}\n" for item in items)

    return expand


def _one_line(item: str) -> str:
    return " ".join(stripped for line in item.split("\n") if (stripped := line.strip()))


def _wrapped(call: TemplateCall) -> str:
    """Templates that only place their content."""
    return _block(value for value in (*call.positional(), call.arg("content")) if value)


def _columns_list(call: TemplateCall) -> str:
    """The content, after the number or width of the columns in older calls: ``{{columns-list|2|…}}``."""
    stated = (value for value in call.positional() if value and not _PLACEMENT.fullmatch(value))
    return _block([call.arg("content") or next(stated, "")])


def _division_columns(call: TemplateCall) -> str:
    """``{{div col|content=…}}``; without it the content follows the call, up to ``{{div col end}}``."""
    return _block([call.arg("content")])


def _block(parts: Iterable[str]) -> str:
    text = "\n".join(parts)
    return f"\n{text}\n" if text else ""


def _glossary_line(marker: str, *keys: str) -> _Expansion:
    return lambda call: f"\n{LIST}{marker}{value}\n" if (value := call.arg(*keys)) else ""


def _track_listing(call: TemplateCall) -> str:
    rows = []
    number = 1
    while title := call.arg(f"title{number}"):
        length = call.arg(f"length{number}")
        rows.append(f"{LIST}#{_one_line(title)}" + (f" ({length})" if length else ""))
        number += 1
    return "\n" + "\n".join(rows) + "\n"


def _citation(call: TemplateCall) -> str:
    """A work listed in the text; citations in footnotes are gone by now."""
    author = call.arg("author", "author1", "authors")
    if not author and (last := call.arg("last", "last1", "surname")):
        first = call.arg("first", "first1", "given")
        author = f"{last}, {first}" if first else last
    date = call.arg("year", "date")
    who = f"{author} ({date})" if author and date else author
    title = call.arg("title") or call.arg("chapter")
    parts = (who, title, call.arg("journal", "work", "magazine", "newspaper"), call.arg("publisher"))
    text = ". ".join(part.rstrip(".") for part in parts if part)
    return f"{text} ({date})" if date and text and not author else text


def _marriage(call: TemplateCall) -> str:
    spouse, start, end = call.arg("1"), call.arg("2"), call.arg("3", "end")
    years = f"{start}–{end}" if start and end else start or end
    return f"{spouse} (m. {years})" if years else spouse


def _height(call: TemplateCall) -> str:
    if call.arg("m") or call.arg("cm"):
        return f"{call.arg('m')} m" if call.arg("m") else f"{call.arg('cm')} cm"
    feet, inches = call.arg("ft"), call.arg("in")
    return " ".join(part for part in (feet and f"{feet} ft", inches and f"{inches} in") if part)


def _reign(prefix: str) -> _Expansion:
    def expand(call: TemplateCall) -> str:
        return prefix + "–".join(value for value in call.positional()[:2] if value)

    return expand


def _su(call: TemplateCall) -> str:
    return "".join(f"{mark}{value}" for mark, key in (("^", "p"), ("_", "b")) if (value := call.arg(key)))


def _music(call: TemplateCall) -> str:
    signs = {"flat": "♭", "b": "♭", "sharp": "♯", "#": "♯", "natural": "♮", "doubleflat": "𝄫", "doublesharp": "𝄪"}
    return signs.get(call.arg("1"), call.arg("1"))


def _nuclide(call: TemplateCall) -> str:
    """``{{SimpleNuclide|Uranium|235}}``: "Uranium-235"."""
    element = call.arg("link", "1")
    mass = call.arg("2")
    return f"{element}-{mass}" if mass else element


def _superscript(call: TemplateCall) -> str:
    value = call.arg("1")
    return f"^{value}" if _NUMBER.match(value) else f"{SUP_OPEN}{value}{SUP_CLOSE}"


def _labeled(label: str) -> _Expansion:
    return lambda call: f"{label} {value}" if (value := call.arg("1")) else ""


def _bar_table(call: TemplateCall) -> str:
    """``{{bartable|12.5|%|2}}``, a number drawn as a bar: "12.5%"."""
    unit = call.arg("2")
    return call.arg("1") + (unit if not unit or unit.startswith(("%", "°")) else f" {unit}")


def _columns(call: TemplateCall) -> str:
    columns: list[str] = []
    while (text := call.arguments.get(f"col{len(columns) + 1}")) is not None:
        columns.append(text)
    return "\n" + "\n".join(column for column in columns if column) + "\n"


def _chinese(call: TemplateCall) -> str:
    keys = ("t", "s", "c", "p", "w", "j")
    return ", ".join(dict.fromkeys(value for key in keys if (value := call.arg(key)))) or call.arg("1")


def _names(expansion: _Expansion, names: str) -> dict[str, _Expansion]:
    return dict.fromkeys((name.strip().replace("_", " ") for name in names.split(",")), expansion)


_TEMPLATES: dict[str, _Expansion] = {
    **_names(
        _first,
        "nowrap, nobr, nobreak, j, small, smaller, big, large, larger, huge, sc, smallcaps, smallcaps2, "
        "bold, strong, em, noitalic, nobold, nobold2, normal, nwr, longitem, math, mvar, "
        "var, code, tt, mono, samp, kbd, keypress, key press, key, abbr, tooltip, h:title, overline, underline, "
        "strikethrough, vanchor, visible anchor, linktext, unicode, polytonic, hebrew, arabic, nastaliq, "
        "gothic, cuneiform, angbr, proper name, as written, chem2, citation needed span, "
        "cite quote, nts, ntsh, number table sorting, formatnum, zh-cn, dm, rtl-lang, "
        "birth-date, death-date, start-date, end-date, birth-date and age, death-date and age, rail gauge, vr, "
        "railgauge, subatomic particle, url, angle bracket, highlight, tq, midsize, format price",
    ),
    **_names(
        _second,
        "color, colour, font color, fontcolor, colored text, hidden, sort, resize, glossary link, gli",
    ),
    **_names(_after_code("2", "text"), "lang, langx, native name, native phrase, script, legend"),
    **_names(_after_code("3", "2"), "transl, transliteration, translit, xlit, wikt-lang, wt"),
    **_names(_transcription, "ipa"),
    **_names(_misspelled, "sic, typo, not a typo, notatypo"),
    **_names(_convert, "convert, cvt, convinfobox"),
    **_names(_val, "val"),
    **_names(_fraction, "frac, fraction, sfrac"),
    **_names(
        _date,
        "birth date, birth date and age, bda, dob, death date, start date, start date and age, "
        "end date, end date and age, film date, date, dts, "
        "release date",
    ),
    **_names(_death_date_and_age, "death date and age, dda"),
    **_names(_birth_year, "birth year and age, death year and age"),
    **_names(_as_of, "as of, asof"),
    **_names(_circa, "circa, c., ca, ca."),
    **_names(_around("AD "), "ad"),
    **_names(_around("", " CE"), "ce"),
    **_names(_around("", " BCE"), "bce"),
    **_names(_ordinal, "ordinal"),
    **_names(_root, "sqrt, radic, radical"),
    **_names(_around("lit. '", "'"), "lit, lit., literal translation, literally"),
    **_names(_around("'", "'"), "gloss"),
    **_names(_around("10^"), "10^"),
    **_names(_reign("r. "), "reign, r."),
    **_names(_reign("fl. "), "floruit, fl."),
    **_names(_superscript, "sup, superscript, pow"),
    **_names(_around("×10^"), "e, x10^"),
    **_names(_around("|", "|"), "abs"),
    **_names(_first, "sub, subscript"),
    **_names(_joined(""), "chem, gaps"),
    **_names(_joined(", "), "comma separated entries, cslist, csl"),
    **_names(_joined(" · "), "hlist"),
    **_names(
        _list("*"),
        "unbulleted list, ubl, ublist, vunblist, bulleted list, blist, collapsible list",
    ),
    **_names(_list("#"), "ordered list"),
    **_names(
        _wrapped,
        "plainlist, plain list, flatlist, flat list, center, centre, block indent, stack, stacked, left, right, "
        "float left, float right, floatleft, floatright",
    ),
    **_names(_columns_list, "columns-list, columns list, column list, col-list, collist, cmn"),
    **_names(_division_columns, "div col, divcol, div-col, colbegin"),
    **_names(_glossary_line(";", "content", "2", "term", "1"), "term"),
    **_names(_glossary_line(":", "defn", "content", "1"), "defn"),
    **_names(_track_listing, "track listing, tracklist, track list"),
    **_names(
        _quote,
        "quote, blockquote, bquote, cquote, rquote, quotation, quote box, quotebox, centered pull quote, "
        "block quote, pull quote, poemquote, poem quote",
    ),
    **_names(_flag, "flag, flagcountry, flagu"),
    **_names(_sort_name, "sortname, sort name"),
    **_names(_interlanguage, "ill, interlanguage link, interlanguage link multi, link-interwiki"),
    **_names(
        _links_only,
        "main, main article, main articles, see also, further, further information, details, details3, broader",
    ),
    **_names(_any_ship, "ship, mv"),
    **{prefix.lower(): _ship(prefix) for prefix in ("HMS", "USS", "SS", "RMS", "HMAS", "HMCS", "USCGC", "MS")},
    **_names(_nihongo("1", "2", "3", "4"), "nihongo"),
    **_names(_nihongo("3", "2", "1", "4"), "nihongo3"),
    **_names(_first, "nihongo2, nihongo foot"),
    **_names(_chinese, "zh, lang-zh"),
    **_names(
        _citation,
        "cite book, cite journal, cite web, cite news, cite encyclopedia, cite magazine, cite av media, "
        "cite thesis, cite conference, cite press release, cite video, citation, vcite book, cite paper",
    ),
    **_names(_marriage, "marriage"),
    **_names(_height, "height"),
    **_names(_su, "su"),
    **_names(_music, "music"),
    **_names(_nuclide, "simplenuclide, simplenuclide2, nuclide, nuclide2"),
    **_names(_bar_table, "bartable"),
    **_names(_columns, "columns"),
    **_names(_labeled("Vol."), "vol."),
    **_names(_labeled("ISBN"), "isbn"),
    **_names(_around("US$"), "us$, usd"),
    **_names(_around("£"), "gbp, £"),
    **_names(_around("€"), "eur, euro, €"),
    **_names(_around("A$"), "aud, a$"),
    **_names(_around("C$"), "cad, c$"),
    **_names(_around("NZ$"), "nzd, nz$"),
    **_names(_around("HK$"), "hkd, hk$"),
    **_names(_around("₹"), "inr, indian rupee"),
    **_names(_rupees, "inrconvert"),
    **_names(_around("¥"), "jpy, ¥, cny, rmb, cn¥"),
    **_names(_around("₩"), "krw, ₩"),
    **_names(_around("₽"), "rub, ₽"),
    **_names(_around("CHF "), "chf"),
    **_names(_constant(" – "), "snd, snds, spnd, sndash, spaced ndash, ndashb, spaced en dash"),
    **_names(_constant("–"), "ndash, en dash, nd, endash"),
    **_names(_constant(" — "), "mdashb"),
    **_names(_constant("—"), "mdash, em dash, emdash"),
    **_names(_constant(" "), "nbsp, spaces, space, thinsp, thin space, hair space, hsp, sp, pad"),
    **_names(_constant(" · "), "·, dot, middot, •, bull, bullet, sep, interpunct"),
    **_names(_constant("'"), "', apostrophe"),
    **_names(_constant("'s"), "'s"),
    **_names(_constant('"'), '"'),
    **_names(_constant("|"), "!, pipe"),
    **_names(_constant("="), "=, equals"),
    **_names(_constant("†"), "dagger, †"),
    **_names(_constant("‡"), "double dagger, double-dagger"),
    **_names(_constant("−"), "minus"),
    **_names(_constant("×"), "times"),
    **_names(_constant("±"), "pm, plusminus"),
    **_names(_constant("π"), "pi"),
    **_names(_constant("½"), "half"),
    **_names(_constant("ʻ"), "okina"),
    **_names(_constant("ʼ"), "hamza"),
    **_names(_constant("⇌"), "eqm"),
    **_names(_constant("★"), "star"),
    **_names(_constant("✓"), "tick, ya, aye"),
    "' \"": _constant("'\""),
    "'\"": _constant("'\""),
    "\"'": _constant("\"'"),
    **_names(_or_else("Yes"), "yes, yes2"),
    **_names(_or_else("No"), "no, no2"),
    **_names(_or_else("N/A"), "n/a, na"),
    **_names(_or_else("TBA"), "tba"),
    **_names(_constant(BREAK), "br, break, crlf"),
    **_names(_constant("\n\n"), "clear, paragraph break, pb, clear left, clear right, -, col-break"),
}
