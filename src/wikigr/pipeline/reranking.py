"""Rerank results from elsewhere with the reranking stages of a pipeline, one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wikigr.errors import UsageError
from wikigr.graph.schema import section_id
from wikigr.pack.open import Corpus
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.stages import RETRIEVAL_STAGES, Stage
from wikigr.rerankers.graph_reranker import check_results
from wikigr.rerankers.stage import RerankingStage
from wikigr.retrieval.state import Result
from wikigr.retrieval.trace import Trace
from wikigr.suggestions import did_you_mean, nearest

# Joins the names of methods that run one after the other: "graph+cross-encoder".
JOIN = "+"


def rerank_methods() -> dict[str, Stage]:
    """Return the stages that can rerank results, by the name of their method, in the order in which they run."""
    return {stage.method: stage for stage in RETRIEVAL_STAGES if stage.method}


def stages_of(method: str) -> list[Stage]:
    """Return the stages of a method such as ``graph+cross-encoder``, in the order in which they run.

    Raises ``UsageError`` for an unknown, missing or repeated method.
    """
    known = rerank_methods()
    names = method.split(JOIN)
    for name in names:
        if name not in known:
            listed = f"The methods are {', '.join(known)}; join several with {JOIN}."
            hint = did_you_mean(nearest(name.replace("_", "-"), known), listed)
            raise UsageError(f"There is no reranking method {name!r}.", hint=hint)
    if len(set(names)) < len(names):
        raise UsageError(f"--method {method} names a method twice.")
    return [stage for name, stage in known.items() if name in names]


def rerank_results(
    pipeline: Pipeline,
    question: str,
    results: Sequence[Mapping[str, Any]],
    method: str,
    *,
    top_k: int,
    trace: Trace,
) -> list[dict[str, Any]]:
    """Return copies of the best ``top_k`` results with ``rank``, ``old_rank`` and their new ``score``.

    A result holds ``title``, ``score`` and optionally ``content``, which is looked up in the pack if it is missing. The
    graph mixes PageRank into the relevance: ``scores.relevance``, or else the score. The cross-encoder reads twice
    ``top_k`` results. Raises ``UsageError`` for results without a title or a score, for an unknown method, and for a
    missing question that the method needs.
    """
    ranked: list[Result] = [{**result, "old_rank": rank} for rank, result in enumerate(results, start=1)]
    stages = ((row, pipeline.stage(row.run)) for row in stages_of(method))
    rerankers = [(row, stage) for row, stage in stages if isinstance(stage, RerankingStage)]
    reads_text = any(reranker.reads_text for _, reranker in rerankers)
    if reads_text and not question.strip():
        raise UsageError(f"--method {method} needs the question.", hint="Give --query.")
    try:
        check_results(ranked, top_k)
    except ValueError as error:
        raise UsageError(f"The results cannot be reranked: {error}.") from error
    if reads_text:
        ranked = [_with_content(pipeline.pack, result) for result in ranked]
    for row, reranker in rerankers:
        with row.traced(trace) as record:
            ranked = reranker.rerank_results(question, ranked, top_k, record)
    return [{**result, "rank": rank} for rank, result in enumerate(ranked[:top_k], start=1)]


def _with_content(pack: Corpus, result: Mapping[str, Any]) -> Result:
    """Return ``result`` with a ``content``: its own, its section's, the lead section of its article, or its title."""
    if isinstance(result.get("content"), str) and result["content"].strip():
        return dict(result)
    section_ids = [result.get("section_id"), section_id(result["title"], 0)]
    found = pack.sections([id_ for id_ in section_ids if isinstance(id_, str)])
    content = next((found[id_].content for id_ in section_ids if id_ in found), result["title"])
    return {**result, "content": content}
