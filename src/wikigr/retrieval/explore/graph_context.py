"""What the graph says about a question: verbalized pieces in the order found, each once, with where it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from wikigr.graph.neighborhood import Edge

Strategy = Literal["triplets", "paths", "cypher"]

# Characters of a token of English, as models count them; budgets need no more.
_TOKEN_CHARS = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """One line of context. ``edges`` are what it was read from; a row of a query has none, but the query."""

    text: str
    strategy: Strategy
    edges: tuple[Edge, ...] = ()
    query: str = ""

    @property
    def section_ids(self) -> tuple[str, ...]:
        """The sections that state it, in order."""
        return tuple(dict.fromkeys(edge.section_id for edge in self.edges if edge.section_id))


@dataclass(slots=True)
class GraphContext:
    """Pieces of all strategies, in the order in which they were added, within ``max_tokens``."""

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
        """Add what is new and has room; returns how many pieces that were."""
        added = 0
        for piece in pieces:
            if piece.text in self._pieces:
                continue
            tokens = len(piece.text) // _TOKEN_CHARS + 1
            if self._tokens + tokens > self.max_tokens:
                self.truncated = True
                continue
            self._pieces[piece.text] = piece
            self._tokens += tokens
            added += 1
        return added
