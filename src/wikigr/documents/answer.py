"""The documents of an answer, of a search, and of what every stage did with an expected article."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from wikigr.answer.extractive import subject_of
from wikigr.answer.presentation import is_doubtful, surroundings_of
from wikigr.documents.blocks import Mark, Quote, join_blocks, region_of, show_blocks, show_written
from wikigr.documents.pack import SCHEMA_VERSION, fields_of, packs_document, with_pack
from wikigr.index.snippets import find_matches
from wikigr.question.question import content_stems
from wikigr.segmentation import facts_among

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer, PossibleAnswer
    from wikigr.answer.citations import Citation
    from wikigr.documents.shapes import (
        AnswerDocument,
        BlockShape,
        PossibleAnswerShape,
        ResultShape,
        SearchDocument,
        StatedAnswer,
        WhyDocument,
    )
    from wikigr.index.candidate import Candidate, Evidence, Section
    from wikigr.pack.open import Corpus
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.pipeline.why import Why
    from wikigr.retrieval.trace import Trace


# How many candidates and sentences an explanation lists.
EXPLAIN_LIMIT = 20


def answer_document(
    answer: Answer, pipeline: Pipeline, *, explain: bool, explain_limit: int = EXPLAIN_LIMIT
) -> AnswerDocument:
    """Return what ``wikigr ask --json`` prints."""
    pack = pipeline.pack
    document: AnswerDocument = {
        "schema_version": SCHEMA_VERSION,
        **stated_answer(answer, pack),  # type: ignore[typeddict-item]
        "abstained": answer.abstained,
        "query_type": answer.query_type,
        "chain": [fields_of(hop) for hop in answer.chain],
        "reader": answer.reader,
        "sources": answer.sources,
        "unverified_claims": list(answer.unverified),
        "entities": pipeline.entities(answer),  # type: ignore[typeddict-item]
        "facts": facts_among(citation.quote for citation in answer.citations),
        "cypher_query": answer.cypher_query,
        "profile": answer.profile,
        "degraded": answer.trace.degraded,
        "warnings": answer.trace.warnings,
        "usage": fields_of(answer.usage),
        "timings": dict(answer.trace.timings()),
    }
    if explain:
        document["explain"] = explain_document(answer, pack, explain_limit)
    return document


def stated_answer(answer: Answer, pack: Corpus) -> StatedAnswer:
    """Return the part of the document of an answer that a reader is told.

    Passages that are shown instead of an answer have the words of the question marked; those that are shown besides
    one are without their surroundings.
    """
    shown = _ShownAnswers(answer, pack)
    return {
        "question": answer.question,
        **shown.document(answer, in_context=True),
        "level": answer.level,
        "alternatives": [shown.document(other, in_context=is_doubtful(answer)) for other in answer.alternatives],
        **packs_document(pack, [c.section_id for c in answer.citations]),  # type: ignore[typeddict-item]
        "model": answer.model,
    }


class _ShownAnswers:
    """Makes the documents of an answer and of its alternatives, with the sections that they quote."""

    def __init__(self, answer: Answer, pack: Corpus) -> None:
        self._pack = pack
        self._sections = {item.section.section_id: item.section for item in answer.evidence}
        cited = {c.section_id for possible in (answer, *answer.alternatives) for c in possible.citations}
        missing = sorted(cited - self._sections.keys())
        if missing:
            self._sections |= pack.sections(missing)
        self._is_written = bool(answer.model)
        self._asked = frozenset(content_stems(answer.question, pack.language)) if is_doubtful(answer) else None

    def document(self, answer: PossibleAnswer, *, in_context: bool) -> PossibleAnswerShape:
        """Return what an answer and its alternatives have in common."""
        pack = self._pack
        return {
            "answer": answer.text,
            "kind": answer.kind,
            "confidence": round(answer.confidence, 4),
            "span": with_pack(pack, fields_of(answer.span)) if answer.span is not None else None,
            "citations": [
                with_pack(pack, {**fields_of(citation), "blocks": self._quoted(citation, _marks_of(answer, citation))})
                for citation in answer.citations
            ],
            "context": with_pack(pack, fields_of(answer.context)) if answer.context is not None else None,
            "blocks": self._blocks(answer, in_context=in_context),
        }

    def _quoted(self, citation: Citation, marks: list[Mark]) -> list[BlockShape]:
        section = self._sections[citation.section_id]
        return show_blocks(section.content, section.blocks, citation.start, citation.end, marks=marks)

    def _blocks(self, answer: PossibleAnswer, *, in_context: bool) -> list[BlockShape]:
        """Return an answer as it is shown; what quotes the pack stands in its surroundings."""
        if not (answer.kind and answer.citations):
            return show_written(answer.text, len(answer.citations), is_markdown=self._is_written)
        shown = show_written(answer.lead, 0)
        previous = None
        for citation in answer.citations:
            section = self._sections[citation.section_id]
            start, end = citation.start, citation.end
            if previous is None and in_context:
                start, end = surroundings_of(answer)
            # The quotation has no surroundings of its own where another one follows.
            if len(answer.citations) == 1:
                start, end = region_of(section.blocks, start, end)
            marks = [Mark(start, citation.start, "around"), Mark(citation.end, end, "around")]
            if (start, end) != (citation.start, citation.end):
                marks.append(Mark(citation.start, citation.end, "quoted"))
            marks += self._matches(section, start, end) if self._asked is not None else _marks_of(answer, citation)
            quote = Quote(citation.start, citation.end, citation.n)
            blocks = show_blocks(section.content, section.blocks, start, end, marks=marks, quote=quote)
            subject = subject_of(citation, previous) if start == citation.start else ""
            if subject and blocks:
                blocks[0]["runs"].insert(0, {"text": subject, "role": "", "n": None})
            shown = join_blocks(shown, blocks)
            previous = citation
        return shown

    def _matches(self, section: Section, start: int, end: int) -> list[Mark]:
        """Return the words of the question between ``start`` and ``end``."""
        assert self._asked is not None
        found = find_matches(section.content[start:end], self._asked, self._pack.language)
        return [Mark(start + first, start + last, "match") for first, last in found]


def _marks_of(answer: PossibleAnswer, citation: Citation) -> list[Mark]:
    """Return the mark of the short answer, if it is in the quotation of ``citation``."""
    span = answer.span
    if span is None or span.section_id != citation.section_id:
        return []
    return [Mark(span.start, span.end, "short")]


def explain_document(answer: Answer, pack: Corpus, limit: int) -> dict[str, Any]:
    """Return the stages, the ranked sections and the sentences behind ``answer``, at most ``limit`` of each.

    Sections that were read precede others.
    """
    cited = {(c.section_id, c.start) for c in answer.citations}
    candidates = _candidates_document(answer)
    kept = sorted(candidates, key=lambda candidate: candidate["reason"] is not None)[:limit]
    listed = {candidate["section_id"] for candidate in kept}
    return {
        "stages": [
            {**stage, "dropped": {key: reason for key, reason in stage["dropped"].items() if key in listed}}
            for stage in stages_document(answer.trace)
        ],
        "candidates": [with_pack(pack, candidate) for candidate in sorted(kept, key=itemgetter("rank"))],
        "candidates_in_all": len(candidates),
        "sentences": [
            with_pack(
                pack,
                {
                    "section_id": s.section.section_id,
                    "start": s.start,
                    "end": s.end,
                    "text": s.text,
                    "score": round(s.score, 4),
                    "parts": {part: round(value, 4) for part, value in s.parts().items()},
                    "margin": round(s.span.margin, 4) if s.span is not None else None,
                    "cited": s.place in cited,
                },
            )
            for s in answer.sentences[:limit]
        ],
        "sentences_in_all": len(answer.sentences),
    }


def _candidates_document(answer: Answer) -> list[dict[str, Any]]:
    """Return every ranked section, best first; one that was not read has a ``reason`` and no content."""
    read = {item.section.section_id: item for item in answer.evidence}
    # Sections that were read without a rank come last.
    candidates = {c.section_id: c for c in (*answer.ranking, *(item.candidate for item in answer.evidence))}
    return [
        {**result_document(rank, read[candidate.section_id]), "reason": None}
        if candidate.section_id in read
        else {
            "rank": rank,
            "title": candidate.title,
            "section_id": candidate.section_id,
            "section": None,
            "source_id": None,
            **scores_document(candidate),
            "content": None,
            "url": None,
            "reason": answer.trace.reason_for(candidate.section_id),
        }
        for rank, candidate in enumerate(candidates.values(), start=1)
    ]


def stages_document(trace: Trace) -> list[dict[str, Any]]:
    """Return what the stages of a question did."""
    return [
        {
            "stage": record.stage,
            "ms": round(record.milliseconds, 3),
            "scored": record.scored,
            "dropped": dict(record.dropped),
            "dropped_in_all": len(record.dropped),
            "notes": dict(record.notes),
        }
        for record in trace.stages
    ]


def search_document(
    question: str, evidence: Sequence[Evidence], trace: Trace, profile: str, pack: Corpus
) -> SearchDocument:
    """Return what ``wikigr search --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "results": [with_pack(pack, result_document(rank, item)) for rank, item in enumerate(evidence, start=1)],
        "profile": profile,
        "degraded": trace.degraded,
        "warnings": trace.warnings,
        **packs_document(pack, [item.section.section_id for item in evidence]),  # type: ignore[typeddict-item]
        "timings": dict(trace.timings()),
    }


def result_document(rank: int, item: Evidence) -> ResultShape:
    """Return a section with its ``rank`` as a result of the JSON documents."""
    section = item.section
    return {
        "rank": rank,
        "title": section.title,
        "section_id": section.section_id,
        "section": section.heading,
        "source_id": section.source_id,
        **scores_document(item.candidate),  # type: ignore[typeddict-item]
        "content": section.content,
        "url": item.url,
    }


def scores_document(candidate: Candidate) -> dict[str, Any]:
    """Return the score of a candidate and the scores that it was computed from."""
    return {
        "score": round(candidate.score, 6),
        "scores": {name: round(value, 6) for name, value in candidate.scores.items()},
    }


def why_document(answer: Answer, explained: Why, warnings: Sequence[str] = ()) -> WhyDocument:
    """Return what ``wikigr why --json`` prints; ``warnings`` are about the name of the article."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": answer.question,
        "title": explained.title,
        "section_id": explained.section_id,
        "profile": answer.profile,
        "outcome": explained.outcome,
        "reason": explained.reason,
        "dropped_at": explained.dropped_at,
        "setting": explained.setting,
        "stages": [
            {
                **{key: getattr(stage, key) for key in ("stage", "rank", "article_rank", "of", "section_id")},
                "score": None if stage.score is None else round(stage.score, 6),
                "reason": stage.reason or None,
            }
            for stage in explained.stages
        ],
        "abstained": answer.abstained,
        "degraded": answer.trace.degraded,
        "warnings": [*warnings, *answer.trace.warnings],
    }
