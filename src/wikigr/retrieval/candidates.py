"""Find candidates for a question: encode it, let each ranker find sections, fuse what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from wikigr.index.candidate import DENSE, LEXICAL, RELEVANCE, Candidate, Evidence, Hit, Section, section_ids
from wikigr.index.lexical import MAX_QUERY_WORDS
from wikigr.options import Options
from wikigr.pack.open import Corpus
from wikigr.question.dates import date_phrases, dates_asked_for
from wikigr.retrieval.fusion import POOL, best_of, reciprocal_rank_fusion, weighted_fusion
from wikigr.retrieval.state import RetrievalStage, Runs, State
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.text import fold

# An even average: neither ranker is better on every kind of question, and a weight fitted to one data set would not
# transfer to another.
WEIGHTS = {DENSE: 0.5, LEXICAL: 0.5}


@dataclass(frozen=True, slots=True)
class RetrievalOptions(Options):
    """Which rankers find candidates, and how their results are fused."""

    section: ClassVar[str] = "retrieval"

    mode: Annotated[
        Literal["hybrid", "dense", "lexical"],
        "which rankers find candidates: vectors (`dense`), BM25 (`lexical`) or both (`hybrid`)",
    ] = "hybrid"
    fusion: Annotated[
        Literal["weighted", "rrf"], "how `hybrid` fuses them: by normalized scores or by reciprocal ranks"
    ] = "weighted"
    multi_query: Annotated[
        bool, "also search for two rephrasings of the question, written by `synthesis.expansion_model`"
    ] = False

    exact: Annotated[
        bool, "compare the question with every vector in single precision, even if the pack has quantized vectors"
    ] = False

    @property
    def uses_dense(self) -> bool:
        return self.mode != "lexical"

    def ablations(self) -> Mapping[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        if self.mode == "hybrid":
            found = {LEXICAL: {"mode": "dense"}, DENSE: {"mode": "lexical"}}
        return {**found, "multi_query": {"multi_query": False}} if self.multi_query else found


class Encode(RetrievalStage[RetrievalOptions]):
    """Encode the question, and its rephrasings, as vectors."""

    name = "encode"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        for wording in state.wordings:
            _ = wording.vector
        return state


class DenseSearch(RetrievalStage[RetrievalOptions]):
    """Find the sections nearest to the question by cosine."""

    name = "dense"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        pack, exact = self.resources.pack, self.options.exact
        runs = [pack.nearest(wording.vector, state.depth, exact=exact) for wording in state.wordings]
        _record_hits(runs, record)
        record.notes["path"] = "exact" if exact else pack.dense_method(state.depth)
        if not exact:
            record.warning = pack.dense_warning
        return _with_runs(state, DENSE, runs)


class LexicalSearch(RetrievalStage[RetrievalOptions]):
    """Find the sections that match the question's words best by BM25."""

    name = "lexical"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        lexical = self.resources.pack.lexical
        runs = [
            lexical.search(
                wording.text,
                state.depth,
                [*chain(*(date_phrases(days) for days, _, _ in dates_asked_for(wording.text)))],
            )
            for wording in state.wordings
        ]
        _record_hits(runs, record)
        if len(record.ranking) < state.depth:
            # Fewer than were asked for: these are all that match.
            record.absent = "it shares no word with the question"
        if (words := len(state.question.language.tokens(state.question.text))) > MAX_QUERY_WORDS:
            record.warning = (
                f"The question has {words} words. Lexical search uses the first {MAX_QUERY_WORDS}, and the encoder "
                "reads only what fits its window."
            )
        return _with_runs(state, LEXICAL, runs)


class Fuse(RetrievalStage[RetrievalOptions]):
    """Fuse the rankers' results, and keep each section's best score over all wordings."""

    name = "fuse"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        rankings = [self._fused(runs) for runs in state.runs]
        candidates = rankings[0]
        if len(rankings) > 1:
            candidates = best_of(rankings, key=lambda found: found.section_id, score=lambda found: found.score)
        record.scored = len(candidates)
        record.ranking = section_ids(candidates)
        if state.within is not None:
            candidates = [candidate for candidate in candidates if fold(candidate.title) in state.within]
        return replace(state, candidates=tuple(candidates))

    def _fused(self, runs: Runs) -> list[Candidate]:
        if len(runs) == 1:
            ((ranker, hits),) = runs.items()
            # BM25 has no upper bound, so its relevance is relative to the best hit.
            scale = hits[0].score if ranker == LEXICAL and hits else 1.0
            return [
                Candidate(
                    hit.section_id,
                    hit.score,
                    {ranker: hit.score, f"{ranker}_rank": rank, RELEVANCE: hit.score / scale},
                )
                for rank, hit in enumerate(hits, start=1)
            ]
        if self.options.fusion == "rrf":
            return reciprocal_rank_fusion(runs)
        return weighted_fusion(runs, WEIGHTS)


class Fetch(RetrievalStage[RetrievalOptions]):
    """Read the text of the selected sections."""

    name = "fetch"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        return replace(state, evidence=tuple(fetch(self.resources.pack, state.selected, state.sections)))


def search_depth(limit: int) -> int:
    """Return how many hits each ranker must find for ``limit`` results: at least the pool that fusion normalizes by."""
    return max(POOL, limit)


def fetch(
    pack: Corpus, candidates: Sequence[Candidate], known: Mapping[str, Section] = MappingProxyType({})
) -> list[Evidence]:
    """Read the text of ``candidates``, keeping their order; ``known`` are sections that were read before."""
    missing = [candidate.section_id for candidate in candidates if candidate.section_id not in known]
    sections = {**known, **pack.sections(missing)} if missing else known
    return [Evidence(sections[c.section_id], c) for c in candidates if c.section_id in sections]


def _with_runs(state: State, ranker: str, runs: Sequence[list[Hit]]) -> State:
    before = state.runs or ({},) * len(runs)
    return replace(state, runs=tuple({**known, ranker: hits} for known, hits in zip(before, runs, strict=True)))


def _record_hits(runs: Sequence[list[Hit]], record: StageRecord) -> None:
    hits = runs[0]
    if len(runs) > 1:
        hits = best_of(runs, key=lambda hit: hit.section_id, score=lambda hit: hit.score)
    record.scored = len(hits)
    record.ranking = tuple(hit.section_id for hit in hits)
