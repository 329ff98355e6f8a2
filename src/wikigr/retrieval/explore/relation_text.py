"""Relations as words."""

from __future__ import annotations

import re

from wikigr.text import share_prefix

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NON_WORD = re.compile(r"[\W_]+")
_MIN_PREFIX_SHARE = 0.6


def relation_words(relation: str) -> str:
    """Return a relation's name as lower-case words, as in "born in" for ``bornIn``; of an IRI, its last part."""
    local = re.split(r"[/#]", relation.rstrip("/#"))[-1] or relation
    return " ".join(_NON_WORD.sub(" ", _CAMEL_CASE.sub(" ", local)).lower().split())


def share_stem(one: str, other: str) -> bool:
    """Return whether two words share a stem, judged by their common prefix ("founder", "founded")."""
    return one == other or share_prefix(one, other, share=_MIN_PREFIX_SHARE)
