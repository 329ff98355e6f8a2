"""What a question measures things by: "the heaviest", "is A cheaper than B", "how many in total". English only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from wikigr.text import words

# What an adjective measures; "amount" is any number.
Dimension = Literal["amount", "length", "mass", "money", "time"]
Operation = Literal["count", "sum", "extreme"]

# Adjectives by what they measure, of which the first ones say that it is high and those after the bar that it is low.
_ADJECTIVES: dict[Dimension, str] = {
    "amount": "many much big large great high | few little small low",
    "length": "long tall wide deep thick far | short narrow thin near",
    "mass": "heavy | light",
    "money": "expensive costly dear | cheap",
    "time": "new late young recent | old early",
}
_IRREGULAR = {
    "more": "much",
    "most": "much",
    "less": "little",
    "least": "little",
    "farther": "far",
    "farthest": "far",
    "further": "far",
    "elder": "old",
    "eldest": "old",
    "sooner": "early",
}
_DEGREES = frozenset("more most less least".split())
_COUNTS = re.compile(
    r"\W*(?:how many(?! of\b(?! (?:the|our|these|those)\b))|"
    r"(?:what is |what's )?the number of|number of|count)\b",
    re.IGNORECASE,
)
_SUMS = frozenset("total totals sum altogether overall combined".split())
# Nouns, verbs and signs that say that a number is of a dimension.
_SAID_OF: dict[Dimension, frozenset[str]] = {
    "length": frozenset(
        "length height width depth thickness distance duration cm mm km m ft inch inches min minutes hours days".split()
    ),
    "mass": frozenset("weight weighs mass kg g t lb oz tonnes tons".split()),
    "money": frozenset("price prices cost costs fee fees rent value eur euro usd gbp chf € $ £".split()),
}


@dataclass(frozen=True, slots=True)
class Grade:
    """A degree of an adjective: what it measures, whether the ``highest`` or lowest is meant, and its ``words``."""

    dimension: Dimension
    highest: bool
    words: str = ""


def _grades() -> dict[str, Grade]:
    found: dict[str, Grade] = {}
    for dimension, adjectives in _ADJECTIVES.items():
        high, low = adjectives.split("|")
        found |= {adjective: Grade(dimension, True) for adjective in high.split()}
        found |= {adjective: Grade(dimension, False) for adjective in low.split()}
    return found


_GRADES = _grades()


def superlative(question: str) -> Grade | None:
    """Return what ``question`` asks for the most or the least of, or ``None``."""
    return _graded(question, "est", frozenset(("most", "least")))


def comparative(question: str) -> Grade | None:
    """Return by what ``question`` compares, with a comparative or, of two things, a superlative, or ``None``."""
    return _graded(question, "er", frozenset(("more", "less"))) or superlative(question)


def _graded(question: str, ending: str, degrees: frozenset[str]) -> Grade | None:
    text = ["", *words(question), ""]
    for (before, word), (_, after) in zip(pairwise(text), pairwise(text[1:]), strict=False):
        if word in degrees and before != "at":
            more, graded = _GRADES[_IRREGULAR[word]], _GRADES.get(after)
            if graded is None:
                return replace(more, words=word)
            return Grade(graded.dimension, graded.highest == more.highest, f"{word} {after}")
        if word.endswith(ending) or word in _IRREGULAR.keys() - _DEGREES:
            found = next((_GRADES[base] for base in _bases(word, ending) if base in _GRADES), None)
            if found is not None:
                return replace(found, words=word)
    return None


def _bases(word: str, ending: str) -> list[str]:
    """Return the adjectives of which ``word`` may be a degree: "bigger", "later", "heavier"."""
    if word in _IRREGULAR:
        return [_IRREGULAR[word]]
    stem = word.removesuffix(ending)
    return [stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y"]


def operation(question: str) -> Operation | None:
    """Return what is to be done with the rows that ``question`` describes, or ``None`` if one of them answers."""
    if superlative(question) is not None:
        return "extreme"
    if names_sum(question):
        return "sum"
    return "count" if _COUNTS.match(question) else None


def names_sum(text: str) -> bool:
    """Return whether ``text`` has a word for a sum: a question asks for one, and a row so called is one."""
    return not _SUMS.isdisjoint(words(text))


def is_of(dimension: Dimension, text: str) -> bool:
    """Return whether the name or the unit in ``text`` says that a number is of ``dimension``."""
    return not _SAID_OF.get(dimension, frozenset()).isdisjoint(re.findall(r"[^\W\d_]+|[€$£]", text.lower()))


@dataclass(frozen=True, slots=True)
class _Form:
    """What an attribute has: ``asked_by`` matches the questions for it, and ``value`` what every value has."""

    asked_by: re.Pattern[str]
    value: re.Pattern[str]


def _form(asked_by: str, value: str) -> _Form:
    return _Form(re.compile(rf"\b(?:{asked_by})\b", re.IGNORECASE), re.compile(value, re.IGNORECASE))


# Attributes whose values have a form of their own.
_FORMS: dict[str, _Form] = {
    "mass": _form(
        r"how heavy|how much (?:do|does|did) .{1,60} weigh|the weight of",
        r"\d\s?(?:kg|g|mg|t|tons?|tonnes?|lbs?|oz|pounds|grams?|kilos?)\b|weigh|kg|mass|_g\b",
    ),
    "money": _form(
        r"how much (?:do|does|did) .{1,60} (?:cost|earn)|^what (?:do|does|did) .{1,60} cost|"
        r"(?:the |^)(?:price|cost|salary|rent|wage) of|['’]s (?:price|salary|rent|wage)",
        r"[€$£¥]|\b(?:eur|euros?|usd|dollars?|gbp|pounds|chf|cents?|free|budget|price|costs?|fees?|rent|wages?|salary|rate|pay)\b|"
        r"\d[.,]\d\d\b|\beur|_eur|_usd",
    ),
    "area": _form(r"square (?:met(?:er|re)s|feet|kilomet(?:er|re)s)", r"m²|m2|sq|square|area|\bha\b|hectare|acre"),
    "phone": _form(r"(?:tele)?phone number|mobile number|telephone|number to call", r"\d(?:[\s/().-]?\d){3}"),
    "email": _form(r"e-?mail address|e-?mail of", r"@"),
    "age": _form(
        r"how old",
        r"\b(?:1[5-9]|20)\d\d\b|\b(?:only|aged|was|is|at) \d{1,3}\b|\d{1,2}[./]\d{1,2}[./]|"
        r"\b(?:year|month|week|day|age|old|born|since|birth)",
    ),
    "birthday": _form(
        r"birthday|when (?:was|is) .{1,60} born",
        r"(?<!\d)\d{1,2}[./-]\d{1,2}(?!\d)|\d{1,2}(?:st|nd|rd|th)? (?:of )?[a-z]{3}|[a-z]{3,9}\.? \d{1,2}\b|"
        r"\b(?:1[5-9]|20)\d\d\b|born|birth",
    ),
}


_SUMS_OF_MONEY = re.compile(
    r"\b(?:budgets?|costs|earnings|expenses|fees|income|prices|profits?|rates|revenues?|salaries|sales|turnover|wages)\b",
    re.IGNORECASE,
)


def asked_attribute(question: str) -> str:
    """Return the attribute that ``question`` asks for if its values have a form of their own, or nothing."""
    return next((name for name, form in _FORMS.items() if form.asked_by.search(question)), "")


def states(attribute: str, text: str) -> bool:
    """Return whether ``text`` may state a value of ``attribute``: a number with its unit, a number under its name."""
    return not attribute or _FORMS[attribute].value.search(text) is not None


def are_sums(attribute: str, heading: str) -> bool:
    """Return whether money is asked for, and the ``heading`` of a table says that its numbers are sums of it."""
    return attribute == "money" and _SUMS_OF_MONEY.search(heading) is not None
