"""Find the known names that somebody probably meant, and ask about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def nearest(word: str, known: Iterable[str], *, most: int = 1) -> list[str]:
    """Return up to ``most`` known names with about the spelling of ``word`` in any case, the nearest first.

    If there is none, the longest name of which ``word`` is short, or that is short for ``word``, is returned.
    """
    from difflib import get_close_matches

    word, names = word.casefold(), {name.casefold(): name for name in known}
    close = get_close_matches(word, names, n=most)
    short = [name for name in names if _is_short_for(name, word) or _is_short_for(word, name)]
    return [names[name] for name in close or sorted(short, key=len, reverse=True)[:1]]


def did_you_mean(
    names: Sequence[str], otherwise: str | None = None, *, shown: Callable[[str], str] = repr
) -> str | None:
    """Return the hint of an error about an unknown name: a question about ``names``, or ``otherwise`` without any."""
    return f"Did you mean {', '.join(map(shown, names))}?" if names else otherwise


def _is_short_for(short: str, word: str) -> bool:
    """Return whether ``short`` is the first letter of ``word`` and others in their order: ``md`` for ``markdown``."""
    letters = iter(word)
    return len(short) > 1 and short[0] == word[:1] and all(letter in letters for letter in short)


def one_typo_away(key: str, letters: str = _LETTERS) -> list[str]:
    """Return all spellings of ``key`` with one letter added, removed, replaced or swapped with the next."""
    near: dict[str, None] = {}
    for place in range(len(key) + 1):
        before, after = key[:place], key[place:]
        near.update((before + letter + after, None) for letter in letters)
        if not after or after[0].isdigit():
            continue
        near[before + after[1:]] = None
        near.update((before + letter + after[1:], None) for letter in letters)
        if len(after) > 1 and not after[1].isdigit():
            near[before + after[1] + after[0] + after[2:]] = None
    near.pop(key, None)
    return list(near)
