"""The intermediate result between retrieval and the answer, and the stages that assess it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wikigr.answer.abstention import NO_ANSWER, Confidence, assess
from wikigr.answer.sentences import SentenceScore, rank_sentences
from wikigr.retrieval.state import Resources, State
from wikigr.retrieval.trace import StageRecord


@dataclass(frozen=True, slots=True)
class Draft:
    """What retrieval found, its sentences (best first), and how confidently they answer the question."""

    state: State
    sentences: tuple[SentenceScore, ...] = ()
    confidence: Confidence = NO_ANSWER


def rank_draft(draft: Draft, resources: Resources, record: StageRecord) -> Draft:
    """Split the evidence into sentences and rank them."""
    ranked = rank_sentences(draft.state.evidence, draft.state.question, resources.pack.encoder)
    record.scored = len(ranked)
    record.ranking = tuple(dict.fromkeys(sentence.section.section_id for sentence in ranked))
    return replace(draft, sentences=tuple(ranked))


def assess_draft(draft: Draft, resources: Resources, record: StageRecord) -> Draft:
    """Decide whether the pack covers the question."""
    confidence = assess(draft.state.evidence, draft.sentences, resources.pack.manifest.thresholds)
    record.notes.update(confidence.parts)
    return replace(draft, confidence=confidence)
