"""Identifiers: names written with digits or signs, which match only as a whole: ``P20``, ``C++``, ``key.pem``, ``2.1``.

One character tells two of them apart, and their parts are other words: a lexical index that splits them at their signs
finds ``2.0.1`` for ``2.1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from wikigr.stop_words import FUNCTION_WORDS

# A longer run of characters is data rather than a name.
_MAX_CHARS = 80
# Fewer digits joined by hyphens are a range.
_MIN_DIGITS = 6
# Words joined by signs, with the signs that may begin a name (``--force``, ``.bashrc``, ``/etc``) or end it (``C++``).
_RUN = re.compile(r"(?<![\w.+#/\\°-])(?:--?|[./~$@\\]{1,2})?\w+(?:[.\-/\\:@+#]{1,3}\w+)*(?:\+\+|#|\(\))?")
_CHUNK = re.compile(r"\S+")
_DATE = re.compile(r"\d{4}([-./])\d{1,2}(?:\1\d{1,2})?|\d{1,2}([-./])\d{1,2}\2(?:\d{4}|\d\d)")
_DECIMAL = re.compile(r"\d+\.\d+")
_LONG_NUMBER = re.compile(r"\d{5,}")
_NUMBERS = re.compile(r"(?!(?:1\d|20)\d\d-(?:1\d|20)?\d\d$)\d+(?:-\d+)+|\d+(?:\.\d+){2,}")
# "P20", "TB-208", "svc-7b"; not "mid-1990s", "top-10".
_LETTER_FIRST = re.compile(r"(?![a-z]{3,}-\d+s?$)[^\W\d_][^\W_]*(?:[-_./:]+[^\W_]+)*")
# "300x200x150", "4K2207"; not "2nd", "18V", "30-day".
_DIGIT_FIRST = re.compile(r"\d+[^\W\d_]+[-.]?\d[\w.-]*")
_DOTTED = re.compile(r"\.?[^\W\d_]{2,}(?:\.[^\W\d_]{2,})*")
_LETTER = re.compile(r"[B-HJ-Z]")
_WORD_BEFORE = re.compile(r"([\w'’.-]+)\s+$")
_WITHIN = frozenset(("in", "with", "for", "from", "since", "before", "after"))
_NEXT_WORD = re.compile(r"\s+\w")
# Of a name, its letters, its digits and each sign.
_PART = re.compile(r"\d+|[^\W\d_]+|[\W_]")


def identifiers_in(text: str) -> list[str]:
    """Return the identifiers of a question, in order, each once: those of ``find_identifiers`` and single capitals.

    A plain number is one after a noun ("version 2.1", "ticket 58140") rather than a preposition ("over 2.1").
    """
    found: dict[str, None] = {}
    for run in _RUN.finditer(text):
        said = run.group()
        before = _WORD_BEFORE.search(text, max(0, run.start() - 40), run.start())
        if _DECIMAL.fullmatch(said) or _LONG_NUMBER.fullmatch(said):
            # "in 2.1?", but not "in 2.1 hours" and "than 2.1".
            is_name = before is not None and (
                before[1].lower() not in FUNCTION_WORDS
                or (before[1] in _WITHIN and not _NEXT_WORD.match(text, run.end()))
            )
        elif _LETTER.fullmatch(said):
            # "25 W" is an amount, and "C.", as in "Lena C.", an initial.
            is_name = not text.startswith(".", run.end()) and (before is None or not before[1][-1].isdigit())
        else:
            is_name = is_identifier(said)
        if is_name:
            found.setdefault(said)
    return list(found)


def is_numbered(identifier: str) -> bool:
    """Return whether one sign tells ``identifier`` from others of its form: ``P20``, ``2.1``, ``C++``, ``-v``."""
    return len(identifier) == 1 or identifier[0] == "-" or any(c.isdigit() or c in "+#" for c in identifier)


def form(identifier: str) -> tuple[str, ...]:
    """Return what identifiers have in common that are mistaken for each other: signs and numbers of letters.

    The letters themselves do not count, nor does how many digits a number has and what follows it.
    """
    if identifier[0] == "-":
        return ("-",)
    letters = re.match(r"[^\W\d_]*", identifier)
    assert letters is not None
    if not any(map(str.isdigit, identifier)):
        return "letter", str(len(letters[0]))
    return "number", str(len(letters[0])), *(("." if not letters[0] and "." in identifier else "",))


def find_identifiers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the characters ``(start, end)`` of the identifiers of ``text``, decimal numbers among them."""
    for chunk in _CHUNK.finditer(text):
        # Most are words, and all text of a pack is searched.
        if not chunk.group().rstrip(".,;:!?)").isalpha():
            for run in _RUN.finditer(text, *chunk.span()):
                if _DECIMAL.fullmatch(run.group()) or is_identifier(run.group()):
                    yield run.span()


def is_identifier(run: str) -> bool:
    """Return whether a run of words and signs is a name by its form, whatever stands around it."""
    if len(run) > _MAX_CHARS or _DATE.fullmatch(run):
        return False
    if not any(map(str.isalpha, run)):
        return _NUMBERS.fullmatch(run) is not None and ("." in run or sum(map(str.isdigit, run)) >= _MIN_DIGITS)
    if run[0] in "-/~$@\\" or run.endswith(("++", "#", "()")) or "_" in run.strip("_") or "\\" in run or "::" in run:
        return True
    if "://" in run or "@" in run or run.count("/") > 1:
        return True
    if any(map(str.isdigit, run)):
        return (_DIGIT_FIRST if run[0].isdigit() else _LETTER_FIRST).fullmatch(run) is not None or "++" in run
    return "." in run and _DOTTED.fullmatch(run) is not None


def normal(identifier: str) -> str:
    """Return the form under which an identifier is indexed: ``tb208`` for ``TB-208`` and ``TB_208``."""
    joined = re.sub(r"(?<=\w)[-_]+(?=\w)", "", identifier.replace("_", "-"))
    return joined.casefold()


@lru_cache(maxsize=256)
def whole(identifier: str) -> re.Pattern[str]:
    """Return a pattern that finds ``identifier`` in a text where it is not part of a longer one.

    Case does not matter, except in a single letter, nor does a hyphen or a space between letters and digits.
    """
    parts = [match.group() for match in _PART.finditer(identifier)]
    joined = re.escape(parts[0])
    for before, part in pairwise(parts):
        is_joint = part in "-_" and before not in "-_" and before.isalnum()
        joined += "[-_ ]?" if is_joint or (before.isalnum() and part.isalnum()) else ""
        joined += "" if is_joint else re.escape(part)
    left = r"(?<![\w.])" if not identifier[0].isalnum() else r"(?<!\w)(?<!\d[.,])(?<!(?-i:[A-Z\d])-)"
    tail = r"-\w" if not identifier[-1].isdigit() else r"-(?-i:[A-Z\d])"
    right = rf"(?!\w|[+#]|[.]\w|{tail})" if identifier[-1].isalnum() else r"(?!\w)"
    return re.compile(f"{left}{joined}{right}", re.NOFLAG if len(identifier) == 1 else re.IGNORECASE)


def widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the characters ``start`` to ``end`` of ``text``, or more so that no identifier is cut at either end."""
    if start >= end or not (_is_inside(text, start) or _is_inside(text, end)):
        return start, end
    for first, last in find_identifiers(text):
        if first < start < last:
            start = first
        if first < end < last:
            end = last
    return start, end


def _is_inside(text: str, place: int) -> bool:
    return 0 < place < len(text) and not text[place - 1].isspace() and not text[place].isspace()
