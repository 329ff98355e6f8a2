"""Evidence made up for tests, its sentences ranked with the real encoder, and the answers that are found in it."""

from __future__ import annotations

from wikigr.answer.candidates.candidate import AnswerCandidate, Material
from wikigr.answer.candidates.table import find_candidates
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.pack.open import Pack
from wikigr.question.question import analyze
from wikigr.retrieval.sentences import SentenceScore, rank_sentences
from wikigr.retrieval.state import State


def evidence(section_id: str, content: str, score: float, heading: str = "Introduction") -> Evidence:
    title = section_id.split("#")[0]
    section = Section(section_id, title, heading, content, title, int(section_id.split("#")[1]))
    return Evidence(section, Candidate(section_id, score, {"dense": score}))


def ranked(pack: Pack, question: str, *items: Evidence) -> list[SentenceScore]:
    return rank_sentences(items, analyze(question, pack.lexical, pack.encoder.encode), pack.encoder)


def material(pack: Pack, question: str, *items: Evidence) -> Material:
    """Return what kinds of answers are looked for in; no reader has read it."""
    analyzed = analyze(question, pack.lexical, pack.encoder.encode)
    state = State(analyzed, len(items), 0, wordings=(analyzed,), evidence=items)
    return Material(state, tuple(rank_sentences(items, analyzed, None)), analyzed.similarity)


def candidates(pack: Pack, kind: str, question: str, *items: Evidence) -> list[AnswerCandidate]:
    """Return the answers of one kind."""
    return [found for found in find_candidates(material(pack, question, *items)) if found.kind == kind]
