"""Understand a question that compares two things by a date or a number: "Who was born first, A or B?". English only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from wikigr.question.decomposition import Decomposition
from wikigr.question.grammar import AUXILIARIES, COPULAS, MAX_CHARS, PREPOSITIONS, is_negation, one_of
from wikigr.question.measure import comparative
from wikigr.text import words

Measure = Literal["date", "number"]

_CAPITAL = "A-ZÀ-Þ0-9"
# A name: capitalized words, with words in lower case between them. It may follow an article. Only one way to divide a
# text into these words must match, or else the time grows exponentially.
_NAME = (
    rf"(?:[Tt]he\s+)?[{_CAPITAL}][\w.'’–-]*"
    rf"(?:\s+(?:(?![{_CAPITAL}])[\w.'’–-]+\s+){{0,2}}[{_CAPITAL}][\w.'’–()-]*)*"
)
# "Paris, France" is one alternative; "B, and where …" is none.
_SECOND = r"(?P<second>[^?,]+(?:,\s*[A-ZÀ-Þ][^?,]*)?)"
_ALTERNATIVES = (
    # "…, A or B?"
    re.compile(rf"^(?P<clause>.+?),\s*(?P<first>[^,?]+?),?\s+or\s+{_SECOND}\s*\?*$"),
    # "…: A or B?"
    re.compile(rf"^(?P<clause>(?:[^:]+\s)?[a-z]+):\s*(?P<first>[^,?]+?),?\s+or\s+{_SECOND}\s*\?*$"),
    # "… A or B?"
    re.compile(rf"^(?P<clause>(?:.+?\s)?[a-z][\w-]*)\s+(?P<first>{_NAME})\s+or\s+(?P<second>{_NAME})\s*\?*$"),
    # "Can A or B …?"
    re.compile(
        rf"^(?i:{one_of(AUXILIARIES)})\s+(?P<first>{_NAME})\s+or\s+(?P<second>{_NAME})\s+(?P<clause>[^?]+?)\s*\?*$"
    ),
    # "Which of A and B …?"
    re.compile(
        rf"^(?:Which|Who|which|who) of\s+(?P<first>{_NAME})\s+and\s+(?P<second>{_NAME})\s+(?P<clause>.+?)\s*\?*$"
    ),
)
# "the older of A and B"
_CHOICE = re.compile(
    rf"^(?P<before>.+?)\bthe\s+(?P<by>\w+)\s+of\s+(?P<first>{_NAME})\s+and\s+(?P<second>{_NAME})(?P<after>.*)$"
)
_FURTHER_ALTERNATIVE = " or "
_EARLIER = "earlier|earliest|first|before|older|oldest|sooner"
_LATER = "later|latest|last|younger|youngest|newer|newest|more recently|most recently"
_BY_DATE = re.compile(rf"\b(?:(?:at|on) an?\s+|the\s+)?(?:(?P<low>{_EARLIER})|(?P<high>{_LATER}))(?:\s+date)?\b", re.I)
_BY_COUNT = re.compile(
    r"\b(?:the\s+)?(?:(?P<high>more|most)|(?P<low>fewer|fewest|less|least))\s+(?P<counted>[\w -]+)", re.I
)
_ADJECTIVES = {
    "deep": "deeper deepest",
    "fast": "faster fastest",
    "heavy": "heavier heaviest",
    "high": "higher highest",
    "large": "larger largest bigger biggest",
    "long": "longer longest",
    "tall": "taller tallest",
    "wide": "wider widest",
}
_OPPOSITES = {
    "fast": "slower slowest",
    "heavy": "lighter lightest",
    "high": "lower lowest",
    "large": "smaller smallest",
    "long": "shorter shortest",
}
_AUXILIARY = re.compile(rf"\b(?:{one_of(AUXILIARIES)})\b", re.I)
_COPULA = re.compile(rf"\b(?:{one_of(COPULAS)}|be|stands?)\b")
# "Who was older when he died" asks for more than one date of each.
_SEVERAL_DATES = re.compile(r"\b(?:when|than|age)\b", re.I)
_AGE = re.compile(r"\b(?:older|oldest|younger|youngest)\b", re.I)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A choice between ``first`` and ``second`` by a ``measure``, of which the ``lowest`` or the highest is asked for.

    ``pattern`` is the question about one of them, with ``{}`` for its name.
    """

    first: str
    second: str
    pattern: str
    measure: Measure
    lowest: bool

    def ask_about(self, name: str) -> str:
        """Return the question for the date or the number of ``name``."""
        return self.pattern.replace("{}", name)


# "difference between A and B", "A vs B", "compare A with B", "is A cheaper than B"
_SIDES = (
    re.compile(r"\bdiffer(?:ences?|s)?\s+(?:[\w ]{1,60}?\s)?between\s+(?P<first>.+?)\s+and\s+(?P<second>[^?]+)", re.I),
    re.compile(r"\bhow\s+(?:do|does|is|are)\s+(?P<first>.+?)\s+(?:differ(?:ent)?\s+from)\s+(?P<second>[^?]+)", re.I),
    re.compile(r"^\W*compare\s+(?P<first>.+?)\s+(?:and|with|to)\s+(?P<second>[^?:,]+)", re.I),
    re.compile(r"^\W*(?P<first>[^?]+?)\s+(?:vs\.?|versus)\s+(?P<second>[^?]+)", re.I),
    re.compile(
        rf"^\W*(?:{one_of(COPULAS)})\s+(?P<first>.+?)\s+(?:\w+er|(?:more|less)\s+\w+)\s+than\s+(?P<second>[^?]+)", re.I
    ),
)


def compared_sides(question: str) -> tuple[str, str] | None:
    """Return the two things that ``question`` compares, by whatever it compares them, or ``None``."""
    if len(question) > MAX_CHARS:
        return None
    text = " ".join(question.split())
    comparison = compare(text)
    if comparison is not None:
        return comparison.first, _completed(comparison.second, comparison.first)
    found = next((match for pattern in _SIDES if (match := pattern.search(text))), None)
    if found is None:
        # Whatever they are compared by: "Which is cheaper, A or B?"
        choices = (match for pattern in _ALTERNATIVES if (match := pattern.match(text)))
        found = next((match for match in choices if comparative(match["clause"]) is not None), None)
    if found is None:
        return None
    first = found["first"].strip()
    return first, _completed(found["second"].strip(" ?."), first)


def _completed(second: str, first: str) -> str:
    """Return ``second`` with what it leaves out of ``first``: "the cleaning of a cat or of a dog"."""
    link = second.partition(" ")[0].lower()
    before, found, _ = first.rpartition(f" {link} ")
    return f"{before} {second}" if found and link in PREPOSITIONS else second


def compare(question: str) -> Comparison | None:
    """Return what ``question`` compares, or ``None`` if it does not compare two named things by a date or a number."""
    if len(question) > MAX_CHARS:
        return None
    text = " ".join(question.split())
    found = next((match for pattern in _ALTERNATIVES if (match := pattern.match(text))), None)
    if found is None or _FURTHER_ALTERNATIVE in found["second"]:
        return None
    clause = found["clause"]
    # "Who was not born first" asks for the other one, or for one of many.
    if any(map(is_negation, words(clause))):
        return None
    # In "Who was born first, A, B or C?", the last part of the clause is another alternative.
    last_part = clause.rpartition(",")[2]
    understood = _understood(clause)
    if understood is None or _understood(last_part) is None:
        return None
    pattern, measure, lowest = understood
    return Comparison(found["first"].strip(), found["second"].strip(), pattern, measure, lowest)


def decompose_choice(question: str) -> Decomposition | None:
    """Return a question about "the older of A and B" as the comparison and the rest, or ``None`` if it is none."""
    found = _CHOICE.match(question) if len(question) <= MAX_CHARS else None
    if found is None:
        return None
    description = f"Which is {found['by']}, {found['first']} or {found['second']}?"
    if compare(description) is None:
        return None
    return Decomposition(description, found["before"].strip(), found["after"].strip(" ?"))


def _understood(clause: str) -> tuple[str, Measure, bool] | None:
    """Return the question about one thing, what is compared, and whether the lowest value is asked for."""
    return _by_size(clause) or _by_count(clause) or _by_date(clause)


def _by_date(clause: str) -> tuple[str, Measure, bool] | None:
    by = _BY_DATE.search(clause)
    if by is None or _SEVERAL_DATES.search(clause):
        return None
    said = " ".join(f"{clause[: by.start()]} {clause[by.end() :]}".split())
    auxiliary = _AUXILIARY.search(said)
    predicate = said[auxiliary.end() :].strip() if auxiliary is not None else ""
    if auxiliary is None:
        # "Which person went into space first", "Who joined first"
        words = said.split()
        verb = 2 if len(words) > 2 and words[0].lower() != "who" else 1
        pattern = f"When did {{}} {' '.join(words[verb:])}?"
    elif predicate:
        pattern = f"When {auxiliary[0].lower()} {{}} {predicate}?"
    else:
        pattern = "When was {} born?" if _AGE.search(by[0]) else "When was {} made?"
    return pattern, "date", by["low"] is not None


def _by_count(clause: str) -> tuple[str, Measure, bool] | None:
    by = _BY_COUNT.search(clause)
    if by is None or re.match(r"recent", by["counted"], re.I):
        return None
    return f"How many {by['counted'].strip()} does {{}} have?", "number", by["low"] is not None


def _by_size(clause: str) -> tuple[str, Measure, bool] | None:
    # "Who lived longer" asks for no length.
    after = _COPULA.split(clause.lower())[1:]
    said = after[-1].split() if after else []
    for lowest, table in ((False, _ADJECTIVES), (True, _OPPOSITES)):
        for adjective, forms in table.items():
            if any(form in said for form in forms.split()):
                return f"How {adjective} is {{}}?", "number", lowest
    return None
