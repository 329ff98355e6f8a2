"""What a question measures things by: "the heaviest", "is A cheaper than B", "how many in total". English only."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
_COUNTS = re.compile(r"\W*(?:how many|(?:what is |what's )?the number of|number of|count)\b", re.IGNORECASE)
_SUMS = frozenset("total totals sum altogether overall combined".split())
# Nouns, verbs and signs that say that a number is of a dimension.
_SAID_OF: dict[Dimension, frozenset[str]] = {
    "length": frozenset("length height width depth thickness distance cm mm km m ft inch inches".split()),
    "mass": frozenset("weight weighs mass kg g t lb oz tonnes tons".split()),
    "money": frozenset("price prices cost costs fee fees rent value eur euro usd gbp chf € $ £".split()),
}


@dataclass(frozen=True, slots=True)
class Grade:
    """The degree of an adjective: what it measures, and whether the ``highest`` or the lowest is meant."""

    dimension: Dimension
    highest: bool


def _grades() -> dict[str, Grade]:
    found = {}
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
            graded = _GRADES.get(after)
            if graded is None:
                return _GRADES[_IRREGULAR[word]]
            return graded if _GRADES[_IRREGULAR[word]].highest else Grade(graded.dimension, not graded.highest)
        if word.endswith(ending) or word in _IRREGULAR.keys() - _DEGREES:
            for base in _bases(word, ending):
                if base in _GRADES:
                    return _GRADES[base]
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
    if not _SUMS.isdisjoint(words(question)):
        return "sum"
    return "count" if _COUNTS.match(question) else None


def is_of(dimension: Dimension, text: str) -> bool:
    """Return whether the name or the unit in ``text`` says that a number is of ``dimension``."""
    return not _SAID_OF.get(dimension, frozenset()).isdisjoint(re.findall(r"[^\W\d_]+|[€$£]", text.lower()))
