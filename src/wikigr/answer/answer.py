"""The answer to a question, and everything it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field

from wikigr.answer.citations import Citation, Offset, StoredText
from wikigr.answer.probability import Level
from wikigr.index.candidate import Candidate, Evidence
from wikigr.llm.usage import Usage
from wikigr.options import Name, Share
from wikigr.reader.passage import ReaderName
from wikigr.retrieval.sentences import SentenceScore
from wikigr.retrieval.trace import Trace

# Values of ``Answer.query_type``: one for each strategy, and one for no answer.
EXTRACTIVE = "extractive"
SYNTHESIS = "synthesis"
OWN_KNOWLEDGE = "own_knowledge"
ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class AnswerHop:
    """One question on the way to an answer, its own ``answer``, and the citation ``n`` that contains it."""

    question: str
    answer: Name
    n: Offset
    probability: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleAnswer:
    """What an answer and its alternatives have in common.

    ``kind`` is a kind of ``wikigr.answer.candidates.table``, or empty for what a model wrote. ``confidence`` lies in
    [0, 1]. ``citations[i].n == i + 1``; the text refers to them as ``[1]``, ``[2]`` …, and each was checked against
    the database. ``span`` is the short answer, if there is one, and ``context`` the surroundings of the first citation.
    ``lead`` is what the text says before its quotations.
    """

    text: str
    confidence: float
    citations: tuple[Citation, ...] = ()
    kind: str = ""
    span: StoredText | None = None
    context: StoredText | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(PossibleAnswer):
    """An answer and everything it rests on.

    ``query_type`` names the strategy that wrote it: sentences were quoted (``extractive``), a model wrote from them
    (``synthesis``), the pack does not cover the question (``abstained``), or a model answered from its own memory,
    which the text says (``own_knowledge``). ``model`` is the one that was asked, if any. ``claims`` is the number of
    claims that it made, and ``unverified`` holds those that nothing supports; its text marks them. ``agrees`` says
    whether it gives the answer that was found without it, and ``rejected`` is what it wrote if that is not the answer.

    ``ranking`` holds all candidates, ``evidence`` the sections that were read. ``graph_context`` is what a search of
    the graph found, ``cypher_query`` the queries that it ran, in order. ``chain`` are the hops that lead to the short
    answer, if there are several. ``reader`` is the one that decided over the sentences and the confidence, or ``None``
    if none has read them. ``usage`` is what the model used for this answer.

    ``understood`` is the question that was answered, if words of it were corrected or dates filled in.

    ``level`` says in a word how sure the answer is. ``alternatives`` are the other answers that are shown with a
    likely one, best first, from other sections; without an answer and with one that is not sure, they are the passages
    of the nearest sections. ``cannot_list`` says that all of something is asked for, and these are just the sections.
    """

    question: str
    query_type: str
    trace: Trace
    evidence: tuple[Evidence, ...] = ()
    sentences: tuple[SentenceScore, ...] = ()
    ranking: tuple[Candidate, ...] = ()
    profile: str = ""
    unverified: tuple[str, ...] = ()
    claims: int = 0
    model: str = ""
    agrees: bool | None = None
    rejected: PossibleAnswer | None = None
    graph_context: tuple[str, ...] = ()
    cypher_query: str = ""
    chain: tuple[AnswerHop, ...] = ()
    reader: ReaderName | None = None
    understood: str = ""
    level: Level = "not_covered"
    cannot_list: bool = False
    alternatives: tuple[PossibleAnswer, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def abstained(self) -> bool:
        return self.query_type == ABSTAINED

    @property
    def sources(self) -> list[str]:
        """The titles of the cited articles, in order of citation."""
        return list(dict.fromkeys(citation.title for citation in self.citations))
