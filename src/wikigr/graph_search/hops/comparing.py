"""Answer a comparison: read the date or the number of both things, and choose."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from wikigr.graph_search.hops.one_hop import contains
from wikigr.index.candidate import Section
from wikigr.index.lexical import stems
from wikigr.question.comparison import Comparison
from wikigr.question.grammar import MONTHS
from wikigr.retrieval.chain import Chain, Hop
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_YEAR = re.compile(r"(?<![\d.,])(\d{3,4})(?:s\b|(?![\d.,]*\d))\s*(B\.?C(?:\.|E?\b))?")
_DAY_MONTH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+)?({_MONTH})\b\.?(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?", re.I
)
_NUMBER = re.compile(
    r"(?<![\w.])(\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s*(thousand|million|billion|trillion)\b)?"
)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
# What is described by "the year in which …" is a value; other things have names.
_VALUE_NOUNS = frozenset("amount century date day decade month number time year".split())
# "one" is rarely a number.
_WORDS = (
    "zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_WORD = re.compile(rf"\b(?:{'|'.join(word for word in _WORDS if word.isalpha())})\b", re.I)


def date_in(text: str) -> tuple[int, int, int] | None:
    """Return year, month and day of the first date in ``text``, 0 for what is not said; years B.C. are negative."""
    year = _YEAR.search(text)
    if year is None:
        return None
    value = -int(year[1]) if year[2] else int(year[1])
    near = _DAY_MONTH.search(text)
    if near is None:
        return value, 0, 0
    month = next(n for n, name in enumerate(MONTHS, start=1) if name.startswith(near[2][:3].capitalize()))
    return value, month, int(near[1] or near[3] or 0)


def number_in(text: str) -> float | None:
    """Return the first number in ``text``, with thousands separators or up to twenty in words."""
    digits, word = _NUMBER.search(text), _WORD.search(text)
    if digits is not None and (word is None or digits.start() < word.start()):
        return float(re.sub(r"[, ]", "", digits[1])) * _SCALES.get(digits[2] or "", 1.0)
    return float(_WORDS.index(word[0].lower())) if word is not None else None


def may_describe(question: str, name: str) -> bool:
    """Return whether ``question`` may be about something of this ``name``: no person or thing is called "1925"."""
    is_name = any(character.isalpha() for character in _DAY_MONTH.sub("", name))
    return is_name or not _VALUE_NOUNS.isdisjoint(words(question))


_Value = float | tuple[int, int, int]


def choose(comparison: Comparison, ask: Callable[[str], Sequence[Hop]]) -> Chain | None:
    """Return the chain that ends with the sentence about the thing that the question asks for.

    ``None`` unless the pack gives a value for both things, in sections that name them, and one value is greater.
    """
    found = [_measure(comparison, name, ask) for name in (comparison.first, comparison.second)]
    valued = [item for item in found if item is not None]
    if len(valued) < 2:
        return None
    (one, _), (two, _) = valued
    is_known = one != two
    if isinstance(one, tuple) and isinstance(two, tuple):
        # 1885 is neither before nor after October 1885.
        is_known = next((0 not in pair for pair in zip(one, two, strict=True) if pair[0] != pair[1]), False)
    if not is_known:
        return None
    # The chosen one comes last: it answers the question.
    (_, other), (_, chosen) = sorted(valued, key=lambda item: item[0], reverse=comparison.lowest)
    # The characters of its name in its sentence, if they are there.
    bare = chosen.name.removeprefix("the ").removeprefix("The ")
    place = chosen.section.content.find(bare, chosen.start, chosen.end)
    named = replace(chosen.span, start=place, end=place + len(bare)) if place >= 0 else None
    return Chain((other, chosen), is_comparison=True, named=named)


def _measure(comparison: Comparison, name: str, ask: Callable[[str], Sequence[Hop]]) -> tuple[_Value, Hop] | None:
    value_in: Callable[[str], _Value | None] = date_in if comparison.measure == "date" else number_in
    for hop in ask(comparison.ask_about(name)):
        value = value_in(hop.answer)
        if value is not None and _names(hop.section, name):
            return value, replace(hop, name=name)
    return None


def _names(section: Section, name: str) -> bool:
    """Return whether ``section`` contains the whole ``name``: the last word alone may be of another person's name."""
    named = _name_stems(name)
    return any(contains(_name_stems(text), named) for text in (section.title, section.content))


def _name_stems(text: str) -> list[str]:
    return stems(" ".join(word for word in words(text) if word not in FUNCTION_WORDS))
