"""An answer without a language model: the best sentences of the best sections, quoted and cited."""

from __future__ import annotations

from dataclasses import dataclass

from wikigr.answer.abstention import Confidence, judge
from wikigr.answer.citations import Citation, verify
from wikigr.answer.question_terms import read_question
from wikigr.answer.sentences import SentenceScore, rank_sentences
from wikigr.pack.open import Pack
from wikigr.retrieval.candidate import Evidence
from wikigr.retrieval.hybrid import retrieve
from wikigr.retrieval.trace import Trace
from wikigr.text import scrub

# Sections whose sentences are considered, and sentences in an answer.
SECTIONS = 10
MAX_SENTENCES = 3
# A further sentence must come this near to the best one's score, or it is padding.
SENTENCE_FLOOR = 0.75

NOT_COVERED = "The pack does not cover this."


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and everything it stands on.

    ``query_type`` says what happened: ``"extractive"`` or ``"abstained"``. ``confidence`` lies in [0, 1].
    ``citations[i].n == i + 1``, and the text refers to them as ``[1]``, ``[2]`` ….
    """

    question: str
    text: str
    abstained: bool
    confidence: float
    query_type: str
    citations: tuple[Citation, ...]
    evidence: tuple[Evidence, ...]
    sentences: tuple[SentenceScore, ...]
    trace: Trace

    @property
    def sources(self) -> list[str]:
        """The titles of the cited articles, in order of citation."""
        return list(dict.fromkeys(citation.title for citation in self.citations))


def answer_question(pack: Pack, question: str) -> Answer:
    """Answer ``question`` from ``pack``, or say that the pack does not cover it.

    Raises ``UsageError`` for an empty question, ``CitationError`` when a quotation does not match its section.
    """
    question = scrub(question)
    trace = Trace()
    evidence = retrieve(pack, question, top_k=SECTIONS, trace=trace)
    with trace.stage("sentences") as record:
        terms = read_question(question, pack.lexical)
        ranked = rank_sentences(evidence, question, terms, pack.encoder)
        record.scored = len(ranked)
        floor = SENTENCE_FLOOR * ranked[0].score if ranked else 0.0
        chosen = [sentence for sentence in ranked[:MAX_SENTENCES] if sentence.score >= floor]
        record.dropped = {
            f"{s.section.section_id}[{s.start}:{s.end}]": f"below the best {MAX_SENTENCES}, or far below the first"
            for s in ranked[len(chosen) :]
        }
    with trace.stage("abstention") as record:
        confidence: Confidence = judge(evidence, ranked, pack.manifest.thresholds)
        record.notes.update(confidence.parts)
    if confidence.abstain:
        return Answer(
            question,
            NOT_COVERED,
            True,
            confidence.value,
            "abstained",
            (),
            tuple(evidence),
            tuple(ranked),
            trace,
        )
    with trace.stage("citations"):
        citations = tuple(
            Citation(
                n=n,
                title=s.section.title,
                section_id=s.section.section_id,
                heading=s.section.heading,
                source_id=s.section.source_id,
                quote=s.text,
                start=s.start,
                end=s.end,
            )
            for n, s in enumerate(chosen, start=1)
        )
        # Against the database, not against what this process already holds.
        verify(citations, pack.sections(list(dict.fromkeys(c.section_id for c in citations))))
    text = " ".join(f"{' '.join(c.quote.split())} [{c.n}]" for c in citations)
    return Answer(
        question,
        text,
        False,
        confidence.value,
        "extractive",
        citations,
        tuple(evidence),
        tuple(ranked),
        trace,
    )
