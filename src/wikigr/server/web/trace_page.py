"""Why an answer is what it is: the stages, the sections and the sentences of its trace, and one article's way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wikigr.answer.answer import Answer
from wikigr.documents.blocks import Mark, text_runs
from wikigr.graph.schema import article_title
from wikigr.index.candidate import Candidate, Evidence
from wikigr.pack.open import Corpus
from wikigr.pipeline.why import Why, explain_article
from wikigr.server.web.addresses import article_address, quote_address

if TYPE_CHECKING:
    from wikigr.documents.shapes import RunShape

_MAX_DROPPED = 30
_MAX_SENTENCES = 20


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage: its time in milliseconds, what it scored, and why it dropped sections, with their numbers."""

    stage: str
    milliseconds: float
    share: float
    nested: bool
    scored: int
    dropped: tuple[tuple[int, str], ...]
    notes: tuple[tuple[str, str], ...]
    warning: str


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section that was considered; ``reason`` says why it was not read, or is empty. ``heading`` may be unknown."""

    rank: int
    pack: str
    title: str
    heading: str
    href: str
    score: float
    scores: tuple[tuple[str, float], ...]
    reason: str


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """A sentence that was considered, with the short answer that the reader found in it marked.

    ``score`` is the probability that it answers the question if it ``was_read``, else its score by the other features.
    """

    text: tuple[RunShape, ...]
    title: str
    href: str
    score: float
    was_read: bool
    parts: tuple[tuple[str, float], ...]
    cited: bool


@dataclass(frozen=True, slots=True)
class TracePage:
    """The trace of an answer; ``dropped_more`` counts the dropped sections that ``dropped`` leaves out.

    ``article`` follows one article through the stages, if one was asked for.
    """

    stages: tuple[StageRow, ...]
    milliseconds: float
    read: tuple[SectionRow, ...]
    dropped: tuple[SectionRow, ...]
    dropped_more: int
    sentences: tuple[SentenceRow, ...]
    article: Why | None


def trace_page(answer: Answer, pack: Corpus, title: str | None = None) -> TracePage:
    """Return what a page shows of the trace of an answer from ``pack``; it follows the article ``title``, if given."""
    read = {item.section.section_id: item for item in answer.evidence}
    # Sections that were read without a rank come last.
    candidates = {c.section_id: c for c in (*answer.ranking, *(item.candidate for item in answer.evidence))}
    rows = [
        _section_row(answer, pack, rank, candidate, read.get(candidate.section_id))
        for rank, candidate in enumerate(candidates.values(), start=1)
    ]
    dropped = [row for row in rows if row.reason]
    total = answer.trace.timings()["total_ms"]
    return TracePage(
        stages=tuple(
            StageRow(
                record.stage,
                record.milliseconds,
                min(1.0, record.milliseconds / total) if total else 0.0,
                record.nested,
                record.scored,
                tuple((count, reason) for reason, count in Counter(record.dropped.values()).most_common()),
                tuple((name, _in_words(value)) for name, value in record.notes.items()),
                record.warning,
            )
            for record in answer.trace.stages
        ),
        milliseconds=total,
        read=tuple(row for row in rows if not row.reason),
        dropped=tuple(dropped[:_MAX_DROPPED]),
        dropped_more=max(0, len(dropped) - _MAX_DROPPED),
        sentences=tuple(_sentence_rows(answer, pack)),
        article=None if title is None else explain_article(answer, title),
    )


def _section_row(answer: Answer, pack: Corpus, rank: int, candidate: Candidate, item: Evidence | None) -> SectionRow:
    member, section_id = pack.origin(candidate.section_id)
    title = article_title(section_id)
    return SectionRow(
        rank=rank,
        pack=member.label,
        title=title,
        heading=item.section.heading if item is not None else "",
        href=article_address(member.label, title, section_id),
        score=candidate.score,
        scores=tuple(candidate.scores.items()),
        reason="" if item is not None else answer.trace.reason_for(candidate.section_id),
    )


def _sentence_rows(answer: Answer, pack: Corpus) -> list[SentenceRow]:
    cited = {(citation.section_id, citation.start) for citation in answer.citations}
    found = []
    for sentence in answer.sentences[:_MAX_SENTENCES]:
        member, section_id = pack.origin(sentence.section.section_id)
        title = article_title(section_id)
        marks = []
        if sentence.span is not None:
            marks.append(Mark(sentence.span.start - sentence.start, sentence.span.end - sentence.start, "short"))
        found.append(
            SentenceRow(
                text=tuple(text_runs(sentence.text, 0, len(sentence.text), marks)),
                title=title,
                href=quote_address(member.label, title, section_id, sentence.start, sentence.end),
                score=sentence.score,
                was_read=sentence.answer_score is not None,
                parts=tuple(sentence.parts().items()),
                cited=(sentence.section.section_id, sentence.start) in cited,
            )
        )
    return found


def _in_words(value: object) -> str:
    """Return the value of a note of a stage as text."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_in_words(item)}" for name, item in value.items() if item)
    if isinstance(value, list | tuple):
        return "; ".join(map(_in_words, value)) or "none"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
