"""Relations and facts as words."""

from __future__ import annotations

import re

from wikigr.graph.neighborhood import Edge
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import PREFIX_LENGTH, share_prefix

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NON_WORD = re.compile(r"[\W_]+")
_MIN_PREFIX_SHARE = 0.6
_MAX_FACT_CHARS = 200


def relation_words(relation: str) -> str:
    """Return a relation's name as lower-case words, as in "born in" for ``bornIn``; of an IRI, its last part."""
    local = re.split(r"[/#]", relation.rstrip("/#"))[-1] or relation
    return " ".join(_NON_WORD.sub(" ", _CAMEL_CASE.sub(" ", local)).lower().split())


def verbalize(edge: Edge) -> str:
    """Return the fact as text for the encoder: source, relation and target."""
    return f"{edge.source.label} {relation_words(edge.relation)} {edge.target.label}"[:_MAX_FACT_CHARS]


def share_stem(one: str, other: str) -> bool:
    """Return whether two words share a stem, judged by their common prefix ("founder", "founded")."""
    return one == other or share_prefix(one, other, share=_MIN_PREFIX_SHARE)


def strip_s(word: str) -> str:
    """Return ``word`` without a plural or third-person "s", since encoders treat the forms as different words."""
    inflected = len(word) > PREFIX_LENGTH and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if inflected and word not in FUNCTION_WORDS else word
