"""What the first sentences of an encyclopedic article say without saying it: that they define, that one was born."""

from __future__ import annotations

import re

from wikigr.names import FUNCTION_WORDS, bare_name
from wikigr.retrieval.lexical import stems
from wikigr.text import words

_PARENTHESES = re.compile(r"\([^()]*\)")
_COPULA = re.compile(r"\b(?:is|are|was|were)\b(?! (?:called|known|also)\b)")
# Words before the verb of a definition, apart from those in parentheses: a name, its variants, an adverb.
_MOST_WORDS_BEFORE = 14

# "(September 23, 1930 – June 10, 2004)", "(born 1960)", "(384–322 BC)": a year; after a dash, the end.
_DATES = re.compile(r"\(([^()]{0,120}(?<!\d)(?:\d{3,4}|\d{1,2} ?(?:BCE?|AD|CE))(?!\d)[^()]{0,120})\)")
_DASH = re.compile(r"\s+-\s+|\s*[–—]\s*|(?<=\d{3})-(?=\d{3})")
# Stems, written out: making them would load the analyser.
BORN = frozenset({"born", "birth", "birthday", "birthplac"})
DIED = frozenset({"die", "death", "dead"})


def name_stems(title: str) -> frozenset[str]:
    """Return the stems of the name in ``title``, without its qualifier and function words."""
    return frozenset(stems(" ".join(w for w in words(bare_name(title)) if w not in FUNCTION_WORDS)))


def is_definition(sentence: str, title: str) -> bool:
    """Tell whether ``sentence`` says what ``title`` is: the name comes first, and soon after it "is" or "was"."""
    plain = _PARENTHESES.sub(" ", sentence)
    verb = _COPULA.search(plain)
    if verb is None:
        return False
    before = words(plain[: verb.start()])
    return len(before) <= _MOST_WORDS_BEFORE and name_stems(title) <= set(stems(" ".join(before)))


def life_stems(sentence: str, title: str) -> frozenset[str]:
    """Return the stems of "born", and of "died", where dates in parentheses after the name of ``title`` say so."""
    dates = _DATES.search(sentence)
    if dates is None or not name_stems(title) <= set(stems(sentence[: dates.start()])):
        return frozenset()
    end = _DASH.split(dates[1], maxsplit=1)[1:]
    return BORN | DIED if any(c.isdigit() for part in end for c in part) else BORN
