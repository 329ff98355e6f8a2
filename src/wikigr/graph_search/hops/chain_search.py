"""Search for chains: answer the description in a question, then ask about each answer; a beam search."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Protocol

from wikigr.graph_search.hops.one_hop import Reading, contains, is_about
from wikigr.index.candidate import Candidate, Section
from wikigr.index.lexical import stems
from wikigr.options import Limits, Options, Positive
from wikigr.question.comparison import Comparison, compare
from wikigr.question.decomposition import Decomposition, decompose
from wikigr.question.grammar import MONTHS
from wikigr.retrieval.chain import Chain, Hop
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import fold, words

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


_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_YEAR = re.compile(r"(?<![\d.,])(\d{3,4})(?:s\b|(?![\d.,]*\d))\s*(B\.?C(?:\.|E?\b))?")
_DAY_MONTH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+)?({_MONTH})\b\.?(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?", re.I
)
_NUMBER = re.compile(
    r"(?<![\w.])(\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s*(thousand|million|billion|trillion)\b)?"
)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
# What is described by "the year in which …" is a value; other things have names.
_VALUE_NOUNS = frozenset("amount century date day decade month number time year".split())
# "one" is rarely a number.
_WORDS = (
    "zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_WORD = re.compile(rf"\b(?:{'|'.join(word for word in _WORDS if word.isalpha())})\b", re.I)


def date_in(text: str) -> tuple[int, int, int] | None:
    """Return year, month and day of the first date in ``text``, 0 for what is not said; years B.C. are negative."""
    year = _YEAR.search(text)
    if year is None:
        return None
    value = -int(year[1]) if year[2] else int(year[1])
    near = _DAY_MONTH.search(text)
    if near is None:
        return value, 0, 0
    month = next(n for n, name in enumerate(MONTHS, start=1) if name.startswith(near[2][:3].capitalize()))
    return value, month, int(near[1] or near[3] or 0)


def number_in(text: str) -> float | None:
    """Return the first number in ``text``, with thousands separators or up to twenty in words."""
    digits, word = _NUMBER.search(text), _WORD.search(text)
    if digits is not None and (word is None or digits.start() < word.start()):
        return float(re.sub(r"[, ]", "", digits[1])) * _SCALES.get(digits[2] or "", 1.0)
    return float(_WORDS.index(word[0].lower())) if word is not None else None


def may_describe(question: str, name: str) -> bool:
    """Return whether ``question`` may be about something of this ``name``: no person or thing is called "1925"."""
    is_name = any(character.isalpha() for character in _DAY_MONTH.sub("", name))
    return is_name or not _VALUE_NOUNS.isdisjoint(words(question))


_Value = float | tuple[int, int, int]


def choose(comparison: Comparison, ask: Callable[[str], Sequence[Hop]]) -> Chain | None:
    """Return the chain that ends with the sentence about the thing that the question asks for.

    ``None`` unless the pack gives a value for both things, in sections that name them, and one value is greater.
    """
    found = [_measure(comparison, name, ask) for name in (comparison.first, comparison.second)]
    valued = [item for item in found if item is not None]
    if len(valued) < 2:
        return None
    (one, _), (two, _) = valued
    is_known = one != two
    if isinstance(one, tuple) and isinstance(two, tuple):
        # 1885 is neither before nor after October 1885.
        is_known = next((0 not in pair for pair in zip(one, two, strict=True) if pair[0] != pair[1]), False)
    if not is_known:
        return None
    # The chosen one comes last: it answers the question.
    (_, other), (_, chosen) = sorted(valued, key=lambda item: item[0], reverse=comparison.lowest)
    # The characters of its name in its sentence, if they are there.
    bare = chosen.name.removeprefix("the ").removeprefix("The ")
    place = chosen.section.content.find(bare, chosen.start, chosen.end)
    named = replace(chosen.span, start=place, end=place + len(bare)) if place >= 0 else None
    return Chain((other, chosen), is_comparison=True, named=named)


def _measure(comparison: Comparison, name: str, ask: Callable[[str], Sequence[Hop]]) -> tuple[_Value, Hop] | None:
    value_in: Callable[[str], _Value | None] = date_in if comparison.measure == "date" else number_in
    for hop in ask(comparison.ask_about(name)):
        value = value_in(hop.answer)
        if value is not None and _names(hop.section, name):
            return value, replace(hop, name=name)
    return None


def _names(section: Section, name: str) -> bool:
    """Return whether ``section`` contains the whole ``name``: the last word alone may be of another person's name."""
    named = _name_stems(name)
    return any(contains(_name_stems(text), named) for text in (section.title, section.content))


def _name_stems(text: str) -> list[str]:
    return stems(" ".join(word for word in words(text) if word not in FUNCTION_WORDS))
