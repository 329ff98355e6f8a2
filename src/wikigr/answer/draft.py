"""The intermediate result between retrieval and the answer, and the stages that assess it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wikigr.answer.abstention import NO_ANSWER, Confidence, assess
from wikigr.answer.parts import TwoParts, read_two_parts
from wikigr.answer.reading import read_sentences, reread_sentences
from wikigr.answer.sentences import SentenceScore, rank_sentences
from wikigr.errors import ModelError
from wikigr.pack.open import Pack
from wikigr.question.question import Question
from wikigr.reader.adapter import ReaderSize, ships_large
from wikigr.reader.options import ReaderOptions
from wikigr.reader.passage import Calibration
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.chain import Chain
from wikigr.retrieval.state import Resources, State
from wikigr.retrieval.trace import StageRecord

if TYPE_CHECKING:
    from wikigr.reader.reader import Reader

# The names of stages in traces.
READER = "reader"
LARGE_READER = "large_reader"
CHAIN = "chain"
# A chain is followed if its strength is at least this share of the probability of the answer in one hop, which is too
# high for a question that describes what it asks about in a clause. Chosen on MuSiQue, HotpotQA and SQuAD 2.0.
_SHARE_FOR_CLAUSE = 0.6
_SHARE_FOR_NOUN_PHRASE = 1.0


@dataclass(frozen=True, slots=True)
class Draft:
    """What retrieval found, its sentences (best first), and how confidently they answer the question.

    ``calibration`` is that of the reader, if it has read, and ``reader`` the one whose margins the sentences have.
    ``chain`` leads to the first sentence, if several hops do. ``parts`` is what was read for each part of a question
    that has two.
    """

    state: State
    sentences: tuple[SentenceScore, ...] = ()
    calibration: Calibration | None = None
    reader: ReaderSize | None = None
    chain: Chain | None = None
    parts: TwoParts | None = None
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

    A question that asks what something is needs no short answer if the sentence that defines it was found. Without a
    reader for the pack's encoder, the stage is skipped, which one question says and all of them record.
    """
    record.ranking = _sections(draft.sentences)
    reader = _reader(resources.pack)
    if isinstance(reader, NoReaderError):
        resources.skip_without_reader(record, reader)
        return draft
    if any(sentence.is_direct for sentence in draft.sentences):
        record.notes["skipped"] = "a definition was found"
        return replace(draft, calibration=reader.calibration)

    def read(question: Question, sentences: Sequence[SentenceScore]) -> list[SentenceScore]:
        return read_sentences(reader, question, draft.state.evidence, sentences, options)

    return _with_readings(draft, reader, read, record)


def uses_large(options: ReaderOptions) -> bool:
    """Return whether the large reader is to read, if it is there."""
    return options.enabled and (options.use == "large" or (options.use == "auto" and ships_large()))


def reread_draft(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Let the large reader read the best sentences again and decide.

    If it has not been prepared, the stage is skipped for ``auto``, which one question says and all of them record, and
    raises ``ModelError`` for ``large``.
    """
    from wikigr.reader.large import find_large

    record.ranking = _sections(draft.sentences)
    try:
        if options.use == "large":
            find_large()
        if draft.reader is None:
            record.notes["skipped"] = "the small reader has read nothing"
            return draft
        reader = resources.pack.large_reader
    except NoReaderError as error:
        if options.use == "large":
            raise ModelError(error.message, hint=error.hint) from error
        resources.note_missing_reader(record, error)
        return draft

    def read(question: Question, sentences: Sequence[SentenceScore]) -> list[SentenceScore]:
        return reread_sentences(reader, question, sentences, options)

    return _with_readings(draft, reader, read, record)


def _with_readings(
    draft: Draft,
    reader: Reader,
    read: Callable[[Question, Sequence[SentenceScore]], list[SentenceScore]],
    record: StageRecord,
) -> Draft:
    """Return ``draft`` with what ``read`` finds for its question, and for the parts of it if it has two."""
    question = draft.state.question
    sentences = read(question, draft.sentences)
    parts = read_two_parts(question, lambda part: read(part, sentences))
    if parts is not None:
        record.notes["parts"] = [sentence.text for sentence in parts.stating]
    record.scored = sum(sentence.span is not None for sentence in sentences)
    record.ranking = _sections(sentence for sentence in sentences if sentence.span is not None)
    record.notes["reader"] = reader.size
    return replace(draft, sentences=tuple(sentences), parts=parts, calibration=reader.calibration, reader=reader.size)


def _reader(pack: Pack) -> Reader | NoReaderError:
    """Return the reader of ``pack``, or why there is none."""
    try:
        return pack.reader
    except NoReaderError as error:
        return error


def follow_chain(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Put the answer of the likeliest chain first, unless the answer that was read in one hop is far more likely."""
    record.ranking = _sections(draft.sentences)
    chain = next(iter(draft.state.chains), None)
    if chain is None or draft.calibration is None:
        record.notes["skipped"] = "there is no chain of hops"
        return draft
    if draft.parts is not None:
        record.notes["skipped"] = "the question has two parts"
        return draft
    by_place = {sentence.place: sentence for sentence in draft.sentences}
    if not all(hop.place in by_place for hop in chain.hops):
        record.notes["skipped"] = "a section of the chain was dropped"
        return draft
    thresholds = _thresholds(resources.pack, draft.sentences)
    direct, by_chain = (
        assess(draft.state.evidence, draft.sentences, thresholds, draft.calibration, followed)
        for followed in (None, chain)
    )
    record.notes.update(chain=str(chain), strength=chain.strength, in_one_hop=direct.value)
    share = _SHARE_FOR_CLAUSE if chain.is_clause else _SHARE_FOR_NOUN_PHRASE
    # A chain never turns an answer into an abstention.
    if chain.strength < share * direct.value or (by_chain.abstain and not direct.abstain):
        return draft
    stating = [
        replace(by_place.pop(hop.place), span=hop.span, answer_score=hop.probability)
        for hop in (chain.last, *chain.hops[:-1])
        if hop.place in by_place
    ]
    stating[0] = replace(stating[0], span=chain.short_answer)
    sentences = (*stating, *by_place.values())
    record.ranking = _sections(sentences)
    # Only the small reader reads on the way.
    return replace(draft, sentences=sentences, chain=chain, reader="small")


def assess_draft(draft: Draft, resources: Resources, options: ReaderOptions, record: StageRecord) -> Draft:
    """Decide whether the pack covers the question.

    The confidence in an answer of two parts is the lower one. If the pack covers one of them, that one is answered.
    """
    thresholds = _thresholds(resources.pack, draft.sentences)
    if draft.parts is None:
        confidence = assess(draft.state.evidence, draft.sentences, thresholds, draft.calibration, draft.chain)
    else:
        readings = draft.parts.first, draft.parts.second
        assessed = [assess(draft.state.evidence, r, thresholds, draft.calibration) for r in readings]
        lower, higher = sorted(assessed, key=lambda part: part.value)
        confidence = replace(lower, abstain=higher.abstain)
        if lower.abstain:
            draft = replace(draft, sentences=readings[assessed.index(higher)], parts=None)
    record.notes.update(confidence.parts)
    return replace(draft, confidence=confidence)


def _thresholds(pack: Pack, sentences: Sequence[SentenceScore]) -> Mapping[str, float]:
    """Return the thresholds of the pack that contains the best sentence."""
    owner = pack.origin(sentences[0].section.section_id)[0] if sentences else pack
    return owner.manifest.thresholds


def _sections(sentences: Iterable[SentenceScore]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentence.section.section_id for sentence in sentences))
