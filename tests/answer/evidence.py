"""Evidence made up for tests, and its sentences ranked with the real encoder."""

from __future__ import annotations

from wikigr.answer.sentences import SentenceScore, rank_sentences
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.pack.open import Pack
from wikigr.question.question import analyze


def evidence(section_id: str, content: str, score: float, heading: str = "Introduction") -> Evidence:
    title = section_id.split("#")[0]
    section = Section(section_id, title, heading, content, title, int(section_id.split("#")[1]))
    return Evidence(section, Candidate(section_id, score, {"dense": score}))


def ranked(pack: Pack, question: str, *items: Evidence) -> list[SentenceScore]:
    return rank_sentences(items, analyze(question, pack.lexical, pack.encoder.encode), pack.encoder)
