"""Sections that are an entry of an API reference or of a glossary, and what in them says what the entry is."""

from __future__ import annotations

import re

from wikigr.index.candidate import Section
from wikigr.segmentation import ends_as_prose
from wikigr.text import words

# "Import a module.", and not "New in version 3.4." or a line of code that ends in "...)".
_MIN_WORDS = 3
_BOILERPLATE = re.compile(
    r"(?:new|changed|added|deprecated|removed) (?:in|since)\b|(?:availability|return value)\b|part of the\b|see also\b",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(r"\.\.\.[)\]\s]*$")


def is_entry(section: Section) -> bool:
    """Tell whether ``section`` begins as an entry does: with a name or a signature, then what it is."""
    signature, gap, _ = section.content.partition("\n\n")
    if not gap or section.heading not in signature:
        return False
    if ends_as_prose(signature) and not _ELLIPSIS.search(signature):
        return False
    # After the name come arguments, a type or a value; in another section the sentence or the list goes on.
    named = rf"(?<!\w){re.escape(section.heading)}(?!\w)\s*(?:[(\[<:=,→]|$)(?!.*(?::$| \| ))"
    return re.search(named, signature, re.MULTILINE) is not None


def subject(section: Section) -> str:
    """Return what the sentences of ``section`` are about: the entry, or the article."""
    return section.heading if is_entry(section) else section.title


def explains(sentence: str) -> bool:
    """Tell whether ``sentence`` says what an entry is, and not since when or how it is written."""
    plain = _BOILERPLATE.match(sentence) is None and _ELLIPSIS.search(sentence) is None
    return plain and len(words(sentence)) >= _MIN_WORDS
