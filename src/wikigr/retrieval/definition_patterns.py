"""Patterns that recognize definitions in article leads, and entries of references and glossaries."""

from __future__ import annotations

import re

from wikigr.index.candidate import Section
from wikigr.index.lexical import stems
from wikigr.languages import ENGLISH, Language
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


def is_definition(sentence: str, title: str, language: Language = ENGLISH) -> bool:
    """Return whether ``sentence`` defines ``title``: it begins with the name, soon followed by "is a" or the like."""
    named = name_stems(title, language)
    plain = _PARENTHESES.sub(" ", sentence)
    verb = _DEFINING.search(plain)
    if verb is None or not named:
        return False
    before = words(_OPENING.sub("", plain[: verb.start()], count=1))
    # Words before the verb of a definition, parentheses aside: a name, its variants, an adverb.
    if not before or len(before) > 14:
        return False
    return bool(named & set(stems(before[0], language))) and named <= set(stems(" ".join(before), language))


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
    # "Import a module." explains; "New in version 3.4." and a line of code that ends in "...)" do not.
    return not is_boilerplate and len(words(sentence)) >= 3
