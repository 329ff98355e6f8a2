"""The document of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wikigr.responses.pack import SCHEMA_VERSION, packs_document, with_pack

if TYPE_CHECKING:
    from wikigr.index.candidate import Candidate, Evidence
    from wikigr.pack.open import Corpus
    from wikigr.responses.shapes import ResultShape, SearchDocument
    from wikigr.retrieval.trace import Trace


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
