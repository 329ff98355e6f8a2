"""A question without the name of its topic: its words in the order in which relations lead away from the topic.

All rules are about the syntax of English. What words mean is for ``relation_paths.evidence`` to decide.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from wikigr.names import strip_possessive
from wikigr.question.grammar import (
    ARTICLES,
    AUXILIARIES,
    DO,
    INTERROGATIVES,
    RELATIVES,
    RESTRICTIVE,
    is_negation,
)
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

# What the nearer end of a step is to the word for that step: "the owner of X" (possessor), "owned by X" (agent), "X
# owns" (subject), "who owns X" (object), "X is the owner of" (holder), "X is owned by" (patient).
Role = Literal["possessor", "agent", "subject", "object", "holder", "patient"]
# What a word does, as far as syntax tells: it names a relation ("directed", "owner"), or the kind of a thing on the way
# ("the films that", "the companies founded by"), or what is asked for ("which company"), which may be either.
Use = Literal["relation", "kind", "asked"]
# What an interrogative asks for, as words that relation names may contain.
ASKED_KINDS = {"who": "person", "whom": "person", "when": "date year", "where": "place location"}
NUMBER = "number"

_MAX_WORDS = 32
_COUNTING = frozenset("many much".split())
# Verbs that open a request rather than say something about the topic.
_REQUESTS = frozenset("name list give show tell find me please".split())
# They say that a path goes to a node and back along the same relation: "the same author as X", "other films of".
_SHARED = frozenset("same share shares shared sharing common also other others another else both together".split())
_DETERMINERS = ARTICLES | {"this", "that"}
_MANNER = DO | {"to", "can", "could", "should", "would"}
_CO = re.compile(r"\bco-(?=\w)", re.I)
_POSSESSIVE = re.compile(r"['’]s?(?=\W|$)")
_STOP = (FUNCTION_WORDS - {"before", "after"}) | _COUNTING | {"s", "being"}


@dataclass(frozen=True, slots=True)
class Token:
    """A content word. ``run`` numbers the runs of words without a function word between them.

    ``phrase`` is the word with the preposition that follows it. ``is_shared`` says that "same" or the like precedes it.
    """

    text: str
    run: int
    role: Role
    phrase: str
    use: Use = "relation"
    is_shared: bool = False
    is_interrogative: bool = False


@dataclass(frozen=True, slots=True)
class MaskedQuestion:
    """The content words around the topic.

    ``orders`` are the possible orders of ``tokens``, each from the topic outward. ``asks`` is the interrogative that
    asks for the answer, or "". ``is_shared`` says that a word like "same" or "also" pairs two things. ``restrictions``
    are words that no path may leave out: ranks, negations, numbers. ``nested`` is how often the same word is said of
    what follows it ("the parent of the parent of": 2), and a path needs a step for each.
    """

    tokens: tuple[Token, ...]
    orders: tuple[tuple[int, ...], ...]
    asks: str
    is_shared: bool
    restrictions: tuple[str, ...]
    nested: int


def mask(question: str, start: int, end: int) -> MaskedQuestion:
    """Return ``question`` without its topic, which is ``question[start:end]``."""
    before, after = _CO.sub("also ", question[:start]), _CO.sub("also ", question[end:])
    possessive = _POSSESSIVE.match(after)
    left = words(before)[-_MAX_WORDS:]
    right = words(after[possessive.end() :] if possessive is not None else after)[:_MAX_WORDS]
    while left and left[0] in _REQUESTS:
        del left[0]
    asks, width = _interrogative(left)
    if not asks and right:
        asks = next((_asked(right, n) for n in range(len(right)) if right[n] in INTERROGATIVES), "")
    tokens: list[Token] = []
    inner: list[int] = []
    outer: list[int] = []
    asked: list[int] = []
    for n, word in enumerate(left):
        if _is_content(word):
            (asked if n < width else inner).append(len(tokens))
            # "What kind of film is": the film is the topic.
            is_kind = _is_kind(left, n) or (n == width + 1 > 1 and left[width] == "of")
            use: Use = "asked" if n < width else "kind" if is_kind else "relation"
            text = strip_possessive(word)
            tokens.append(
                Token(text, _run(left, n), _role_before(left, n), _phrase(left, n), use, _follows_shared(left, n))
            )
    for n, word in enumerate(right):
        if _is_content(word):
            outer.append(len(tokens))
            role = _role_after(right, n, is_possessive=possessive is not None)
            run = len(left) + 1 + _run(right, n)
            after_wh = n > 0 and right[n - 1] in ("which", "what")
            use = "asked" if after_wh else "kind" if _is_kind([*right, ""], n) else "relation"
            tokens.append(Token(strip_possessive(word), run, role, _phrase(right, n), use, _follows_shared(right, n)))
    inner.reverse()
    asked.reverse()
    if asks in ASKED_KINDS or asks.startswith("how "):
        asked.append(len(tokens))
        kind = ASKED_KINDS.get(asks, NUMBER)
        tokens.append(Token(kind, -1, "object", kind, "asked", is_interrogative=True))
    orders = [(*inner, *outer, *asked), (*outer, *inner, *asked)]
    return MaskedQuestion(
        tuple(tokens),
        tuple(dict.fromkeys(order[-12:] for order in orders)),
        asks,
        not _SHARED.isdisjoint((*left, *right)),
        restrictions([*left, *right]),
        nesting(words(question)),
    )


def restrictions(text: list[str]) -> tuple[str, ...]:
    """Return the words, in lower case, that an answer from facts must not leave out: ranks, negations, numbers."""
    found = [word for word in text if word in RESTRICTIVE or word.isdigit() or is_negation(word)]
    found += [f"how {after}" for word, after in pairwise(text) if word == "how" and after in _MANNER]
    return tuple(found)


def nesting(text: list[str]) -> int:
    """Return how often the same word relates things: 2 for "the owner of the owner of X" and "X's owner's owner"."""
    related = [word for word, after in pairwise(text) if after == "of"]
    related += [strip_possessive(word) for before, word in pairwise(text) if _is_possessive(before)]
    return max(Counter(related).values(), default=0)


def _is_possessive(word: str) -> bool:
    return strip_possessive(word) != word


def _is_content(word: str) -> bool:
    return word not in _STOP and word not in _SHARED and word not in INTERROGATIVES


def _interrogative(left: list[str]) -> tuple[str, int]:
    """Return the interrogative at the beginning, and the number of words of its phrase ("in which year": 3)."""
    for n, word in enumerate(left[:2]):
        if word in INTERROGATIVES:
            width = n + 1
            while word not in ("who", "whom", "when", "where") and width < min(len(left), n + 3):
                if not _is_content(left[width]) and left[width] not in _COUNTING:
                    break
                width += 1
            return _asked(left, n), width
    return "", 0


def _asked(text: list[str], n: int) -> str:
    return f"how {text[n + 1]}" if text[n] == "how" and text[n + 1 : n + 2] and text[n + 1] in _COUNTING else text[n]


def _run(text: list[str], n: int) -> int:
    """Return where the run of content words that contains word ``n`` begins."""
    while n and _is_content(text[n - 1]) and not _is_possessive(text[n - 1]):
        n -= 1
    return n


def _follows_shared(text: list[str], n: int) -> bool:
    """Return whether "same", "share", "also" or the like is said of word ``n``."""
    while n and (text[n - 1] in _DETERMINERS or _is_content(text[n - 1])):
        n -= 1
    return n > 0 and text[n - 1] in _SHARED


def _is_kind(text: list[str], n: int) -> bool:
    """Return whether word ``n`` is a noun that a clause or a participle describes, or that stands before a name.

    "the films that", "companies founded by", "the movie X". ``text`` ends where the name of the topic begins.
    """
    last = n
    while last + 1 < len(text) and _is_content(text[last + 1]):
        last += 1
    following = text[last + 1] if last + 1 < len(text) else None
    if following is None:
        begin = _run(text, n)
        return begin > 0 and text[begin - 1] in _DETERMINERS
    if last > n:
        return following == "by"
    return following in RELATIVES and n > 0


def _phrase(text: list[str], n: int) -> str:
    """Return the word with a preposition or particle that follows it: "acted in", "part of"."""
    following = text[n + 1] if n + 1 < len(text) else ""
    plain = not following or _is_content(following) or following in INTERROGATIVES or following in AUXILIARIES
    return text[n] if plain else f"{text[n]} {following}"


def _role_before(text: list[str], n: int) -> Role:
    following = text[n + 1] if n + 1 < len(text) else ""
    if following == "of":
        return "possessor"
    if following == "by":
        return "agent"
    if following in AUXILIARIES and "whose" in text[:n]:
        return "holder"
    return "subject" if following in ("did", "does", "do") else "object"


def _role_after(text: list[str], n: int, *, is_possessive: bool) -> Role:
    if is_possessive:
        return "possessor"
    following = text[n + 1] if n + 1 < len(text) else ""
    if following == "by":
        return "patient"
    is_noun = n > 0 and text[n - 1] in ARTICLES and not AUXILIARIES.isdisjoint(text[:n])
    return "holder" if is_noun else "subject"
