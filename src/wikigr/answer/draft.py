"""The intermediate result between retrieval and the answer, and the stages that assess it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wikigr.answer.abstention import NO_ANSWER, Confidence, assess, assess_reading
from wikigr.answer.reading import ReaderOptions, read_sentences
from wikigr.answer.sentences import SentenceScore, rank_sentences
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.state import Resources, State
from wikigr.retrieval.trace import StageRecord


@dataclass(frozen=True, slots=True)
class Draft:
    """What retrieval found, its sentences (best first), and how confidently they answer the question."""

    state: State
    sentences: tuple[SentenceScore, ...] = ()
    confidence: Confidence = NO_ANSWER


def rank_draft(draft: Draft, resources: Resources, options: None, record: StageRecord) -> Draft:
    """Split the evidence into sentences and rank them."""
    ranked = rank_sentences(draft.state.evidence, draft.state.question, resources.pack.encoder)
    record.scored = len(ranked)
    record.ranking = tuple(dict.fromkeys(sentence.section.section_id for sentence in ranked))
    return replace(draft, sentences=tuple(ranked))


def read_draft(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Let the reader read the best sections; if there is none for the pack's encoder, say so once and go on.

    A question that asks what something is needs no short answer if the sentence that defines it was found.
    """
    if any(sentence.is_direct for sentence in draft.sentences):
        record.notes["skipped"] = "a definition was found"
        record.ranking = tuple(dict.fromkeys(s.section.section_id for s in draft.sentences))
        return draft
    try:
        reader = resources.pack.reader
    except NoReaderError as error:
        record.notes["reader"] = error.message
        record.warning = resources.once(error.message)
        return draft
    read = read_sentences(reader, draft.state.question, draft.sentences, options)
    record.scored = sum(sentence.span is not None for sentence in read)
    record.ranking = tuple(dict.fromkeys(s.section.section_id for s in read if s.span is not None))
    return replace(draft, sentences=tuple(read))


def assess_draft(draft: Draft, resources: Resources, options: None, record: StageRecord) -> Draft:
    """Decide whether the pack covers the question."""
    thresholds = resources.pack.manifest.thresholds
    evidence, sentences = draft.state.evidence, draft.sentences
    if sentences and sentences[0].span is not None:
        confidence = assess_reading(evidence, sentences, thresholds, resources.pack.reader.calibration)
    else:
        confidence = assess(evidence, sentences, thresholds)
    record.notes.update(confidence.parts)
    return replace(draft, confidence=confidence)
