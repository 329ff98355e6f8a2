"""Names in titles and running text: lookup keys, qualifiers, and words that are not names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import fold, words

# "Mercury (planet)"
_IN_PARENTHESES = re.compile(r"(?<!\s)\s+\([^()]*\)$")
# "Oakdale, New York", "Charles, Prince of Wales", but not "Philadelphia, Here I Come!" or "September 11, 2007 tape".
_AFTER_COMMA = re.compile(r",\s([^,()]*)$")
# "Israeli presidential election, 2000", but not "May 1, 2001".
_YEARS = re.compile(r"(?<!\d), \d{4}(?:[–-]\d{2,4})?$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_NOT_IN_EPITHET = re.compile(r"[!?:;\"]")
# Words that are written in lower case within places and epithets.
_PARTICLES = frozenset(
    """am an and auf da dal de dei del della den der des di do dos du e el en i im in la las le les los nad of on op
    per sous sur the under upon van von y zu zum""".split()
)

# A possessive without the name: "Einstein's", "the Joneses'".
_POSSESSIVE = re.compile(r"['’]s?$")

# The same definition of a word as in ``text.words``.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

# The words directly before and directly after a name.
_WORD_BEFORE = re.compile(r"(?<!\w)(\w[\w'’]*)[ -]$")
_WORD_AFTER = re.compile(r"[ -](\w[\w'’]*)")
_SENTENCE_START = re.compile(r"(?:^|\n|[.!?:;][\"'’”)\]]*\s)[ \t\"'‘“(\[]*$")

_OPENING = frozenset("\"'‘“„«([")
_CLOSING = frozenset("\"'’”»)]")

# Scripts written without spaces, in which word boundaries are not visible: Han, Hiragana, Katakana, Thai, Lao, Myanmar,
# Khmer. Katakana write foreign words, and a run of them is one or more whole words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")


def name_key(name: str) -> str:
    """Return the lookup key of a name in running text: its words without case, accents and punctuation.

    The key of a name without letters and digits is empty. Different names may share a key ("C" and "C++").
    """
    return " ".join(words(_plain(name)))


def merge_key(name: str) -> str:
    """Return a key that different spellings of one name share: its words (see ``name_key``) and its symbols.

    Case, accents, hyphens and other punctuation are ignored, but "C", "C++" and "C#" have different keys.
    """
    folded = fold(name)
    symbols = "".join(c for c in folded if c in "#*&@%" or unicodedata.category(c).startswith("S"))
    return f"{name_key(folded)} {symbols}".strip()


def strip_possessive(text: str) -> str:
    """Return ``text`` without a final "'s" or "'"."""
    return _POSSESSIVE.sub("", text)


def name_words(text: str) -> list[tuple[str, int, int]]:
    """Return the words of ``text``, normalized as in ``name_key``, each with its ``(start, end)`` offsets in ``text``.

    Combining marks after a letter belong to the word.
    """
    plain = text.lower()
    origins: Sequence[int] = range(len(text))
    if not text.isascii():
        parts = [(part, place) for place, character in enumerate(text) for part in _plain(character)]
        plain = "".join(part for part, _ in parts)
        origins = [place for _, place in parts]
    found = []
    for match in _WORD.finditer(plain):
        end = origins[match.end() - 1] + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        found.append((words(match[0])[0], origins[match.start()], end))
    return found


def _plain(text: str) -> str:
    """Return ``text`` without case and accents. Case folding can produce compatibility forms, hence NFKD twice."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in folded if not unicodedata.combining(c))


def bare_name(title: str) -> str:
    """Return ``title`` without its qualifier in parentheses or after the last comma.

    A qualifier after a comma is a year, a place or an epithet: a few words, capitalized except for particles, and
    without function words.
    """
    found = _IN_PARENTHESES.search(title) or _YEARS.search(title)
    if found is None:
        found = _AFTER_COMMA.search(title)
        if found is not None and not _is_epithet(found[1].split()):
            found = None
    return title[: found.start()] or title if found is not None else title


def _is_epithet(parts: list[str]) -> bool:
    if not 0 < len(parts) <= 6 or (parts[0][0].isdigit() and not _ORDINAL.fullmatch(parts[0])):
        return False
    return all(
        part in _PARTICLES or not (part[0].islower() or part.lower() in FUNCTION_WORDS or _NOT_IN_EPITHET.search(part))
        for part in parts
    )


def is_unspaced(character: str) -> bool:
    """Return whether ``character`` belongs to a script that is written without spaces between words."""
    return _UNSPACED.match(character) is not None


def within_word(text: str, place: int) -> bool:
    """Return whether the characters before and at ``place`` belong to the same word.

    In scripts without spaces this is unknown; the result is ``False`` except between two Katakana.
    """
    if not 0 < place < len(text):
        return False
    first, second = text[place - 1], text[place]
    if first.isascii() and second.isascii():
        return (first.isalnum() or first == "_") and (second.isalnum() or second == "_")
    # A combining mark belongs to the letter before it.
    if unicodedata.category(second).startswith("M"):
        return True
    if is_unspaced(first) or is_unspaced(second):
        return _KATAKANA.match(first) is not None and _KATAKANA.match(second) is not None
    return (first.isalnum() or first == "_") and (second.isalnum() or second == "_")


def is_part_of_name(text: str, start: int, end: int) -> bool:
    """Return whether the capitalized word at ``start`` is next to another one and thus part of a longer name.

    A neighbor at the start of its sentence does not count: its capital comes from there ("See Beta").
    """
    if not text[start].isupper():
        return False
    before, after = _neighbors(text, start, end)
    return any(word[0].isupper() and word.lower() not in FUNCTION_WORDS for word in (before, after) if word)


def may_be_plain_word(text: str, start: int, end: int) -> bool:
    """Return whether the capitalized function word or letter at ``start`` may be an ordinary word rather than a name.

    It may be one at the start of a line, a sentence or a quotation, next to other capitalized words ("Wish You Were
    Here"), and in a compound ("X-ray"). Alone in quotation marks ("It"), it is a name.
    """
    before, after = _neighbors(text, start, end)
    if any(word[0].isupper() for word in (before, after) if word) or (after and text[end] == "-"):
        return True
    if text[max(0, start - 1) : start] in _OPENING:
        return text[end : end + 1] not in _CLOSING
    return _starts_sentence(text, start)


def _neighbors(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the words directly before and after, or ``""``. A word before that starts its sentence does not count."""
    before, after = _WORD_BEFORE.search(text, max(0, start - 40), start), _WORD_AFTER.match(text, end)
    counts = before is not None and not _starts_sentence(text, before.start(1))
    return before[1] if before is not None and counts else "", after[1] if after is not None else ""


def _starts_sentence(text: str, start: int) -> bool:
    return _SENTENCE_START.search(text, max(0, start - 8), start) is not None
