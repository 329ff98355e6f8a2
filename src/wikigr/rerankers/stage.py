"""The base of the reranking stages: a subclass scores passages, and the base does the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from wikigr.index.candidate import RELEVANCE, Candidate, section_ids
from wikigr.retrieval.candidates import fetch
from wikigr.retrieval.state import Result, RetrievalStage, StageOptions, State
from wikigr.retrieval.trace import StageRecord, Trace


class RerankingStage(RetrievalStage[StageOptions]):
    """A stage that orders the candidates by its own score of them."""

    # Whether it reads the question and the text of the results.
    reads_text: ClassVar[bool] = True
    # How many passages are scored for each that is kept; without it, all are scored and kept.
    pool: ClassVar[int | None] = None

    @abstractmethod
    def score(self, question: str, passages: Sequence[Result], record: StageRecord) -> Sequence[float] | None:
        """Return the score of each of ``passages``, or ``None`` to keep their order and scores.

        A passage has a ``title`` and its relevance as ``score``, and if the stage ``reads_text``, a ``content`` and
        perhaps a heading, ``section``. A stage that cannot score degrades ``record``.
        """

    def rescored(self, candidate: Candidate, ranked: Result) -> Candidate:
        """Return ``candidate`` with its new score, which is in ``ranked``."""
        scores = {**candidate.scores, RELEVANCE: candidate.relevance}
        return Candidate(candidate.section_id, ranked["score"], scores)

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        found = state.candidates if self.pool is None else state.candidates[: self.pool * state.limit]
        passages: list[Result] = [{"title": c.title, "score": c.relevance, "candidate": c} for c in found]
        if self.reads_text:
            read = [(e.section, e.candidate) for e in fetch(self.resources.pack, found, state.sections)]
            passages = [
                {"title": s.title, "section": s.heading, "content": s.content, "score": c.relevance, "candidate": c}
                for s, c in read
            ]
        ranked = self.rerank_results(state.question.text, passages, state.limit, record)
        if record.degraded:
            return state
        candidates = tuple(self.rescored(passage["candidate"], passage) for passage in ranked)
        record.ranking = section_ids(candidates)
        return replace(state, candidates=candidates)

    def rerank_results(self, question: str, results: Sequence[Result], top_k: int, record: StageRecord) -> list[Result]:
        """Return ``results`` with their new ``score``, best first; ties break by title. ``top_k`` of them are wanted.

        If the stage degrades ``record``, all results are returned as they are.
        """
        scored = results if self.pool is None else results[: self.pool * top_k]
        record.scored = len(scored)
        scores = self.score(question, scored, record)
        if scores is None:
            return list(results)
        ranked = [{**result, "score": score} for result, score in zip(scored, scores, strict=True)]
        ranked.sort(key=lambda result: (-result["score"], result["title"]))
        return ranked if self.pool is None else ranked[:top_k]
