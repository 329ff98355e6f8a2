"""What a relation path leads to. Apart from the search, so that writing answers imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact as its section states it: ``subject``, ``relation`` and ``value`` are names."""

    subject: str
    relation: str
    value: str
    section_id: str


@dataclass(frozen=True, slots=True)
class PathAnswers:
    """The answers at the end of a path: their names, and for each of them the facts that lead to it.

    ``total`` is the number of all answers, of which the first ones are here; ``is_cut`` says that there are even more.
    ``confidence`` lies in [0, 1].
    """

    names: tuple[str, ...]
    chains: tuple[tuple[StatedFact, ...], ...]
    total: int
    is_cut: bool
    confidence: float
