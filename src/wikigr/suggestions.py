"""Find the known name that somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name with about the spelling of ``word``, or one of which either is short for the other."""
    from difflib import get_close_matches

    word, names = word.lower(), list(known)
    close = get_close_matches(word, names, n=1)
    short = [name for name in names if _is_short_for(name, word) or _is_short_for(word, name)]
    return close[0] if close else max(short, key=len, default=None)


def _is_short_for(short: str, word: str) -> bool:
    """Return whether ``short`` is the first letter of ``word`` and others in their order: ``md`` for ``markdown``."""
    letters = iter(word)
    return len(short) > 1 and short[0] == word[:1] and all(letter in letters for letter in short)
