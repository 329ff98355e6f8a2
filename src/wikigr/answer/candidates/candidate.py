"""A possible answer of any kind, and what the kinds are found in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from wikigr.answer.candidates.grid import Asked, Grid, grids_of
from wikigr.index.candidate import Evidence, Section
from wikigr.pack.open import Corpus
from wikigr.question.question import Question
from wikigr.reader.passage import Span
from wikigr.retrieval.chain import Chain, Hop
from wikigr.retrieval.reading import TwoParts
from wikigr.retrieval.sentences import SentenceScore
from wikigr.retrieval.state import State

# A longer part of a section is not one quotation.
MAX_CHARS = 1_600
# The kinds that no quotation states by itself.
DERIVED = frozenset(("collected", "elapsed"))


@dataclass(frozen=True, slots=True)
class Quotation:
    """The characters ``section.content[start:end]``, which an answer quotes."""

    section: Section
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.section.content[self.start : self.end]

    @property
    def before(self) -> str:
        """The part of its paragraph that stands before it."""
        content = self.section.content
        return content[content.rfind("\n\n", 0, self.start) + 1 : self.start]

    @property
    def place(self) -> tuple[str, int]:
        """The section id and the start, which identify the quotation in its pack."""
        return self.section.section_id, self.start

    def is_within(self, section_id: str, start: int, end: int) -> bool:
        """Return whether the quotation lies in the characters ``start`` to ``end`` of a section."""
        return self.section.section_id == section_id and start <= self.start and self.end <= end


def quotation_of(sentence: SentenceScore) -> Quotation:
    """Return the whole of ``sentence`` as a quotation."""
    return Quotation(sentence.section, sentence.start, sentence.end)


def span_in(sentence: SentenceScore, start: int, end: int) -> Span:
    """Return the characters ``start`` to ``end`` of ``sentence`` as a short answer, with its margin if it was read."""
    margin = sentence.span.margin if sentence.span is not None else 0.0
    return Span(sentence.start + start, sentence.start + end, margin)


@dataclass(frozen=True, slots=True)
class AnswerCandidate:
    """A possible answer of one ``kind``.

    ``quotations`` state it, in order; there is at least one. ``span`` is the short answer within the first of them, if
    a few words answer. ``lead`` is text before the quotations, and ``hops`` lead to the answer if several do. ``fit``
    in [0, 1] is how well the question fits this kind of answer. ``probability`` in [0, 1] is that of being right, as
    ``wikigr.answer.probability`` gives it.
    """

    kind: str
    quotations: tuple[Quotation, ...]
    span: Span | None = None
    lead: str = ""
    hops: tuple[Hop, ...] = ()
    fit: float = 0.0
    probability: float = 0.0

    @property
    def section(self) -> Section:
        """The section of the first quotation."""
        return self.quotations[0].section

    @property
    def short(self) -> str:
        """The short answer, or nothing."""
        return self.section.content[self.span.start : self.span.end] if self.span is not None else ""

    @property
    def text(self) -> str:
        """Everything that it states, as text."""
        return "\n".join(filter(None, (self.lead, *(quotation.text for quotation in self.quotations))))


@dataclass(frozen=True)
class Material:
    """What was found for a question, in which the kinds look for answers.

    ``sentences`` are those of the evidence, best first; if the reader has read them, they have spans. ``state`` is that
    of the retrieval. ``parts`` is what was read for each part of a question that has two. ``similarity`` returns the
    cosines of texts with the question. ``whole`` are the ids of the sections whose tables are whole in the evidence.
    ``pack`` is where more is looked up for lists over a whole pack.
    """

    state: State
    sentences: Sequence[SentenceScore]
    similarity: Callable[[Sequence[str]], Sequence[float]]
    parts: TwoParts | None = None
    whole: frozenset[str] = frozenset()
    pack: Corpus | None = None
    _place_stems: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    @property
    def question(self) -> Question:
        return self.state.question

    @property
    def evidence(self) -> Sequence[Evidence]:
        return self.state.evidence

    @property
    def chains(self) -> Sequence[Chain]:
        return self.state.chains

    @cached_property
    def by_section(self) -> dict[str, list[SentenceScore]]:
        """The sentences of each section in the order of the text, by section id."""
        found: dict[str, list[SentenceScore]] = {item.section.section_id: [] for item in self.evidence}
        for sentence in self.sentences:
            found.setdefault(sentence.section.section_id, []).append(sentence)
        for own in found.values():
            own.sort(key=lambda sentence: sentence.start)
        return found

    @cached_property
    def statements(self) -> list[SentenceScore]:
        """The sentences, best first, without questions, which do not answer."""
        return [sentence for sentence in self.sentences if not sentence.text.rstrip().endswith("?")]

    @cached_property
    def asked(self) -> Asked:
        """What the question names, as values of tables are compared with it."""
        return Asked.by(self.question)

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        """The tables and the properties of the evidence."""
        return tuple(grids_of(self.by_section.values()))

    def place_stems(self, section: Section) -> frozenset[str]:
        """Return the stems of the title and the heading of ``section``."""
        if section.section_id not in self._place_stems:
            self._place_stems[section.section_id] = frozenset(self.question.stems(f"{section.title} {section.heading}"))
        return self._place_stems[section.section_id]

    def within(self, section: Section, start: int, end: int) -> list[SentenceScore]:
        """Return the sentences of ``section`` that begin between the characters ``start`` and ``end``, in order."""
        return [s for s in self.by_section.get(section.section_id, ()) if start <= s.start < end]


def share_named(question: Question, text: str) -> float:
    """Return the share of the stems of ``text`` that ``question`` names, in [0, 1]."""
    own = set(question.stems(text))
    return len(own & question.weights.keys()) / len(own) if own else 0.0
