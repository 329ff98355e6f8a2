"""Search for chains: answer the description in a question, then ask about each answer; a beam search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Protocol

from wikigr.graph_search.hops.comparing import choose, may_describe
from wikigr.graph_search.hops.one_hop import Reading, is_about
from wikigr.index.candidate import Candidate
from wikigr.options import Limits, Options, Positive
from wikigr.question.comparison import Comparison, compare
from wikigr.question.decomposition import Decomposition, decompose
from wikigr.retrieval.chain import Chain, Hop
from wikigr.text import fold

_Beam = Annotated[int, Limits(ge=1, le=4)]
_Seconds = Annotated[float, Limits(gt=0.0)]
_MaxHops = Annotated[int, Limits(ge=2, le=3)]


@dataclass(frozen=True, slots=True)
class HopsOptions(Options):
    """Reading a description in the question first, and then asking about what it describes."""

    section: ClassVar[str] = "hops"

    enabled: Annotated[bool, "first find what the question only describes, then ask about it; needs the reader"] = True
    max_hops: Annotated[_MaxHops, "questions in a chain at most"] = 3
    beam: Annotated[_Beam, "answers of a question that are followed at most"] = 3
    max_questions: Annotated[Positive, "further questions that are read at most, about 60 ms each"] = 8
    # The number of questions is the bound that matters: answers must not depend on how busy the machine is.
    seconds: Annotated[_Seconds, "time after which no further question is read; for very slow machines"] = 10.0


class Read(Protocol):
    """Returns what was found for a question, with at most ``limit`` answers."""

    def __call__(self, question: str, *, limit: int) -> Reading: ...


@dataclass(frozen=True, slots=True)
class Search:
    """A further question that was searched for; ``weight``, in (0, 1], is how likely it is the right one to ask."""

    question: str
    candidates: Sequence[Candidate]
    weight: float


@dataclass(slots=True)
class ChainSearch:
    """Asks at most ``max_questions`` different questions, each once, and none after the time in ``options``.

    ``searches`` are those that were asked, in order. ``out_of_questions`` and ``out_of_time`` say whether that limit
    left questions unasked.
    """

    read: Read
    options: HopsOptions
    clock: Callable[[], float]
    deadline: float = field(init=False)
    readings: dict[str, Reading] = field(default_factory=dict, init=False)
    searches: dict[str, Search] = field(default_factory=dict, init=False)
    out_of_questions: bool = field(default=False, init=False)
    out_of_time: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.deadline = self.clock() + self.options.seconds

    def chains(self, comparison: Comparison | None, decompositions: Sequence[Decomposition]) -> tuple[Chain, ...]:
        """Return chains for a question that compares two things, or else can be decomposed, the likeliest first."""
        if comparison is None:
            return tuple(_best(self.follow(decompositions, self.options.max_hops, 1.0), self.options.beam))
        chosen = choose(comparison, self.ask)
        return () if chosen is None else (chosen,)

    def follow(self, decompositions: Sequence[Decomposition], hops: int, weight: float) -> list[Chain]:
        """Return chains of two to ``hops`` hops; ``weight`` is that of the question that was decomposed."""
        chains: list[Chain] = []
        for decomposition in decompositions:
            described = self._describe(decomposition, hops - 1, weight)
            for start in described:
                worth = _worth(start) / _worth(described[0])
                # Once there is a chain, answers worth less than this share of the best one are not asked about: the
                # first result of such a search ranks below some sixty results of the question itself.
                if chains and worth < 0.1:
                    break
                answers = self.ask(decomposition.ask_about(start.last.name), weight * worth)
                chains += [
                    Chain((*start.hops, answer), decomposition.is_clause)
                    for answer in answers
                    if is_about(answer.section, start.last.name) and answer.name != start.last.name
                ]
            if chains:
                break
        return chains

    def _describe(self, decomposition: Decomposition, hops: int, weight: float) -> list[Chain]:
        """Return chains to what is described, of one to ``hops`` hops."""
        comparison = compare(decomposition.description)
        if comparison is not None:
            chosen = choose(comparison, self.ask)
            return [chosen] if chosen is not None else []
        answers = self.ask(decomposition.description, weight)
        chains = [Chain((answer,)) for answer in answers if may_describe(decomposition.description, answer.name)]
        inner = decompose(decomposition.description) if hops > 1 else ()
        chains = [*chains, *self.follow(inner, hops, weight)]
        return sorted(_best(chains, 2 * self.options.beam), key=_worth, reverse=True)[: self.options.beam]

    def ask(self, question: str, weight: float = 1.0) -> tuple[Hop, ...]:
        """Return the answers to ``question``, or none if too much was asked before it."""
        if question not in self.readings:
            self.out_of_questions = self.out_of_questions or len(self.readings) == self.options.max_questions
            self.out_of_time = self.out_of_time or self.clock() >= self.deadline
            if self.out_of_questions or self.out_of_time:
                return ()
            self.readings[question] = self.read(question, limit=self.options.beam)
            self.searches[question] = Search(question, self.readings[question].candidates, weight)
        return self.readings[question].answers


def _worth(chain: Chain) -> float:
    """Return how much it is worth to ask about the end of ``chain``."""
    # It is worth less to ask about what nothing in the pack is called.
    return chain.probability * (1.0 if chain.last.known else 0.6)


def _best(chains: Sequence[Chain], limit: int) -> list[Chain]:
    """Return the likeliest chain to each answer, the likeliest first, at most ``limit``."""
    best: dict[str, Chain] = {}
    for chain in sorted(chains, key=lambda chain: -chain.probability):
        best.setdefault(fold(chain.last.name), chain)
    return list(best.values())[:limit]
