"""Candidates of the rankers, alone and fused, on the demo pack."""

from __future__ import annotations

from typing import Any

import pytest

from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.stages import rankers_only
from wikigr.retrieval.candidates import RetrievalOptions, fetch, search_depth
from wikigr.retrieval.fusion import POOL
from wikigr.retrieval.state import State
from wikigr.retrieval.trace import Trace

QUESTION = "What is the Pauli exclusion principle?"


def retrieve(pack: Pack, question: str = QUESTION, **options: Any) -> tuple[State, Trace]:
    trace = Trace()
    return pipeline(pack, **options).retrieve(question, trace), trace


def pipeline(pack: Pack, **options: Any) -> Pipeline:
    return Pipeline(rankers_only(Profile()).override(RetrievalOptions, **options), pack, offline=True)


def test_hybrid_candidates_are_the_union_of_both_rankers(pack: Pack) -> None:
    state, trace = retrieve(pack)
    ranked = {record.stage: set(record.ranking) for record in trace.stages}
    assert {candidate.section_id for candidate in state.candidates} == ranked["dense"] | ranked["lexical"]
    assert ranked["dense"] != ranked["lexical"]
    best = state.candidates[0]
    assert {"dense", "dense_rank", "lexical", "lexical_rank"} <= set(best.scores)
    assert 0.0 < best.score <= 1.0
    assert best.title == "Pauli exclusion principle"


@pytest.mark.parametrize("mode", ["dense", "lexical"])
def test_a_single_ranker_keeps_its_order_and_scores(pack: Pack, mode: str) -> None:
    state, trace = retrieve(pack, mode=mode)
    (run,) = state.runs
    assert list(run) == [mode]
    assert [(c.section_id, c.score) for c in state.candidates] == [(hit.section_id, hit.score) for hit in run[mode]]
    assert 0.0 < state.candidates[0].relevance <= 1.0
    assert ("encode" in {record.stage for record in trace.stages}) is (mode == "dense")


def test_the_lexical_mode_never_encodes_the_question(pack: Pack) -> None:
    state = pipeline(pack, mode="lexical").retrieve(QUESTION, Trace())
    assert "vector" not in vars(state.question)


def test_reciprocal_ranks_fuse_without_scores(pack: Pack) -> None:
    state, _ = retrieve(pack, fusion="rrf")
    best = state.candidates[0]
    ranks = [best.scores[f"{ranker}_rank"] for ranker in ("dense", "lexical")]
    assert best.score == pytest.approx(sum(1 / (60 + rank) for rank in ranks))


def test_lexical_search_says_why_a_section_is_missing(pack: Pack) -> None:
    _, trace = retrieve(pack, "photoelectric", mode="lexical")
    (record,) = [record for record in trace.stages if record.stage == "lexical"]
    assert 0 < len(record.ranking) < POOL
    assert record.absent == "it shares no word with the question"


def test_a_question_without_any_match_has_no_candidates(pack: Pack) -> None:
    state, _ = retrieve(pack, "xyzzy", mode="lexical")
    assert (state.candidates, state.evidence) == ((), ())


def test_the_depth_is_at_least_the_pool() -> None:
    assert (search_depth(0), search_depth(POOL + 1)) == (POOL, POOL + 1)


def test_fetch_keeps_the_order(pack: Pack) -> None:
    state, _ = retrieve(pack)
    backwards = state.candidates[4::-1]
    assert len(backwards) == 5
    assert [item.section.section_id for item in fetch(pack, backwards)] == [c.section_id for c in backwards]
    assert all(item.section.content for item in fetch(pack, backwards))
