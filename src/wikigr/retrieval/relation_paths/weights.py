"""The weights that decide between relation paths."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the evidence and of a path's score, fitted by ``benchmarks/fit_paths.py``.

    Evidence. Cosines between a word and a kind of thing are scaled from ``low_cosine`` and ``high_cosine`` to 0 and 1.
    ``stem`` is what a shared stem adds to the logit of a match, and ``role`` what grammar adds in the direction of a
    step, ``unnamed_role`` times that if no stem is shared. The evidence of a word that asks for something or names a
    kind is raised to ``asked_power`` or ``kind_power``.

    Score. ``step`` is what a step gains if its relation is named in full; ``hop`` is what every step costs, and
    ``bare`` what one costs that no word asks for. ``unexplained`` is the cost of a word that nothing explains,
    ``again`` what a second mention of a relation explains within one step, and ``type`` what the kind of an end does.
    Going back along the last relation costs ``back`` and is worth ``shared`` if a word like "same" or "also" asks for
    it, as far as the word names the relation (``vague`` if there is no such word). ``interrogative``, ``asked`` and
    ``kind`` are the importance of such words, and ``unknown`` that of a word that resembles no relation of the graph.
    """

    low_cosine: float = 0.2
    high_cosine: float = 0.35
    stem: float = 3.4
    role: float = 6.0
    unnamed_role: float = 0.3
    asked_power: float = 1.127
    kind_power: float = 4.6
    step: float = 0.84
    hop: float = 0.345
    bare: float = 2.8
    unexplained: float = 0.6
    again: float = 0.4
    type: float = 0.4
    back: float = 0.1
    shared: float = 1.4
    vague: float = 0.5
    interrogative: float = 0.5
    asked: float = 0.8
    kind: float = 0.21
    unknown: float = 0.8


WEIGHTS = Weights()
