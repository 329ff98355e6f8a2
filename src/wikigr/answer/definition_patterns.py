"""Patterns that recognize definitions and life dates in article leads, and entries of references and glossaries."""

from __future__ import annotations

import re

from wikigr.index.candidate import Section
from wikigr.index.lexical import stems
from wikigr.question.intent import name_stems
from wikigr.segmentation import ends_as_prose
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
# Words before the verb of a definition, parentheses aside: a name, its variants, an adverb.
_MAX_WORDS_BEFORE = 14

# "(September 23, 1930 – June 10, 2004)", "(born 1960)", "(384–322 BC)": a year, and after a dash the year of death.
_YEAR = re.compile(r"(?<!\d)(?:\d{3,4}|\d{1,2} ?(?:BCE?|AD|CE))(?!\d)")
_DATES = re.compile(rf"\(([^()]{{0,120}}{_YEAR.pattern}[^()]{{0,120}})\)")
_DASH = re.compile(r"\s+-\s+|\s*[–—]\s*|(?<=\d{3})-(?=\d{3})")
# Any other word before the year makes it the year of something else: "reigned", "active", "president".
_OF_BIRTH = frozenset(
    """b born c ca circa about around on in baptised baptized bapt o s n st nd rd th
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
# Stems, spelled out: computing them would load the analyzer.
BORN = frozenset({"born", "birth", "birthday", "birthplac"})
DIED = frozenset({"die", "death", "dead"})


def is_definition(sentence: str, title: str) -> bool:
    """Return whether ``sentence`` defines ``title``: it begins with the name, soon followed by "is a" or the like."""
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
    """Return the stems of "born", and of "died", if dates in parentheses follow the name of ``title``."""
    dates = _DATES.search(sentence)
    if dates is None or not name_stems(title) <= set(stems(sentence[: dates.start()])):
        return frozenset()
    begin, *end = _DASH.split(dates[1].rpartition(";")[2], maxsplit=1)
    year = _YEAR.search(begin)
    told = words(begin[: year.start()]) if year else []
    if any(word.isalpha() and word not in _OF_BIRTH for word in told):
        return frozenset()
    return BORN | DIED if any(c.isdigit() for part in end for c in part) else BORN


# "Import a module." explains; "New in version 3.4." and a line of code that ends in "...)" do not.
_MIN_EXPLANATION_WORDS = 3
_BOILERPLATE = re.compile(
    r"(?:new|changed|added|deprecated|removed) (?:in|since)\b|(?:availability|return value)\b|part of the\b|see also\b",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(r"\.\.\.[)\]\s]*$")


def is_entry(section: Section) -> bool:
    """Return whether ``section`` is an entry: it begins with its name or signature on a line, then explains it."""
    signature, gap, _ = section.content.partition("\n\n")
    if not gap or section.heading not in signature:
        return False
    if ends_as_prose(signature) and not _ELLIPSIS.search(signature):
        return False
    # Arguments, a type or a value follow the name of an entry; in other sections the sentence or the list goes on.
    named = rf"(?<!\w){re.escape(section.heading)}(?!\w)\s*(?:[(\[<:=,→]|$)(?!.*(?::$| \| ))"
    return re.search(named, signature, re.MULTILINE) is not None


def subject(section: Section) -> str:
    """Return what the sentences of ``section`` are about: the entry, or the article."""
    return section.heading if is_entry(section) else section.title


def explains(sentence: str) -> bool:
    """Return whether ``sentence`` explains what an entry is, rather than when it was added or how it is written."""
    is_boilerplate = _BOILERPLATE.match(sentence) is not None or _ELLIPSIS.search(sentence) is not None
    return not is_boilerplate and len(words(sentence)) >= _MIN_EXPLANATION_WORDS
