"""What ``wikigr search``, ``wikigr rerank`` and ``wikigr ask`` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment, plain
from wikigr_cli.render.output import SCHEMA_VERSION, stage_lines, stages

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.errors import WikigrError
    from wikigr.index.candidate import Candidate, Evidence
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.retrieval.trace import Trace

_SNIPPET = 160
# Candidates that were not read, of which `--explain` prints so many; the JSON has all.
_SHOWN_DROPPED = 20
# The one case in which a section is not read and no stage says why.
_OTHER_ARTICLE = "only sections of the best article are read (multi_doc is off)"


def search_document(question: str, evidence: Sequence[Evidence], trace: Trace, profile: str) -> dict[str, Any]:
    """Return what ``wikigr search --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": question,
        "results": [_result(rank, item) for rank, item in enumerate(evidence, start=1)],
        "profile": profile,
        "degraded": trace.degraded,
        "warnings": trace.warnings,
        "timings": dict(trace.timings()),
    }


def _result(rank: int, item: Evidence) -> dict[str, Any]:
    section = item.section
    return {
        "rank": rank,
        "title": section.title,
        "section_id": section.section_id,
        "section": section.heading,
        "source_id": section.source_id,
        **_scores(item.candidate),
        "content": section.content,
    }


def _scores(candidate: Candidate) -> dict[str, Any]:
    return {
        "score": round(candidate.score, 6),
        "scores": {name: round(value, 6) for name, value in candidate.scores.items()},
    }


def search_results(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print search results for a person."""
    from wikigr.index.candidate import place

    if not document["results"]:
        environment.note("Nothing in the pack matches.")
    for result in document["results"]:
        section = place(result["title"], result["section"])
        environment.print(f"{result['rank']:>3}. {plain(section)}", style="bold", end="")
        environment.print(f"  {result['score']:.3f}", style="dim", hang=5)
        text = " ".join(result["content"].split())
        snippet = text if len(text) <= _SNIPPET else text[:_SNIPPET].rsplit(" ", 1)[0] + " …"
        environment.print(f"     {plain(snippet)}")


def rerank_document(
    given: Mapping[str, Any], results: Sequence[Mapping[str, Any]], method: str, trace: Trace
) -> dict[str, Any]:
    """Return what ``wikigr rerank --json`` prints: the given document with other results."""
    return {
        **given,
        "results": [_ranks_first(result) for result in results],
        "method": method,
        "degraded": trace.degraded,
        "warnings": trace.warnings,
        "timings": dict(trace.timings()),
    }


def _ranks_first(result: Mapping[str, Any]) -> dict[str, Any]:
    ranks = {"rank": result["rank"], "old_rank": result["old_rank"]}
    return {**ranks, **{key: value for key, value in result.items() if key not in ranks}}


def reranked(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print reranked results for a person, with their old ranks."""
    from wikigr.index.candidate import place

    for result in document["results"]:
        section = place(result["title"], result.get("section"))
        moved = result["old_rank"] - result["rank"]
        was = "" if not moved else f"  was {result['old_rank']}"
        environment.print(f"{result['rank']:>3}. {plain(section)}", style="bold", end="")
        environment.print(f"  {result['score']:.3f}{was}", style="dim", hang=5)


def answer_document(answer: Answer, pipeline: Pipeline, *, explain: bool) -> dict[str, Any]:
    """Return what ``wikigr ask --json`` prints."""
    manifest = pipeline.pack.manifest
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "question": answer.question,
        "answer": answer.text,
        "abstained": answer.abstained,
        "confidence": round(answer.confidence, 4),
        "query_type": answer.query_type,
        "sources": answer.sources,
        "citations": [
            {
                "n": c.n,
                "title": c.title,
                "section_id": c.section_id,
                "section": c.heading,
                "source_id": c.source_id,
                "quote": c.quote,
                "start": c.start,
                "end": c.end,
            }
            for c in answer.citations
        ],
        "unverified_claims": list(answer.unverified),
        "entities": pipeline.entities(answer),
        "facts": pipeline.facts(answer),
        "cypher_query": answer.cypher_query,
        "profile": answer.profile,
        "degraded": answer.trace.degraded,
        "warnings": answer.trace.warnings,
        "pack": {"name": manifest.name, "version": manifest.version, "digest": manifest.digest},
        "model": answer.model,
        "usage": answer.usage.to_dict(),
        "timings": dict(answer.trace.timings()),
    }
    if explain:
        document["explain"] = _explain(answer)
    return document


def failure_document(id_: str | int, question: str, error: WikigrError) -> dict[str, Any]:
    """Return the line of ``wikigr ask --batch`` for a question that could not be answered."""
    return {"id": id_, "schema_version": SCHEMA_VERSION, "question": question, "error": error.message}


def _explain(answer: Answer) -> dict[str, Any]:
    cited = {(c.section_id, c.start) for c in answer.citations}
    return {
        "stages": stages(answer.trace),
        "candidates": _candidates(answer),
        "sentences": [
            {
                "section_id": s.section.section_id,
                "start": s.start,
                "end": s.end,
                "text": s.text,
                "score": round(s.score, 4),
                "parts": {part: round(value, 4) for part, value in s.parts().items()},
                "cited": (s.section.section_id, s.start) in cited,
            }
            for s in answer.sentences
        ],
    }


def _candidates(answer: Answer) -> list[dict[str, Any]]:
    """Return all that was ranked, best first; one that was not read has a ``reason`` and no text."""
    read = {item.section.section_id: item for item in answer.evidence}
    # What was read without having been ranked comes last.
    candidates = {c.section_id: c for c in (*answer.ranking, *(item.candidate for item in answer.evidence))}
    reasons = {section_id: why for record in answer.trace.stages for section_id, why in record.dropped.items()}
    return [
        {**_result(rank, read[candidate.section_id]), "reason": None}
        if candidate.section_id in read
        else {
            "rank": rank,
            "title": candidate.title,
            "section_id": candidate.section_id,
            "section": None,
            "source_id": None,
            **_scores(candidate),
            "content": None,
            "reason": reasons.get(candidate.section_id, _OTHER_ARTICLE),
        }
        for rank, candidate in enumerate(candidates.values(), start=1)
    ]


def print_answer(environment: Environment, answer: Answer, *, explain: bool, streamed: bool = False) -> None:
    """Print an answer for a person; of one that was ``streamed`` only what belongs below it."""
    from wikigr.index.candidate import place

    # A model that was asked has shown its answer already; what it knows of itself is not streamed.
    shown = streamed and bool(answer.model) and answer.query_type != "own_knowledge"
    environment.print("" if shown else plain(answer.text))
    if answer.abstained:
        titles = list(dict.fromkeys(item.section.title for item in answer.evidence))[:3]
        if titles:
            environment.print(f"Nearest articles: {', '.join(map(plain, titles))}", style="dim")
    else:
        environment.print()
        environment.print("Sources", style="bold")
        for citation in answer.citations:
            section = place(citation.title, citation.heading)
            environment.print(f"  [{citation.n}] {plain(section)}", end="")
            environment.print(f"  {plain(citation.section_id)} [{citation.start}:{citation.end}]", style="dim", hang=6)
    environment.print(f"Confidence {answer.confidence:.2f}", style="dim")
    if answer.unverified:
        environment.print(f"{len(answer.unverified)} of the claims could not be verified.", style="yellow")
    if answer.usage.calls:
        environment.print(_spent(answer), style="dim")
    if explain:
        _explanation(environment, _explain(answer))


def _spent(answer: Answer) -> str:
    usage = answer.usage
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    price = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return f"{plain(answer.model)}: {read:,} tokens in, {usage.output_tokens:,} out, {price}"


def _explanation(environment: Environment, explain: Mapping[str, Any]) -> None:
    environment.print()
    environment.print("Stages", style="bold")
    for line in stage_lines(explain["stages"]):
        environment.print(line, hang=31)
    environment.print("Sections", style="bold")
    for result in explain["candidates"]:
        if result["reason"] is not None:
            continue
        parts = ", ".join(
            f"{name} {value:.3f}"
            + (f" (rank {result['scores'][f'{name}_rank']:.0f})" if f"{name}_rank" in result["scores"] else "")
            for name, value in result["scores"].items()
            if not name.endswith("_rank")
        )
        environment.print(
            f" {result['rank']:>3}. {result['score']:.3f}  {plain(result['section_id'])}  {parts}", hang=13
        )
    dropped = [result for result in explain["candidates"] if result["reason"] is not None]
    if dropped:
        environment.print("Dropped", style="bold")
    for result in dropped[:_SHOWN_DROPPED]:
        line = f" {result['rank']:>3}. {result['score']:.3f}  {plain(result['section_id'])}  {result['reason']}"
        environment.print(line, hang=13)
    if len(dropped) > _SHOWN_DROPPED:
        environment.print(f"      … and {len(dropped) - _SHOWN_DROPPED:,} more (--json has all)", style="dim")
    environment.print("Sentences", style="bold")
    for sentence in explain["sentences"][:12]:
        mark = "*" if sentence["cited"] else " "
        parts = ", ".join(f"{part} {value:.2f}" for part, value in sentence["parts"].items())
        place = f"{sentence['section_id']} [{sentence['start']}:{sentence['end']}]"
        environment.print(f" {mark} {sentence['score']:.3f}  {plain(place)}  {parts}", hang=10)
        environment.print(f"          {plain(' '.join(sentence['text'].split())[:100])}", style="dim")
