"""Answers of every level from stored text, for tests of what outputs show; no fitted model decides on their levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wikigr.answer.answer import EXTRACTIVE, Answer, PossibleAnswer
from wikigr.answer.candidates.candidate import Quotation
from wikigr.answer.citations import StoredText
from wikigr.answer.extractive import as_text, quote
from wikigr.answer.probability import Level
from wikigr.answer.stages import Draft
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.index.stored_blocks import encode_blocks
from wikigr.pack.open import Corpus
from wikigr.pipeline import pipeline
from wikigr.pipeline.strategies import OnText, Strategy, Writers
from wikigr.retrieval.trace import Trace
from wikigr.sources.documents import NoteRecord
from wikigr.sources.markdown.source import MarkdownConverter

# Text of the demo pack: a sentence with a short answer and the one before it, and two answers from other sections.
BEFORE = "Werner Heisenberg wrote, at the age of twenty-three, the paper that began modern quantum mechanics."
BORN = "Born in Würzburg on 5 December 1901, he grew up in Munich and died in that city on 1 February 1976."
BOHR = "He was born in Copenhagen on 7 October 1885 and died there on 18 November 1962."
PLANCK = "Max Planck was a German theoretical physicist, born in Kiel on 23 April 1858,"


def possible_answer(
    section: Section,
    *quotes: str,
    short: str = "",
    around: str = "",
    lead: str = "",
    kind: str = "span",
    confidence: float = 0.4,
) -> PossibleAnswer:
    """Return what quotes ``quotes`` of ``section``; ``short`` is in the first of them, and ``around`` contains it."""
    quotations = []
    for text in quotes:
        start = section.content.index(text)
        quotations.append(Quotation(section, start, start + len(text)))
    citations = quote(quotations)
    span = None
    if short:
        begin = citations[0].start + quotes[0].index(short)
        span = StoredText(short, section.section_id, begin, begin + len(short))
    start = section.content.index(around or quotes[0])
    text = around or quotes[0]
    context = StoredText(text, section.section_id, start, start + len(text))
    return PossibleAnswer(
        text=as_text(quotations, lead),
        confidence=confidence,
        citations=citations,
        kind=kind,
        span=span,
        context=context,
        lead=lead,
    )


def section_of(markdown: str) -> Section:
    """Return the section that this Markdown is."""
    (read,) = MarkdownConverter().parse_note(NoteRecord("notes.md", markdown.encode(), "Notes")).sections
    blocks = encode_blocks(read.text, read.blocks)
    return Section("Notes#0", "Notes", "Ferns", read.text, "notes.md", 0, blocks)


def answer_of(
    level: Level,
    first: PossibleAnswer,
    *others: PossibleAnswer,
    question: str = "?",
    section: Section | None = None,
) -> Answer:
    """Return ``first`` as an answer of this level, with ``others`` as its alternatives; ``section`` was read for it."""
    return Answer(
        question=question,
        text=first.text,
        query_type=EXTRACTIVE,
        confidence=first.confidence,
        citations=first.citations,
        trace=Trace(),
        span=first.span,
        level=level,
        kind=first.kind,
        context=first.context,
        alternatives=others,
        evidence=() if section is None else (Evidence(section, Candidate(section.section_id, 1.0)),),
    )


def demo_answer(pack: Corpus, level: Level, question: str = "?") -> Answer:
    """Return an answer from the demo pack; it has two alternatives unless it is sure."""
    names = ("Werner Heisenberg#0", "Niels Bohr#0", "Max Planck#0")
    heisenberg, bohr, planck = (pack.sections(names)[name] for name in names)
    first = possible_answer(heisenberg, BORN, short="Würzburg", around=f"{BEFORE} {BORN}", confidence=0.61)
    others = (
        possible_answer(bohr, BOHR, short="Copenhagen", kind="fact", confidence=0.3),
        possible_answer(planck, PLANCK, confidence=0.2),
    )
    return answer_of(level, first, *(() if level == "sure" else others), question=question)


def answer_everything(monkeypatch: pytest.MonkeyPatch, level: Level) -> None:
    """Let every pipeline over the demo pack give its ``demo_answer``, whatever the question."""

    def write(writers: Writers, draft: Draft, answer: Answer, on_text: OnText | None) -> Answer:
        made = demo_answer(writers.resources.pack, level)
        shown = (
            "text",
            "query_type",
            "confidence",
            "citations",
            "span",
            "level",
            "kind",
            "context",
            "alternatives",
            "lead",
        )
        return replace(answer, **{name: getattr(made, name) for name in shown})

    monkeypatch.setattr(pipeline, "STRATEGIES", (Strategy(EXTRACTIVE, lambda *_: True, write),))
