"""Match words of a question with relations: by stem, and by a model on top of the encoder's vectors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.embeddings.model_id import DEFAULT_WEIGHTS_SHA256
from wikigr.text import share_prefix

Floats = NDArray[np.float64]

_WEIGHTS = Path(__file__).with_name("relation_match.npz")


@dataclass(frozen=True, eq=False)
class RelationMatcher:
    """A low-rank bilinear form per direction, besides the cosine.

    ``words``, ``forward`` and ``inverse`` have the shape ``(d, k)``; ``scale`` holds the factor of the cosine and the
    intercept. A logit of 0 is that of a word which names no relation.
    """

    words: Floats
    forward: Floats
    inverse: Floats
    scale: Floats

    @classmethod
    def load_for(cls, encoder: EncoderIdentity) -> RelationMatcher:
        """Return the model for vectors of ``encoder``: that of the package, or cosines alone for another one."""
        with np.load(_WEIGHTS) as stored:
            found = {name: stored[name].astype(np.float64) for name in ("words", "forward", "inverse", "scale")}
        if encoder.weights_sha256 != DEFAULT_WEIGHTS_SHA256:
            found |= dict.fromkeys(("words", "forward", "inverse"), np.zeros((encoder.dimension, 1)))
        return cls(**found)

    def logits(self, words: Floats, relations: Floats) -> Floats:
        """Return the logits of unit vectors ``words`` ``(w, d)`` against ``relations`` ``(r, d)``.

        The shape is ``(2, r, w)``: forward, then inverse.
        """
        cosines = self.scale[0] * (relations @ words.T) + self.scale[1]
        low = (words @ self.words).T
        return np.stack([cosines + (relations @ side) @ low for side in (self.forward, self.inverse)])


_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NON_WORD = re.compile(r"[\W_]+")


def relation_words(relation: str) -> str:
    """Return a relation's name as lower-case words, as in "born in" for ``bornIn``; of an IRI, its last part."""
    local = re.split(r"[/#]", relation.rstrip("/#"))[-1] or relation
    return " ".join(_NON_WORD.sub(" ", _CAMEL_CASE.sub(" ", local)).lower().split())


def share_stem(one: str, other: str) -> bool:
    """Return whether two words share a stem, judged by their common prefix ("founder", "founded")."""
    return one == other or share_prefix(one, other, share=0.6)
