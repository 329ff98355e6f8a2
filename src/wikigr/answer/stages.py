"""The intermediate result between retrieval and the answer, and the stages that assess it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from wikigr.answer.abstention import ABSTENTION, NO_ANSWER, THRESHOLD_NAME, Confidence, assess
from wikigr.answer.candidates.candidate import DERIVED, AnswerCandidate, Material, share_named
from wikigr.answer.candidates.grid import is_blank
from wikigr.answer.candidates.lists import WHOLE_TABLE
from wikigr.answer.candidates.table import find_candidates
from wikigr.answer.probability import (
    WITH_READER,
    WITHOUT_READER,
    AnswerModel,
    Level,
    answer_models,
    rank_candidates,
)
from wikigr.index.lexical import FIELDS
from wikigr.pack.open import Corpus
from wikigr.question import patterns
from wikigr.question.comparison import compared_sides
from wikigr.question.intent import asks_all_rows
from wikigr.question.question import Question, content_stems
from wikigr.reader.passage import BASE, ReaderName, ReaderOptions
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.reading import TwoParts, read_sentences, read_two_parts, reread_sentences
from wikigr.retrieval.sentences import SentenceScore, rank_sentences
from wikigr.retrieval.state import PipelineStage, State, encodes_its_language
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.retrieval.whole_tables import complete_tables

if TYPE_CHECKING:
    from wikigr.reader.reader import Reader

# The kinds that name one thing.
_ONE = frozenset(("span", "cell", "definition", "fact"))
_ENUMERATES = re.compile(r",[^,;]+(?:,|\band\b|\bor\b)|;.*;")
# In another language than English, for which the weights of answers were fitted, the rank of the section counts so much
# more. Chosen among 0, 1, 2 and 4 on questions about the documentation of Debian in five languages.
_RANK_IN_ANOTHER_LANGUAGE = 4.0


@dataclass(frozen=True, slots=True)
class Draft:
    """What retrieval found, its sentences and the answers in them (both best first), and how sure the first answer is.

    ``reader`` is the one whose margins the sentences have, if one has read. ``parts`` is what was read for each part of
    a question that has two. ``whole`` are the ids of the sections whose tables are whole in the evidence.
    """

    state: State
    sentences: tuple[SentenceScore, ...] = ()
    reader: ReaderName | None = None
    parts: TwoParts | None = None
    whole: frozenset[str] = frozenset()
    answers: tuple[AnswerCandidate, ...] = ()
    confidence: Confidence = NO_ANSWER


class _ReadingStage(PipelineStage[ReaderOptions, Draft]):
    """A stage that has nothing to do once a relation path has answered."""

    def applies(self, draft: Draft) -> bool:
        return not draft.state.paths


class RankSentences(_ReadingStage):
    """Split the evidence into sentences and rank them; by vectors as well, unless the reader reads them."""

    name = "sentences"

    def run(self, draft: Draft, record: StageRecord, trace: Trace) -> Draft:
        pack = self.resources.pack
        reads = self.options.enabled and not isinstance(_reader(pack), NoReaderError)
        encoder = pack.encoder if not reads and encodes_its_language(pack) else None
        if asks_all_rows(draft.state.question):
            evidence, whole = complete_tables(pack, draft.state.evidence)
            draft = replace(draft, state=replace(draft.state, evidence=evidence), whole=whole)
        ranked = rank_sentences(draft.state.evidence, draft.state.question, encoder)
        record.scored = len(ranked)
        record.ranking = _sections(ranked)
        return replace(draft, sentences=tuple(ranked))


class ReadSentences(_ReadingStage):
    """Let the reader read the best sections, and the reader ``base``, if it is asked for, the best passages again.

    Without a reader for the pack's encoder, the stage is skipped, which one question says and all of them record.
    """

    name = "reader"

    def run(self, draft: Draft, record: StageRecord, trace: Trace) -> Draft:
        record.ranking = _sections(draft.sentences)
        reader = _reader(self.resources.pack)
        if isinstance(reader, NoReaderError):
            self.resources.skip_without_reader(record, reader)
            return draft

        base = self.resources.pack.base_reader if self.options.use == BASE else None

        def read(question: Question, sentences: Sequence[SentenceScore]) -> list[SentenceScore]:
            found = read_sentences(reader, question, draft.state.evidence, sentences, self.options)
            return found if base is None else reread_sentences(base, question, found, self.options)

        question = draft.state.question
        sentences = read(question, draft.sentences)
        parts = read_two_parts(question, lambda part: read(part, sentences))
        if parts is not None:
            record.notes["parts"] = [sentence.text for sentence in parts.stating]
        record.scored = sum(sentence.span is not None for sentence in sentences)
        record.ranking = _sections(sentence for sentence in sentences if sentence.span is not None)
        record.notes["reader"] = name = (base or reader).name
        return replace(draft, sentences=tuple(sentences), parts=parts, reader=name)


def _reader(pack: Corpus) -> Reader | NoReaderError:
    """Return the reader of ``pack``, or why there is none."""
    try:
        return pack.reader
    except NoReaderError as error:
        return error


class FindAnswers(PipelineStage[ReaderOptions, Draft]):
    """Find answers of all kinds, and order them by how well they answer; where that was not fitted, by section too."""

    name = "answers"

    def run(self, draft: Draft, record: StageRecord, trace: Trace) -> Draft:
        pack = self.resources.pack
        material = replace(material_of(draft, by_words=not encodes_its_language(pack)), pack=pack)
        by_rank = not pack.language.is_english and not draft.state.paths
        added = _RANK_IN_ANOTHER_LANGUAGE if by_rank else 0.0
        found = rank_candidates(find_candidates(material), material, _model_of(draft), added)
        record.scored = len(found)
        record.ranking = tuple(dict.fromkeys(q.section.section_id for answer in found for q in answer.quotations))
        record.notes["best"] = [f"{answer.kind} {answer.probability:.2f}" for answer in found[:5]]
        return replace(draft, answers=tuple(found))


def material_of(draft: Draft, *, by_words: bool = False) -> Material:
    """Return what answers are looked for in; ``by_words`` compares questions by their words instead of vectors."""
    question = draft.state.question

    def by_shared_words(texts: Sequence[str]) -> list[float]:
        return [sqrt(question.coverage(set(question.stems(text))) * share_named(question, text)) for text in texts]

    similarity = by_shared_words if by_words else question.similarity
    return Material(draft.state, draft.sentences, similarity, draft.parts, draft.whole)


class Assess(PipelineStage[ReaderOptions, Draft]):
    """Decide whether the pack covers the question, by the threshold of the pack that holds the best answer."""

    name = ABSTENTION

    def run(self, draft: Draft, record: StageRecord, trace: Trace) -> Draft:
        best = next(iter(draft.answers), None)
        owner = self.resources.pack.origin(best.section.section_id)[0] if best is not None else self.resources.pack
        value = best.probability if best is not None else 0.0
        confidence = assess(value, _model_of(draft), owner.manifest.thresholds)
        if not self.resources.pack.language.is_english:
            confidence = replace(confidence, level=_level_in_another_language(confidence.level, best, draft))
        if best is not None and best.kind == WHOLE_TABLE and confidence.level == "sure":
            # The answer is in it, but the reader of the answer still has to find it.
            confidence = replace(confidence, level="likely")
        if best is not None and is_blank(best.short):
            # The table has a place for the value, and it is not known.
            confidence = replace(confidence, value=0.0, level="not_covered")
        if best is not None and best.kind in DERIVED and confidence.level == "sure":
            # No weights were fitted to such answers.
            confidence = replace(confidence, level="likely")
        question = draft.state.question
        if missing := _missing_side(question, self.resources.pack):
            confidence = replace(confidence, level="not_covered", missing=missing)
        elif best is not None and not confidence.abstain and cannot_list(question.text, best):
            confidence = replace(confidence, level="not_sure", cannot_list=True)
        record.notes.update(strength=value, threshold=confidence.threshold, threshold_name=THRESHOLD_NAME)
        record.notes["level"] = confidence.level
        return replace(draft, confidence=confidence)


def _missing_side(question: Question, pack: Corpus) -> str:
    """Return the one of two compared things of whose own words the pack has none, or nothing."""
    sides = compared_sides(question.text) if question.language.is_english else None
    own = [frozenset(content_stems(side)) for side in sides or ()]
    for side, stems, others in zip(sides or (), own, reversed(own), strict=True):
        alone = stems - others
        if alone and not any(pack.lexical.frequency(stem, field) for stem in alone for field in FIELDS):
            return side
    return ""


def cannot_list(question: str, best: AnswerCandidate) -> bool:
    """Return whether a question asks for all that there are, and ``best`` is a sentence or a cell that names one."""
    is_one = best.kind in _ONE and not _ENUMERATES.search(best.text)
    return is_one and patterns.ASKS_ALL.match(question) is not None


def _level_in_another_language(level: Level, best: AnswerCandidate | None, draft: Draft) -> Level:
    """Return the level of an answer that is not English; the probabilities were fitted to English questions.

    None is sure, and one is not taken for uncovered whose section holds enough words of the question.
    """
    if level == "sure":
        return "likely"
    if level == "not_covered" and best is not None:
        section = best.section
        said = set(draft.state.question.stems(f"{section.title} {section.heading} {section.content}"))
        # Half of the question's words, by weight.
        if draft.state.question.coverage(said) >= 0.5:
            return "not_sure"
    return level


def level_of_claims(draft: Draft, confidence: float) -> Level:
    """Return the level of an answer that a model has written or judged; it is never not covered.

    As without a model, none is sure that is not English.
    """
    level = _model_of(draft).level(confidence)
    if level == "sure" and not draft.state.question.language.is_english:
        return "likely"
    return "not_sure" if level == "not_covered" else level


def _model_of(draft: Draft) -> AnswerModel:
    has_read = draft.reader is not None or bool(draft.state.paths)
    return answer_models()[WITH_READER if has_read else WITHOUT_READER]


def _sections(sentences: Iterable[SentenceScore]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentence.section.section_id for sentence in sentences))
