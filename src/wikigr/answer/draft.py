"""The intermediate result between retrieval and the answer, and the stages that assess it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wikigr.answer.abstention import NO_ANSWER, THRESHOLD_NAME, Confidence, assess
from wikigr.answer.candidates.candidate import AnswerCandidate, Material
from wikigr.answer.candidates.table import find_candidates
from wikigr.answer.parts import TwoParts, read_two_parts
from wikigr.answer.probability import (
    WITH_READER,
    WITHOUT_READER,
    AnswerModel,
    Level,
    answer_models,
    rank_candidates,
)
from wikigr.answer.reading import read_sentences
from wikigr.answer.sentences import SentenceScore, rank_sentences
from wikigr.pack.open import Pack
from wikigr.question.question import Question
from wikigr.reader.options import ReaderOptions
from wikigr.reader.passage import SMALL, ReaderName
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.state import Resources, State
from wikigr.retrieval.trace import StageRecord

if TYPE_CHECKING:
    from wikigr.reader.reader import Reader

# The names of stages in traces.
READER = "reader"
ANSWERS = "answers"
# Answers whose kind and probability the trace has.
_MAX_NOTED = 5


@dataclass(frozen=True, slots=True)
class Draft:
    """What retrieval found, its sentences and the answers in them (both best first), and how sure the first answer is.

    ``reader`` is the one whose margins the sentences have, if one has read. ``parts`` is what was read for each part of
    a question that has two.
    """

    state: State
    sentences: tuple[SentenceScore, ...] = ()
    reader: ReaderName | None = None
    parts: TwoParts | None = None
    answers: tuple[AnswerCandidate, ...] = ()
    confidence: Confidence = NO_ANSWER


def rank_draft(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Split the evidence into sentences and rank them; by vectors as well, unless the reader reads them."""
    pack = resources.pack
    encoder = pack.encoder if not options.enabled or isinstance(_reader(pack), NoReaderError) else None
    ranked = rank_sentences(draft.state.evidence, draft.state.question, encoder)
    record.scored = len(ranked)
    record.ranking = _sections(ranked)
    return replace(draft, sentences=tuple(ranked))


def read_draft(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Let the reader read the best sections.

    Without a reader for the pack's encoder, the stage is skipped, which one question says and all of them record.
    """
    record.ranking = _sections(draft.sentences)
    reader = _reader(resources.pack)
    if isinstance(reader, NoReaderError):
        resources.skip_without_reader(record, reader)
        return draft

    def read(question: Question, sentences: Sequence[SentenceScore]) -> list[SentenceScore]:
        return read_sentences(reader, question, draft.state.evidence, sentences, options)

    question = draft.state.question
    sentences = read(question, draft.sentences)
    parts = read_two_parts(question, lambda part: read(part, sentences))
    if parts is not None:
        record.notes["parts"] = [sentence.text for sentence in parts.stating]
    record.scored = sum(sentence.span is not None for sentence in sentences)
    record.ranking = _sections(sentence for sentence in sentences if sentence.span is not None)
    record.notes["reader"] = SMALL
    return replace(draft, sentences=tuple(sentences), parts=parts, reader=SMALL)


def _reader(pack: Pack) -> Reader | NoReaderError:
    """Return the reader of ``pack``, or why there is none."""
    try:
        return pack.reader
    except NoReaderError as error:
        return error


def find_answers(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Find answers of all kinds, and order them by the probability that they are right."""
    material = material_of(draft)
    found = rank_candidates(find_candidates(material), material, _model_of(draft))
    record.scored = len(found)
    record.ranking = tuple(dict.fromkeys(q.section.section_id for answer in found for q in answer.quotations))
    record.notes["best"] = [f"{answer.kind} {answer.probability:.2f}" for answer in found[:_MAX_NOTED]]
    return replace(draft, answers=tuple(found))


def material_of(draft: Draft) -> Material:
    """Return what answers are looked for in."""
    return Material(draft.state, draft.sentences, draft.state.question.similarity, draft.parts)


def assess_draft(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Decide whether the pack covers the question, by the threshold of the pack that holds the best answer."""
    best = next(iter(draft.answers), None)
    owner = resources.pack.origin(best.section.section_id)[0] if best is not None else resources.pack
    value = best.probability if best is not None else 0.0
    confidence = assess(value, _model_of(draft), owner.manifest.thresholds)
    record.notes.update(strength=value, threshold=confidence.threshold, threshold_name=THRESHOLD_NAME)
    record.notes["level"] = confidence.level
    return replace(draft, confidence=confidence)


def level_of_claims(draft: Draft, confidence: float) -> Level:
    """Return the level of an answer that a model wrote, for its ``confidence``; such an answer is never not covered."""
    level = _model_of(draft).level(confidence)
    return "not_sure" if level == "not_covered" else level


def _model_of(draft: Draft) -> AnswerModel:
    has_read = draft.reader is not None or bool(draft.state.paths)
    return answer_models()[WITH_READER if has_read else WITHOUT_READER]


def _sections(sentences: Iterable[SentenceScore]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentence.section.section_id for sentence in sentences))
