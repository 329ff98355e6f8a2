"""What the first sentences of an encyclopedic article say without saying it: that they define, that one was born."""

from __future__ import annotations

import re

from wikigr.index.lexical import stems
from wikigr.question.terms import name_stems
from wikigr.text import words

_PARENTHESES = re.compile(r"\([^()]*\)")
# "In Greek mythology, Achilles …", "The term hawk …"
_OPENING = re.compile(r"\W*(?:In [^,.]{1,60}, *)?(?:(?:the|an?|term|word|sir|dame|saint|st\.?)\b\W*)*", re.IGNORECASE)
# "is a", "are the", "refers to", and not "was caught", "were named", "is called", "is left".
_DEFINING = re.compile(
    r"\b(?:(?:refers? to|denotes?|means|comprises?|consists? of|describes?)\b|"
    r"(?:is|are|was|were) (?!\w+ed\b|(?:also|not|born|built|called|caught|found|given|held|known|left|made|named|said|"
    r"seen|shown|taken|used|written|often|usually|sometimes|in|on|at|to|by|from)\b))"
)
# Words before the verb of a definition, apart from those in parentheses: a name, its variants, an adverb.
_MAX_WORDS_BEFORE = 14

# "(September 23, 1930 – June 10, 2004)", "(born 1960)", "(384–322 BC)": a year; after a dash, the end.
_YEAR = re.compile(r"(?<!\d)(?:\d{3,4}|\d{1,2} ?(?:BCE?|AD|CE))(?!\d)")
_DATES = re.compile(rf"\(([^()]{{0,120}}{_YEAR.pattern}[^()]{{0,120}})\)")
_DASH = re.compile(r"\s+-\s+|\s*[–—]\s*|(?<=\d{3})-(?=\d{3})")
# Any other word before the year says of what else it is one: "reigned", "active", "president".
_OF_BIRTH = frozenset(
    """b born c ca circa about around on in baptised baptized bapt o s n st nd rd th
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
# Stems, written out: making them would load the analyser.
BORN = frozenset({"born", "birth", "birthday", "birthplac"})
DIED = frozenset({"die", "death", "dead"})


def is_definition(sentence: str, title: str) -> bool:
    """Tell whether ``sentence`` says what ``title`` is: it begins with the name, and soon after it "is a"."""
    named = name_stems(title)
    plain = _PARENTHESES.sub(" ", sentence)
    verb = _DEFINING.search(plain)
    if verb is None or not named:
        return False
    before = words(_OPENING.sub("", plain[: verb.start()], count=1))
    if not before or len(before) > _MAX_WORDS_BEFORE:
        return False
    return bool(named & set(stems(before[0]))) and named <= set(stems(" ".join(before)))


def life_stems(sentence: str, title: str) -> frozenset[str]:
    """Return the stems of "born", and of "died", where dates in parentheses after the name of ``title`` say so."""
    dates = _DATES.search(sentence)
    if dates is None or not name_stems(title) <= set(stems(sentence[: dates.start()])):
        return frozenset()
    begin, *end = _DASH.split(dates[1].rpartition(";")[2], maxsplit=1)
    year = _YEAR.search(begin)
    told = words(begin[: year.start()]) if year else []
    if any(word.isalpha() and word not in _OF_BIRTH for word in told):
        return frozenset()
    return BORN | DIED if any(c.isdigit() for part in end for c in part) else BORN
