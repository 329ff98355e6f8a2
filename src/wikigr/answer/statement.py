"""What a sentence states, as far as a paraphrase must keep it: names, numbers, dates, limits, negation, other words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass

from wikigr.index.lexical import stems
from wikigr.languages import Language
from wikigr.question.dates import Date, dates_in
from wikigr.question.grammar import AUXILIARIES, NEGATIONS, NUMBERS, RESTRICTIVE
from wikigr.stop_words import QUESTION_WORDS, STOP_WORDS
from wikigr.text import of_families_in

# A number, a word or an identifier ("P200X", "C++", "max_tokens"); a hyphen or a dash separates two of them.
_TOKEN = re.compile(r"(?:(?<!\w)[-−](?=\d))?\w(?:[\w'’.,:+#@]*[\w+#])?")
_NUMBER = re.compile(r"[-−]?\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_THOUSANDS_SPACE = re.compile(r"(?<=\d)[\u00a0\u202f](?=\d{3}(?!\d))")
_UNIT = re.compile(r"\s?([^\W\d_]{1,3}[²³]?(?![\w.])|[%°€$£¥])")
_CURRENCY = re.compile(r"([$€£¥])\s?$")
_LIMIT = re.compile(
    r"\b(before|after|until|till|since|over|above|under|below|(?:more|less|fewer|greater) than|at least|at most|up to)"
    r"\s+(?:(?:the|about|year)\s+)*[$€£¥]?$",
    re.IGNORECASE,
)
_SAME_LIMIT = {
    "till": "until", "above": "over", "more than": "over", "greater than": "over",
    "below": "under", "less than": "under", "fewer than": "under",
}  # fmt: skip
# "one" is rarely a number.
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(NUMBERS) if number > 1}
_NEGATED = re.compile(r"n['’]t$")
# What denies, or takes something out.
_DENYING = NEGATIONS | frozenset(
    "cannot except excluding former formerly nobody nothing nowhere unless without".split()
)
# Words that change what a sentence says of the things that it names.
_LIMITING = (RESTRICTIVE - _DENYING - {"why"}) | frozenset(
    "above after all always before below every only over since twice under until".split()
)
# Words that speak of the answer or of the sections, and forms of address: they state nothing.
FRAMING = frozenset(
    """according additionally answer answers based certainly context document documents following here hope however
    helps information mention mentioned mentions note passage passages provided question section sections source
    sources stated states summary sure text therefore thus yes dr mr mrs ms prof professor sir""".split()
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_PRONOUN = re.compile(r"\W*(?:it|its|this|these|they|their|he|his|she|her)\b", re.I)

# A number as it is written, its unit if one follows, and what limits it ("before").
Value = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text states: ``words`` are the stems of the others than names, numbers and function words.

    ``names`` are runs of neighboring ones, ``tokens`` all words in lower case with their stems. ``values`` are the
    numbers outside of ``dates``, and ``dated`` those in them. ``lead`` is the name that it begins with, if it does.
    ``is_short`` says that it is a few words without a pronoun for its subject or a verb that can be told.
    """

    text: str
    tokens: frozenset[str]
    words: frozenset[str]
    names: tuple[tuple[str, ...], ...]
    values: frozenset[Value]
    dates: frozenset[tuple[str, Date]]
    dated: frozenset[Value]
    limits: frozenset[str]
    denies: bool
    lead: str
    is_short: bool

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.names or self.values or self.dates)

    @property
    def begins_with_pronoun(self) -> bool:
        return _PRONOUN.match(self.text) is not None

    @property
    def numbers(self) -> frozenset[str]:
        return frozenset(number for number, _, _ in self.values | self.dated)

    def misses(self, value: Value) -> bool:
        """Return whether no number here is ``value``, under the same limit and with the same unit."""
        number, unit, limit = value
        return not any(
            number == own and limit == own_limit and (unit == own_unit or (not own_unit and unit in self.tokens))
            for own, own_unit, own_limit in self.values | self.dated
        )

    def has_date(self, wanted: tuple[str, Date]) -> bool:
        """Return whether a date here is ``wanted``, as far as that is said."""
        limit, date = wanted
        parts = (date.year, date.month, date.day)
        return any(
            limit == own_limit
            and all(not part or part == own for part, own in zip(parts, (d.year, d.month, d.day), strict=True))
            for own_limit, d in self.dates
        )

    def share_of(self, words: Set[str], more: Set[str] = frozenset()) -> float:
        """Return the share of ``words`` that are among the tokens here or ``more``, or of one family with them."""
        if not words:
            return 1.0
        known = self.tokens | more
        others = words - known
        return (len(words) - len(others) + len(of_families_in(known, others))) / len(words)


def read_statement(text: str, language: Language, known: Set[str] = frozenset()) -> Statement:
    """Return what ``text`` states; ``known`` are words that are not names although they begin the sentence."""
    text = unicodedata.normalize("NFKC", _THOUSANDS_SPACE.sub("", _INVISIBLE.sub("", text)))
    dates = dates_in(text)
    tokens: list[str] = []
    plain: list[str] = []
    names: list[list[str]] = []
    values: set[Value] = set()
    dated: set[Value] = set()
    lead, last_end = "", -1
    ignored = language.stop_words(STOP_WORDS | QUESTION_WORDS) | FRAMING
    for number, match in enumerate(_TOKEN.finditer(text)):
        start, end = match.span()
        word = re.sub(r"['’]s?$", "", match.group())
        lowered = word.lower().replace("’", "'")
        tokens.append(lowered)
        date_start = next((first for _, first, last in dates if first <= start < last), None)
        if date_start is not None:
            if _NUMBER.fullmatch(word):
                dated.add((word, "", _limit_before(text, date_start)))
        elif _NUMBER.fullmatch(word) or lowered in _NUMBER_WORDS:
            values.add(_value_of(text, start, end, _NUMBER_WORDS.get(lowered, word), language))
        elif lowered in ignored or lowered in _LIMITING or lowered in _DENYING or _NEGATED.search(lowered):
            continue
        elif _is_name(word) and (number or not (lowered in known or text.startswith(",", end))):
            if names and not text[last_end:start].strip():
                names[-1].append(lowered)
            else:
                names.append([lowered])
            lead = lead or ("" if number else lowered)
            last_end = end
        else:
            plain.append(lowered)
    lowered_words = frozenset(tokens)
    return Statement(
        text=text,
        tokens=lowered_words | frozenset(stems(text, language)),
        words=frozenset(stems(" ".join(plain), language)) if plain else frozenset(),
        names=tuple(map(tuple, names)),
        values=frozenset(values),
        dates=frozenset((_limit_before(text, start), date) for date, start, _ in dates),
        dated=frozenset(dated),
        limits=lowered_words & _LIMITING if language.is_english else frozenset(),
        denies=(
            any(negation in text for negation in language.negations)
            if language.characters
            else bool(lowered_words & (_DENYING if language.is_english else language.negations))
            or any(map(_NEGATED.search, lowered_words))
        ),
        lead=lead,
        is_short=len(tokens) <= 6 and not (lowered_words & AUXILIARIES or _PRONOUN.match(text)),
    )


def _is_name(word: str) -> bool:
    """Return whether a word is written like a name or an identifier."""
    return word != word.lower() or any(letter.isdigit() or letter in "_@+#" for letter in word) or "." in word


def _value_of(text: str, start: int, end: int, number: str, language: Language) -> Value:
    number = number.replace("−", "-")
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    after, before = _UNIT.match(text, end), _CURRENCY.search(text[max(0, start - 2) : start])
    unit = after[1].casefold() if after is not None else before[1] if before is not None else ""
    return number, "" if unit in language.function_words or unit in _DENYING else unit, _limit_before(text, start)


def _limit_before(text: str, start: int) -> str:
    found = _LIMIT.search(text[max(0, start - 30) : start])
    said = " ".join(found[1].lower().split()) if found is not None else ""
    return _SAME_LIMIT.get(said, said)
