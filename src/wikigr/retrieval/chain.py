"""What leads to an answer: hops that were read, the facts along a relation path, what a search of the graph found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from wikigr.graph.neighborhood import Edge, Node
from wikigr.index.candidate import Section
from wikigr.reader.passage import Span


@dataclass(frozen=True, slots=True)
class Hop:
    """One question of a chain, and the answer that the reader found.

    ``span`` is the answer in the sentence ``section.content[start:end]``; ``name`` is how the next question calls it,
    and ``known`` whether something in the pack has that name. ``probability`` is in [0, 1].
    """

    question: str
    name: str
    section: Section
    start: int
    end: int
    span: Span
    known: bool
    probability: float

    @property
    def place(self) -> tuple[str, int]:
        """The section id and the start of the sentence, which identify it in its pack."""
        return self.section.section_id, self.start

    @property
    def answer(self) -> str:
        """The answer as the section has it."""
        return self.section.content[self.span.start : self.span.end]


@dataclass(frozen=True, slots=True)
class Chain:
    """At least one hop; each asks about the answer of the one before, and the last one answers the question.

    ``is_clause`` says whether the question describes what it asks about in a relative clause or compares, rather than
    in a noun phrase, which a single section may answer just as well. If it compares (``is_comparison``), the answer is
    not what the last hop found, but the name of the thing; ``named`` is the name in the sentence, if it is there.
    """

    hops: tuple[Hop, ...]
    is_clause: bool = True
    is_comparison: bool = False
    named: Span | None = None

    @property
    def probability(self) -> float:
        """The product of the hops' probabilities, in [0, 1]: that all of them are right, if they were independent."""
        return math.prod(hop.probability for hop in self.hops)

    @property
    def strength(self) -> float:
        """The geometric mean of the hops' probabilities, in [0, 1], which is comparable to that of a single hop."""
        return float(self.probability ** (1.0 / len(self.hops)))

    @property
    def last(self) -> Hop:
        return self.hops[-1]

    @property
    def short_answer(self) -> Span | None:
        """The short answer in the sentence of the last hop, or ``None`` if that sentence does not contain it."""
        return self.named if self.is_comparison else self.last.span

    def __str__(self) -> str:
        """The answers, in order."""
        return " → ".join(hop.name for hop in self.hops)


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


@dataclass(slots=True)
class GraphContext:
    """Distinct lines from all strategies with the edges that they verbalize, within a budget of ``max_tokens``."""

    max_tokens: int
    truncated: bool = False
    _edges: dict[str, tuple[Edge, ...]] = field(default_factory=dict)
    _tokens: int = 0

    @property
    def lines(self) -> list[str]:
        """The lines, in the order in which they were added."""
        return list(self._edges)

    @property
    def edges(self) -> list[Edge]:
        """The edges of all lines, in order."""
        return [edge for edges in self._edges.values() for edge in edges]

    def add(self, line: str, edges: tuple[Edge, ...] = ()) -> None:
        """Add ``line`` if it is new and fits the budget."""
        # Characters per token of English text. A rough estimate is enough for a budget.
        tokens = len(line) // 4 + 1
        if line in self._edges:
            return
        if self._tokens + tokens > self.max_tokens:
            self.truncated = True
            return
        self._edges[line] = edges
        self._tokens += tokens


StopReason = Literal["finish", "no_progress", "iterations", "budget", "failed"]


@dataclass(frozen=True, slots=True)
class Exploration:
    """The context, the executed queries and the explored nodes, in order.

    ``iterations`` counts the iterations that looked something up. ``chain`` holds the facts that lead from a node of
    the question to the most likely answer.
    """

    context: GraphContext
    explored: tuple[Node, ...]
    queries: tuple[str, ...]
    chain: tuple[Edge, ...]
    stop_reason: StopReason
    iterations: int

    @property
    def facts(self) -> tuple[Edge, ...]:
        """The facts that a section states: those of the chain first, then the others in the order found."""
        return tuple(dict.fromkeys(edge for edge in (*self.chain, *self.context.edges) if edge.section_id))
