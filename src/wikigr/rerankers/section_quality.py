"""Score sections by how informative they are for a question, and drop stubs.

reference/retrieval-enhancements.md, `_score_section_quality`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar

from wikigr.index.candidate import FACT, section_ids
from wikigr.languages import ENGLISH, Language
from wikigr.options import Options, Share
from wikigr.rerankers.stage import RerankingStage
from wikigr.retrieval.state import Result, State
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.segmentation import has_statement
from wikigr.stop_words import STOP_WORDS
from wikigr.text import fold, word_count, words

CONTENT_QUALITY_THRESHOLD = 0.3
"""Minimum score of a section that an answer may rest on (reference/retrieval-enhancements.md)."""


@dataclass(frozen=True, slots=True)
class SectionQualityOptions(Options):
    """Dropping sections that state nothing, such as headings, captions and remains of navigation."""

    section: ClassVar[str] = "section_quality"

    enabled: Annotated[bool, "drop sections with too little information"] = True
    threshold: Annotated[
        Share, "minimum quality of a section that contains no complete statement and does not rank first"
    ] = CONTENT_QUALITY_THRESHOLD


class SectionQuality(RerankingStage[SectionQualityOptions]):
    """Drop selected sections whose quality is below the threshold and that state nothing.

    Length says little about a section that makes a statement: a note of one sentence may be the answer. The section
    that ranks first is kept as well.
    """

    name = "section_quality"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        record.scored = len(state.evidence)
        threshold, question = self.options.threshold, state.question
        for item in state.evidence[1:]:
            section = item.section
            if _length_score(word_count(section.content)) >= threshold or FACT in item.candidate.scores:
                continue
            # A named value is a statement, however short.
            if any(block.kind in ("property", "table") for block in section.blocks):
                continue
            score = score_section_quality(section.content, question.text, question.language)
            if score < threshold and not has_statement(section.content, question.language):
                record.dropped[section.section_id] = _below(score, threshold)
        kept = tuple(item for item in state.evidence if item.section.section_id not in record.dropped)
        record.ranking = section_ids(item.candidate for item in kept)
        return replace(state, evidence=kept)

    def score(self, question: str, passages: Sequence[Result], record: StageRecord) -> list[float]:
        language = self.resources.pack.language
        return [score_section_quality(passage["content"], question, language) for passage in passages]


def score_section_quality(content: str, question: str, language: Language = ENGLISH) -> float:
    """Score a section by its length and its share of the question's keywords, in [0, 1]; 0 below 20 words.

    Length, in whitespace-separated words, gives 0.26 to 0.8, the maximum from 200 words on. The share of the question's
    keywords that the section holds adds up to 0.2. Keywords are the words that are not ``STOP_WORDS``, nor function
    words of another ``language``, compared without case, punctuation, Unicode form and possessive ``'s``. Formula:
    reference/retrieval-enhancements.md.
    """
    length = word_count(content)
    if length < 20:
        return 0.0
    keywords = _keywords(question, language)
    overlap_ratio = len(keywords & _terms(content)) / len(keywords) if keywords else 0.0
    keyword_score = min(0.2, overlap_ratio * 0.2)
    return min(1.0, _length_score(length) + keyword_score)


def _length_score(length: int) -> float:
    return min(0.8, 0.2 + (length / 200) * 0.6) if length >= 20 else 0.0


@lru_cache(maxsize=1)
def _keywords(question: str, language: Language) -> frozenset[str]:
    """Return the keywords of the question, of which all sections are scored in turn."""
    return frozenset(_terms(question) - language.stop_words(STOP_WORDS))


def _terms(text: str) -> set[str]:
    return {word.removesuffix("'s") for word in words(fold(text))}


def _below(score: float, threshold: float) -> str:
    """Return a message that ``score`` is below ``threshold``, with enough digits to distinguish the two."""
    digits = next((n for n in range(2, 7) if f"{score:.{n}f}" != f"{threshold:.{n}f}"), 7)
    return f"quality {score:.{digits}f} below {threshold:.{digits}f}"
