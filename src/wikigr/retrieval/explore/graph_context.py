"""Graph evidence for a question: verbalized facts, paths and query rows, and the sections that state them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from wikigr.graph.neighborhood import Edge
from wikigr.index.candidate import FACT, RELEVANCE, Candidate

Strategy = Literal["triplets", "paths", "cypher"]

# Characters per token of English text. A rough estimate is enough for a budget.
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """One line of context. ``edges`` are the edges it verbalizes; a row of a Cypher query has a ``query`` instead."""

    text: str
    strategy: Strategy
    edges: tuple[Edge, ...] = ()
    query: str = ""

    @property
    def section_ids(self) -> tuple[str, ...]:
        """The sections that state the edges, in order."""
        return tuple(dict.fromkeys(edge.section_id for edge in self.edges if edge.section_id))


@dataclass(slots=True)
class GraphContext:
    """Distinct pieces from all strategies, in the order they were added, within a budget of ``max_tokens``."""

    max_tokens: int
    truncated: bool = False
    _pieces: dict[str, Piece] = field(default_factory=dict)
    _tokens: int = 0

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(self._pieces.values())

    @property
    def lines(self) -> list[str]:
        """The text of every piece."""
        return list(self._pieces)

    def add(self, pieces: Iterable[Piece]) -> int:
        """Add the pieces that are new and fit the budget; return how many were added."""
        added = 0
        for piece in pieces:
            if piece.text in self._pieces:
                continue
            tokens = len(piece.text) // _CHARS_PER_TOKEN + 1
            if self._tokens + tokens > self.max_tokens:
                self.truncated = True
                continue
            self._pieces[piece.text] = piece
            self._tokens += tokens
            added += 1
        return added


def promote_facts(candidates: Sequence[Candidate], facts: Sequence[Edge]) -> list[Candidate]:
    """Return ``candidates`` with the sections that state ``facts`` moved to the front, in the order of the facts.

    Adds sections that were not candidates. The ``fact`` score is the rank of the section's first fact, from 1.
    """
    ranks: dict[str, int] = {}
    for rank, edge in enumerate(facts, start=1):
        if edge.section_id:
            ranks.setdefault(edge.section_id, rank)
    others = {candidate.section_id: candidate for candidate in candidates}
    promoted = []
    for section, rank in ranks.items():
        candidate = others.pop(section, Candidate(section, 0.0, {RELEVANCE: 0.0}))
        scores = {**candidate.scores, RELEVANCE: candidate.relevance, FACT: float(rank)}
        promoted.append(replace(candidate, score=1.0 + 1.0 / rank, scores=scores))
    return [*promoted, *others.values()]
