"""Reranking of results that someone else found: the stages of a pipeline, one at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wikigr.errors import UsageError
from wikigr.graph.schema import section_id
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.rerank_method import Method
from wikigr.pipeline.retriever import as_probability
from wikigr.retrieval.rerankers.graph_reranker import check_results
from wikigr.retrieval.rerankers.section_quality import score_section_quality
from wikigr.retrieval.trace import StageRecord, Trace


def rerank_results(
    pipeline: Pipeline, question: str, results: Sequence[Mapping[str, Any]], method: Method, *, top_k: int, trace: Trace
) -> list[dict[str, Any]]:
    """Return copies of the best ``top_k`` results with ``rank``, ``old_rank`` and their new ``score``.

    A result holds ``title``, ``score`` and perhaps ``content``, which the pack is asked for where it is missing. The
    graph mixes PageRank into the relevance (the score, or what ``scores.relevance`` keeps apart from it); the
    cross-encoder reads twice ``top_k`` results, and comes before the graph where both are wanted; ``quality`` is the
    section quality of the content. Raises ``UsageError`` for results that lack a title or a score, and without a
    question where the method needs one.
    """
    ranked = [{**result, "old_rank": rank} for rank, result in enumerate(results, start=1)]
    needs_text = method is not Method.GRAPH
    if needs_text and not question.strip():
        raise UsageError(f"--method {method} needs the question.", hint="Give --query.")
    try:
        check_results(ranked, top_k)
    except ValueError as error:
        raise UsageError(f"The results cannot be reranked: {error}.") from error
    if needs_text:
        ranked = [_with_content(pipeline.pack, result) for result in ranked]
    if method in (Method.CROSS_ENCODER, Method.GRAPH_AND_CROSS_ENCODER):
        with trace.enhancement("cross_encoder") as record:
            ranked = _cross_encoded(pipeline, question, ranked, top_k, record)
    if method in (Method.GRAPH, Method.GRAPH_AND_CROSS_ENCODER):
        with trace.enhancement("graph_reranker") as record:
            record.scored = len(ranked)
            relevant = [{**result, "score": _relevance(result)} for result in ranked]
            ranked = pipeline.retriever.graph_reranker(record).rerank(relevant, top_k=len(ranked))
    if method is Method.QUALITY:
        with trace.stage("section_quality") as record:
            record.scored = len(ranked)
            ranked = [{**result, "score": score_section_quality(result["content"], question)} for result in ranked]
            ranked.sort(key=lambda result: (-result["score"], result["title"]))
    return [{**result, "rank": rank} for rank, result in enumerate(ranked[:top_k], start=1)]


def _cross_encoded(
    pipeline: Pipeline, question: str, results: list[dict[str, Any]], top_k: int, record: StageRecord
) -> list[dict[str, Any]]:
    """Return the best ``top_k`` of twice as many results, their scores as probabilities."""
    pool = results[: 2 * top_k]
    record.scored = len(pool)
    encoder = pipeline.retriever.cross_encoder
    if not encoder.loaded:
        record.degrade(f"the model {encoder.model_name} could not be loaded")
        return results
    scored = encoder.rerank(question, pool, top_k=top_k)
    return [{**result, "score": as_probability(result["ce_score"]), "scores": {}} for result in scored]


def _relevance(result: Mapping[str, Any]) -> float:
    """Return what the result has to do with the question: a score that is mixed with PageRank holds it apart.

    A walk's score stands for itself: what it found for its neighbors' sake has little relevance of its own.
    """
    scores = result.get("scores")
    if not isinstance(scores, Mapping) or "walk" in scores:
        return float(result["score"])
    relevance = scores.get("relevance")
    return relevance if isinstance(relevance, float) and math.isfinite(relevance) else float(result["score"])


def _with_content(pack: Pack, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``result`` with a ``content``: its own, its section's, the lead section of its article, or its title."""
    if isinstance(result.get("content"), str) and result["content"].strip():
        return dict(result)
    section_ids = [result.get("section_id"), section_id(result["title"], 0)]
    found = pack.sections([id_ for id_ in section_ids if isinstance(id_, str)])
    content = next((found[id_].content for id_ in section_ids if id_ in found), result["title"])
    return {**result, "content": content}
