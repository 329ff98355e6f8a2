"""Evidence made up for tests, its sentences ranked with the real encoder, and the answers that are found in it."""

from __future__ import annotations

from collections.abc import Iterable

from wikigr.answer.candidates.candidate import AnswerCandidate, Material
from wikigr.answer.candidates.table import find_candidates
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.index.stored_blocks import encode_blocks
from wikigr.pack.open import Pack
from wikigr.question.question import analyze
from wikigr.retrieval.sentences import SentenceScore, rank_sentences
from wikigr.retrieval.state import State
from wikigr.sources.block import Block, fill_paragraphs
from wikigr.sources.documents import NoteRecord
from wikigr.sources.markdown.source import MarkdownConverter


def evidence(
    section_id: str, content: str, score: float, heading: str = "Introduction", blocks: Iterable[Block] = ()
) -> Evidence:
    title, _, position = section_id.rpartition("#")
    stored = encode_blocks(content, fill_paragraphs(content, blocks))
    section = Section(section_id, title, heading, content, title, int(position), stored)
    return Evidence(section, Candidate(section_id, score, {"dense": score}))


def from_markdown(section_id: str, text: str, score: float = 0.9) -> Evidence:
    """Return the first section that a note of this text has."""
    (section, *_) = MarkdownConverter().parse_note(NoteRecord("note.md", text.encode(), "Note")).sections
    return evidence(section_id, section.text, score, blocks=section.blocks)


def ranked(pack: Pack, question: str, *items: Evidence) -> list[SentenceScore]:
    return rank_sentences(items, analyze(question, pack.lexical, pack.encoder.encode), pack.encoder)


def material(pack: Pack, question: str, *items: Evidence) -> Material:
    """Return what kinds of answers are looked for in; no reader has read it, and all tables are whole."""
    analyzed = analyze(question, pack.lexical, pack.encoder.encode)
    state = State(analyzed, len(items), 0, wordings=(analyzed,), evidence=items)
    whole = frozenset(item.section.section_id for item in items)
    return Material(state, tuple(rank_sentences(items, analyzed, None)), analyzed.similarity, whole=whole)


def candidates(pack: Pack, kind: str, question: str, *items: Evidence) -> list[AnswerCandidate]:
    """Return the answers of one kind."""
    return [found for found in find_candidates(material(pack, question, *items)) if found.kind == kind]
