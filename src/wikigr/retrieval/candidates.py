"""Candidates for a question: dense, lexical, or both fused; and the text behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wikigr.embeddings.embedder import Vectors
from wikigr.errors import UsageError
from wikigr.index.candidate import Candidate, Evidence, section_ids
from wikigr.index.lexical import MAX_QUERY_WORDS, query_words
from wikigr.pack.open import Pack
from wikigr.retrieval.fusion import POOL, reciprocal_rank_fusion, weighted_fusion
from wikigr.retrieval.trace import Trace
from wikigr.text import scrub

Mode = Literal["hybrid", "dense", "lexical"]
Fusion = Literal["weighted", "rrf"]

# An even average: neither ranker is better on every kind of question, and a constant fitted to one
# data set would not travel.
WEIGHTS = {"dense": 0.5, "lexical": 0.5}


def checked_question(question: str) -> str:
    """Return ``question`` as Unicode text; raises ``UsageError`` when it is empty."""
    question = scrub(question)
    if not question.strip():
        raise UsageError("The question is empty.")
    return question


@dataclass(frozen=True, slots=True)
class Found:
    """``candidates``, best first, and the question's vector (float32, shape ``(d,)``) where it was made."""

    candidates: list[Candidate]
    vector: Vectors | None = None


def find_candidates(
    pack: Pack, question: str, *, trace: Trace, depth: int = POOL, mode: Mode = "hybrid", fusion: Fusion = "weighted"
) -> Found:
    """Return the sections that the rankers of ``mode`` found, ties by section id.

    Each ranker gives ``depth`` (at least ``POOL``) of them.
    """
    runs = {}
    vector = None
    depth = max(POOL, depth)
    if mode != "lexical":
        with trace.stage("encode"):
            vector = pack.encoder.encode([question])[0]
        with trace.stage("dense") as record:
            runs["dense"] = pack.nearest(vector, depth)
            record.scored = len(runs["dense"])
            record.ranking = tuple(hit.section_id for hit in runs["dense"])
            record.notes["path"] = "index" if pack.uses_vector_index else "exact"
    if mode != "dense":
        with trace.stage("lexical") as record:
            runs["lexical"] = pack.lexical.search(question, depth)
            record.scored = len(runs["lexical"])
            record.ranking = tuple(hit.section_id for hit in runs["lexical"])
            if (words := len(query_words(question))) > MAX_QUERY_WORDS:
                record.warning = (
                    f"The question has {words} words. The first {MAX_QUERY_WORDS} are looked for in the text, and the "
                    "encoder reads no more than its window."
                )
    with trace.stage("fuse") as record:
        if len(runs) == 1:
            ((name, run),) = runs.items()
            # BM25 has no upper end: it counts as a share of the best hit's.
            scale = run[0].score if name == "lexical" and run else 1.0
            candidates = [
                Candidate(
                    hit.section_id, hit.score, {name: hit.score, f"{name}_rank": rank, "relevance": hit.score / scale}
                )
                for rank, hit in enumerate(run, start=1)
            ]
        elif fusion == "rrf":
            candidates = reciprocal_rank_fusion(runs)
        else:
            candidates = weighted_fusion(runs, WEIGHTS)
        record.scored = len(candidates)
        record.ranking = section_ids(candidates)
    return Found(candidates, vector)


def fetch(pack: Pack, candidates: Sequence[Candidate]) -> list[Evidence]:
    """Read the text of ``candidates``, keeping their order."""
    sections = pack.sections([candidate.section_id for candidate in candidates])
    return [Evidence(sections[c.section_id], c) for c in candidates if c.section_id in sections]
