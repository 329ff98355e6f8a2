"""Whether a sentence says yes or no to a question: by a negation, or by a limit for a number of the question."""

from __future__ import annotations

import re

from wikigr.question.grammar import is_negation
from wikigr.question.question import Question
from wikigr.question.values import amounts_in
from wikigr.text import words

# Words that say no: "It is forbidden", "Without a ticket"
_REFUSALS = frozenset("cannot failed forbidden impossible nobody nothing nowhere prohibited refused rejected".split())
# Words after which a sentence is true of a part only, or of another time.
_CONDITIONS = frozenset(
    "only except unless if until before but however although though without instead rather otherwise yet".split()
)
# The shares of the question that a clause must have: what is denied is mostly what was asked, but what is said may be
# something else.
_MIN_DENIED = 0.45
_MIN_SAID = 0.65
_CLAUSE = re.compile(r"[;:,.!?()→–—]+(?:\s|$)|\s[-–—]\s")


def says_yes(question: Question, text: str) -> bool | None:
    """Return whether ``text`` says yes to ``question``, or ``None`` if that is not certain."""
    asked, said = words(question.text), words(text)
    limited = _within_limit(question.text, text)
    if limited is not None:
        return limited != _is_negative(said)
    if not _CONDITIONS.isdisjoint(said) or not _CONDITIONS.isdisjoint(asked):
        return None
    for clause in _CLAUSE.split(text):
        covered = question.coverage(set(question.stems(clause)))
        is_denied = _is_negative(words(clause))
        if covered >= (_MIN_DENIED if is_denied else _MIN_SAID) and is_denied == _is_negative(said):
            return is_denied == _is_negative(asked)
    return None


def _is_negative(said: list[str]) -> bool:
    """Return whether ``said`` has an odd number of negations."""
    return sum(is_negation(word) or word in _REFUSALS for word in said) % 2 == 1


def _within_limit(asked: str, text: str) -> bool | None:
    """Return whether a number of the question is within the only range of ``text`` in the same unit, or ``None``."""
    numbers = [amounts for amounts, _, _ in amounts_in(asked) if not amounts.is_range and amounts.unit]
    ranges = [amounts for amounts, _, _ in amounts_in(text) if amounts.is_range and amounts.unit]
    pairs = [(number, limit) for number in numbers for limit in ranges if number.unit == limit.unit]
    if len(pairs) != 1:
        return None
    number, limit = pairs[0]
    return limit.holds(number)
