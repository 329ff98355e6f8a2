"""Correct the words of a question that its pack does not know: a slip of the fingers, a letter doubled or left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from wikigr.index.identifiers import find_identifiers
from wikigr.index.lexical import FIELDS, LexicalIndex, stems
from wikigr.question.grammar import AUXILIARIES, INTERROGATIVES, MAX_CHARS
from wikigr.stop_words import FUNCTION_WORDS, QUESTION_WORDS
from wikigr.suggestions import one_typo_away

# Fewer letters are near many words.
_MIN_LETTERS = 4
# Words of so many letters may have a second slip, if it is a doubled letter or two that are swapped.
_MIN_LETTERS_OF_TWO = 6
_MAX_LETTERS = 24
# "dont", "whats": without their apostrophe.
_CONTRACTED = frozenset(("wont", "cant", "shant", "thats", "lets", "theres"))
_CONTRACTED |= {f"{word}nt" for word in AUXILIARIES} | {f"{word}s" for word in INTERROGATIVES}
_LEFT_ALONE = QUESTION_WORDS | FUNCTION_WORDS | _CONTRACTED
# Shorter words are near too many others for a slip of the costliest kind.
_MIN_LETTERS_OF_ANY_SLIP = 6
_ANY_SLIP = 2
_MAX_TRIED = 8
_WORD = re.compile(r"(?<![\w'’])[^\W\d_]+(?![\w])")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|`[^`]*`")
_DOUBLED = re.compile(r"(.)\1")
# What a keyboard may not have.
_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüéèáàâêíóúñçøåæß"
_VOWELS = frozenset("aeiou")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_KEYS = {key: (row, place) for row, keys in enumerate(_ROWS) for place, key in enumerate(keys)}

# Says something of a word in lower case.
Test = Callable[[str], bool]


def corrected(text: str, index: LexicalIndex, is_word: Test, is_written: Test) -> str:
    """Return the question ``text`` with words that ``index`` has in place of misspelled ones.

    Quoted text and identifiers stay as they are, as do words that ``is_word`` knows. ``is_written`` tells whether a
    word whose stem the index has stands in the text itself.
    """
    if len(text) > MAX_CHARS or index.language.characters:
        return text
    kept = [*(found.span() for found in _QUOTED.finditer(text)), *find_identifiers(text)]
    unknown = [
        found
        for found in _WORD.finditer(text)
        if _MIN_LETTERS <= len(found.group()) <= _MAX_LETTERS
        and not any(start < found.end() and found.start() < end for start, end in kept)
        and found.group().lower() not in _LEFT_ALONE
        and not any(_frequencies([found.group().lower()], index))
        and not is_word(found.group().lower())
    ]
    # A question with more unknown words is in another language, or about something else.
    for found in reversed(unknown if len(unknown) <= 4 else []):
        word = _nearest(found.group().lower(), index, is_word, is_written)
        if word is not None:
            written = word.capitalize() if found.group()[0].isupper() else word
            text = text[: found.start()] + written + text[found.end() :]
    return text


def _frequencies(words: Iterable[str], index: LexicalIndex) -> list[int]:
    """Return the number of sections that ``index`` finds by each of ``words`` in the field where that is highest."""
    tokens = [stems(word, index.language) for word in words]
    # No section has the empty stem.
    found = [own[0] if len(own) == 1 else "" for own in tokens]
    return list(map(max, *(index.frequencies(found, field) for field in FIELDS)))


def _nearest(word: str, index: LexicalIndex, is_word: Test, is_written: Test) -> str | None:
    """Return the word of ``index`` that ``word`` was probably meant to be, or ``None`` if none is near.

    Of several with one slip, a word of the language comes first, then the likelier slip, then the more frequent word.
    """
    for near in (one_typo_away(word, _LETTERS), _two_typos_away(word)):
        others = list(dict.fromkeys(near))
        known = [(other, count) for other, count in zip(others, _frequencies(others, index), strict=True) if count]
        ranked = sorted((not is_word(other), _cost(word, other), -count, other) for other, count in known)
        for _, cost, _, other in ranked[:_MAX_TRIED]:
            # "pickeds" has a stem of the pack, but nobody wrote it.
            if (cost < _ANY_SLIP or len(word) >= _MIN_LETTERS_OF_ANY_SLIP) and is_written(other):
                return other
    return None


def _two_typos_away(word: str) -> Iterable[str]:
    """Return spellings with one slip and a letter doubled, a letter left out of two, or two letters swapped."""
    if len(word) < _MIN_LETTERS_OF_TWO:
        return ()
    return chain.from_iterable(map(_slips, one_typo_away(word)))


def _slips(word: str) -> Iterator[str]:
    for place in range(len(word)):
        yield word[: place + 1] + word[place:]
        if word[place : place + 2] == word[place : place + 1] * 2:
            yield word[:place] + word[place + 1 :]
        elif place + 1 < len(word):
            yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _cost(word: str, other: str) -> int:
    """Return 0 for swapped and doubled letters, 2 for a far key, and 1 for any other slip."""
    if sorted(word) == sorted(other) or _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", other):
        return 0
    if len(word) != len(other):
        return 1
    one, two = next(pair for pair in zip(word, other, strict=True) if pair[0] != pair[1])
    if {one, two} <= _VOWELS or one not in _KEYS or two not in _KEYS:
        return 1
    (row, place), (other_row, other_place) = _KEYS[one], _KEYS[two]
    return 1 if abs(row - other_row) <= 1 and abs(place - other_place) <= 1 else _ANY_SLIP
