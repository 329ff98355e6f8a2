"""What ``wikigr search`` and ``wikigr rerank`` print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, Document

if TYPE_CHECKING:
    from wikigr.index.candidate import Candidate, Evidence
    from wikigr.retrieval.trace import Trace

_SNIPPET_LENGTH = 160


def search_document(question: str, evidence: Sequence[Evidence], trace: Trace, profile: str) -> dict[str, Any]:
    """Return what ``wikigr search --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "results": [result_document(rank, item) for rank, item in enumerate(evidence, start=1)],
        "profile": profile,
        "degraded": trace.degraded,
        "warnings": trace.warnings,
        "timings": dict(trace.timings()),
    }


def print_results(environment: Environment, document: Document) -> None:
    """Print the sections found, with the beginning of each one."""
    from wikigr.index.candidate import place

    if not document["results"]:
        environment.note("Nothing in the pack matches.")
    for result in document["results"]:
        section = place(result["title"], result["section"])
        environment.print(f"{result['rank']:>3}. {section}", style="bold", end="")
        environment.print(f"  {result['score']:.3f}", style="dim", hang=5)
        text = " ".join(result["content"].split())
        snippet = text if len(text) <= _SNIPPET_LENGTH else text[:_SNIPPET_LENGTH].rsplit(" ", 1)[0] + " …"
        environment.print(f"     {snippet}")


def rerank_document(given: Document, results: Sequence[Document], method: str, trace: Trace) -> dict[str, Any]:
    """Return what ``wikigr rerank --json`` prints: the given document with the reranked ``results``."""
    return {
        **given,
        "results": [_ranks_first(result) for result in results],
        "method": method,
        "degraded": trace.degraded,
        "warnings": trace.warnings,
        "timings": dict(trace.timings()),
    }


def _ranks_first(result: Document) -> dict[str, Any]:
    ranks = {"rank": result["rank"], "old_rank": result["old_rank"]}
    return {**ranks, **{key: value for key, value in result.items() if key not in ranks}}


def print_reranked(environment: Environment, document: Document) -> None:
    """Print reranked results with their old ranks."""
    from wikigr.index.candidate import place

    for result in document["results"]:
        section = place(result["title"], result.get("section"))
        moved = result["old_rank"] - result["rank"]
        was = "" if not moved else f"  was {result['old_rank']}"
        environment.print(f"{result['rank']:>3}. {section}", style="bold", end="")
        environment.print(f"  {result['score']:.3f}{was}", style="dim", hang=5)


def result_document(rank: int, item: Evidence) -> dict[str, Any]:
    """Return a section with its ``rank`` as a result of the JSON documents."""
    section = item.section
    return {
        "rank": rank,
        "title": section.title,
        "section_id": section.section_id,
        "section": section.heading,
        "source_id": section.source_id,
        **scores_document(item.candidate),
        "content": section.content,
    }


def scores_document(candidate: Candidate) -> dict[str, Any]:
    """Return the score of a candidate and the scores that it was computed from."""
    return {
        "score": round(candidate.score, 6),
        "scores": {name: round(value, 6) for name, value in candidate.scores.items()},
    }
