"""The answer to a question, and everything it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field

from wikigr.answer.citations import Citation
from wikigr.answer.probability import Level
from wikigr.answer.sentences import SentenceScore
from wikigr.answer.surroundings import Surroundings
from wikigr.index.candidate import Candidate, Evidence
from wikigr.llm.usage import Usage
from wikigr.reader.passage import ReaderName
from wikigr.retrieval.trace import Trace

# Values of ``Answer.query_type``: one for each strategy, and one for no answer.
EXTRACTIVE = "extractive"
SYNTHESIS = "synthesis"
OWN_KNOWLEDGE = "own_knowledge"
ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A short answer: ``text`` is exactly the characters ``start:end`` of the stored section ``section_id``."""

    text: str
    section_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerHop:
    """One question on the way to an answer, its own ``answer``, and the citation ``n`` that contains it."""

    question: str
    answer: str
    n: int
    probability: float


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another possible answer, from another section, of the same shape as the answer.

    ``kind`` is a kind of ``wikigr.answer.candidates.table``; ``citations`` are numbered from 1.
    """

    kind: str
    text: str
    confidence: float
    citations: tuple[Citation, ...]
    span: AnswerSpan | None = None
    context: Surroundings | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and everything it rests on.

    ``query_type`` names the strategy that wrote it: sentences were quoted (``extractive``), a model wrote from them
    (``synthesis``), the pack does not cover the question (``abstained``), or a model answered from its own memory,
    which the text says (``own_knowledge``). ``confidence`` lies in [0, 1]. ``citations[i].n == i + 1``; the text
    refers to them as ``[1]``, ``[2]`` …, and each was checked against the database. ``unverified`` holds the claims
    whose citations failed the check; the text marks them. ``ranking`` holds all candidates, ``evidence`` the sections
    that were read. ``graph_context`` is what a search of the graph found, ``cypher_query`` the queries that it ran, in
    order. ``span`` is the short answer, if there is one, and ``chain`` the hops that lead to it, if there are several.
    ``reader`` is the one that decided over the sentences and the confidence, or ``None`` if none has read them.
    ``usage`` is what the model used for this answer.

    ``level`` says in a word how sure the answer is, and ``kind`` which kind of candidate it is (empty for what a model
    wrote). ``context`` are the surroundings of the first citation. ``alternatives`` are the other answers that are
    shown with one that is not sure, best first.
    """

    question: str
    text: str
    query_type: str
    confidence: float
    citations: tuple[Citation, ...]
    evidence: tuple[Evidence, ...]
    sentences: tuple[SentenceScore, ...]
    trace: Trace
    ranking: tuple[Candidate, ...] = ()
    profile: str = ""
    unverified: tuple[str, ...] = ()
    model: str = ""
    graph_context: tuple[str, ...] = ()
    cypher_query: str = ""
    span: AnswerSpan | None = None
    chain: tuple[AnswerHop, ...] = ()
    reader: ReaderName | None = None
    level: Level = "not_covered"
    kind: str = ""
    context: Surroundings | None = None
    alternatives: tuple[Alternative, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def abstained(self) -> bool:
        return self.query_type == ABSTAINED

    @property
    def sources(self) -> list[str]:
        """The titles of the cited articles, in order of citation."""
        return list(dict.fromkeys(citation.title for citation in self.citations))
