"""Answers of every level from stored text, for tests of what outputs show; no fitted model decides on their levels."""

from __future__ import annotations

from collections.abc import Sequence

from wikigr.answer.answer import EXTRACTIVE, Alternative, Answer, AnswerSpan
from wikigr.answer.candidates.candidate import Quotation
from wikigr.answer.extractive import as_text, quote
from wikigr.answer.probability import Level
from wikigr.answer.surroundings import Surroundings
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.retrieval.trace import Trace


def possible_answer(
    section: Section,
    *quotes: str,
    short: str = "",
    around: str = "",
    lead: str = "",
    kind: str = "span",
    confidence: float = 0.4,
) -> Alternative:
    """Return what quotes ``quotes`` of ``section``; ``short`` is in the first of them, and ``around`` contains it."""
    quotations = []
    for text in quotes:
        start = section.content.index(text)
        quotations.append(Quotation(section, start, start + len(text)))
    citations = quote(quotations)
    span = None
    if short:
        begin = citations[0].start + quotes[0].index(short)
        span = AnswerSpan(short, section.section_id, begin, begin + len(short))
    start = section.content.index(around or quotes[0])
    text = around or quotes[0]
    context = Surroundings(section.section_id, text, start, start + len(text))
    return Alternative(kind, as_text(citations, lead), confidence, citations, span, context)


def answer_of(
    level: Level, first: Alternative, others: Sequence[Alternative] = (), question: str = "?", *sections: Section
) -> Answer:
    """Return ``first`` as an answer of this level, with ``others`` as its alternatives."""
    return Answer(
        question=question,
        text=first.text,
        query_type=EXTRACTIVE,
        confidence=first.confidence,
        citations=first.citations,
        evidence=tuple(Evidence(section, Candidate(section.section_id, 1.0)) for section in sections),
        sentences=(),
        trace=Trace(),
        profile="enhanced",
        span=first.span,
        level=level,
        kind=first.kind,
        context=first.context,
        alternatives=tuple(others),
    )
