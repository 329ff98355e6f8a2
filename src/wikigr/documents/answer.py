"""The documents of an answer, of a search, and of what every stage did with an expected article."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from wikigr.answer.presentation import PERHAPS, heading_of_passages
from wikigr.documents.pack import SCHEMA_VERSION, fields_of, packs_document, with_pack
from wikigr.segmentation import facts_among

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.documents.shapes import AnswerDocument, ResultShape, SearchDocument, StatedAnswer
    from wikigr.index.candidate import Candidate, Evidence
    from wikigr.pack.open import Corpus
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.retrieval.trace import Trace


# How many candidates and sentences an explanation lists.
EXPLAIN_LIMIT = 20


def answer_document(
    answer: Answer,
    pipeline: Pipeline,
    *,
    explain: int = 0,
    stated: StatedAnswer | None = None,
) -> AnswerDocument:
    """Return what ``wikigr ask --json`` prints; ``stated`` is ``stated_answer``, if that was made already.

    At most ``explain`` sections and sentences are explained.
    """
    pack = pipeline.pack
    document: AnswerDocument = {
        "schema_version": SCHEMA_VERSION,
        **(stated or stated_answer(answer, pack)),  # type: ignore[typeddict-item]
        "abstained": answer.abstained,
        "query_type": answer.query_type,
        "chain": [fields_of(hop) for hop in answer.chain],
        "reader": answer.reader,
        "sources": answer.sources,
        "claims": answer.claims,
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
        document["explain"] = explain_document(answer, pack, explain)
    return document


def stated_answer(answer: Answer, pack: Corpus) -> StatedAnswer:
    """Return the part of the document of an answer that a reader is told."""
    # Only an answer needs this.
    from wikigr.documents.shown_answer import ShownAnswers

    shown = ShownAnswers(answer, pack)
    return {
        "question": answer.question,
        "understood": answer.understood or None,
        **shown.document(answer),
        "level": answer.level,
        "heading": heading_of_passages(answer),
        "alternatives": [shown.document(other) for other in answer.alternatives],
        **packs_document(pack, [c.section_id for c in answer.citations]),  # type: ignore[typeddict-item]
        "model": answer.model,
        "agrees": answer.agrees,
        "rejected": None if answer.rejected is None else shown.document(answer.rejected),
    }


def heading_above(stated: StatedAnswer) -> str:
    """Return what stands above the passages that are shown instead of an answer, or nothing if one is stated."""
    is_doubtful = stated["level"] == "not_sure" and stated["kind"] and stated["citations"]
    return (stated.get("heading") or PERHAPS) if is_doubtful else ""


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
