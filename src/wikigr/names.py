"""How things are named: keys for look-ups, qualifiers of titles, words that are no names."""

from __future__ import annotations

import re
import unicodedata

from wikigr.text import words

# "Mercury (planet)", "Oakdale, New York".
_QUALIFIER = re.compile(r"(?:(?<!\s)\s+\([^()]*\)|,\s[^,()]*)$")

# As ``text.words`` has them.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

# The words directly before and after a name.
_WORD_BEFORE = re.compile(r"(?<!\w)(\w[\w'’]*)[ -]$")
_WORD_AFTER = re.compile(r"[ -](\w[\w'’]*)")
_LONGEST_WORD = 40
_LONGEST_BREAK = 8
_SENTENCE_START = re.compile(r"(?:^|\n|[.!?:;][\"'’”)\]]*\s)[ \t\"'‘“(\[]*$")

# English function words: a name made of these alone ("It", "The Who") is matched only as written.
FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be been before but by can could did do does for from had has have
    he her here him his how i if in into is it its just like may me might more most must my no not now of on one
    only or other our out over she should so some such than that the their them then there these they this those
    to too two under until up upon us was we were what when where which while who whom whose why will with would
    you your""".split()
)


def name_key(name: str) -> str:
    """Return the look-up form of a name in running text: its words, without case, accents and punctuation.

    It is empty for a name without a letter or digit; several names may have one key ("C" and "C++").
    """
    return " ".join(words(_plain(name)))


def name_words(text: str) -> list[tuple[str, int, int]]:
    """Return the words of ``text`` as ``name_key`` has them, each with its ``(start, end)`` in ``text``.

    A mark that is written after its letter belongs to the word.
    """
    plain: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        for part in _plain(character):
            plain.append(part)
            origins.append(place)
    found = []
    for match in _WORD.finditer("".join(plain)):
        end = origins[match.end() - 1] + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        found.append((words(match[0])[0], origins[match.start()], end))
    return found


def _plain(text: str) -> str:
    """Return ``text`` without case and accents; folded characters may be compatibility forms, and the reverse."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in folded if not unicodedata.combining(c))


def bare_name(title: str) -> str:
    """Return ``title`` without its qualifier in parentheses or after its last comma."""
    return _QUALIFIER.sub("", title) or title


def is_part_of_name(text: str, start: int, end: int) -> bool:
    """Tell whether the capitalised word at ``start`` stands directly beside another one, as in a longer name.

    A word that begins its sentence has its capital from there ("See Beta").
    """
    if not text[start].isupper():
        return False
    before = _WORD_BEFORE.search(text, max(0, start - _LONGEST_WORD), start)
    if before is not None and _is_capitalised(before[1]):
        begin = before.start(1)
        if not _SENTENCE_START.search(text, max(0, begin - _LONGEST_BREAK), begin):
            return True
    after = _WORD_AFTER.match(text, end)
    return after is not None and _is_capitalised(after[1])


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() and word.lower() not in FUNCTION_WORDS
