"""The pipeline: what retrieval hands to an answer, restricted retrieval, and stages that fail."""

from __future__ import annotations

import pytest

from wikigr.errors import UsageError
from wikigr.llm.client import Claude
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_files import load_profile
from wikigr.rerankers.graph_walk import GraphWalk, GraphWalkOptions
from wikigr.retrieval.document_selection import MultiDocOptions
from wikigr.retrieval.trace import Trace

QUESTION = "Where did Werner Heisenberg work?"


@pytest.fixture
def pipeline(pack: Pack) -> Pipeline:
    return Pipeline(Profile(), pack, offline=True)


def test_retrieval_returns_candidates_links_and_evidence(pipeline: Pipeline) -> None:
    trace = Trace()
    found = pipeline.retrieve(QUESTION, trace)
    assert found.question.text == QUESTION
    assert [link.node.label for link in found.links] == ["Werner Heisenberg"]
    scores = [candidate.score for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) > len(found.selected) >= len(found.evidence) > 0
    selected = [candidate.section_id for candidate in found.selected]
    assert [item.section.section_id for item in found.evidence] == [id_ for id_ in selected if id_ in found_ids(found)]
    assert len({item.section.title for item in found.evidence}) <= 5


def found_ids(found: object) -> set[str]:
    return {item.section.section_id for item in found.evidence}  # type: ignore[attr-defined]


def test_the_limits_of_the_profile_hold(pack: Pack) -> None:
    profile = Profile().override(MultiDocOptions, num_docs=2, max_sections=1)
    found = Pipeline(profile, pack, offline=True).retrieve("How does a laser work?", Trace())
    titles = [candidate.title for candidate in found.selected]
    assert (len(titles), len(set(titles))) == (2, 2)
    assert found.limit == 2


def test_within_some_articles_nothing_else_is_a_candidate(pipeline: Pipeline) -> None:
    trace = Trace()
    found = pipeline.retrieve(QUESTION, trace, within=["SPIN", "Max_Planck"])
    assert {candidate.title for candidate in found.candidates} == {"Spin", "Max Planck"}
    assert not {"entity_linking", "graph_walk"} & {record.stage for record in trace.stages}
    nowhere = pipeline.retrieve(QUESTION, Trace(), within=["No such article"])
    assert (nowhere.candidates, nowhere.evidence) == ((), ())
    assert pipeline.answer(QUESTION, within=["No such article"]).abstained


def test_a_search_reads_no_more_than_it_returns(pipeline: Pipeline) -> None:
    trace = Trace()
    found = pipeline.search(QUESTION, top_k=4, trace=trace)
    assert len(found) == 4
    assert not {"documents", "section_quality", "sentences"} & {record.stage for record in trace.stages}
    with pytest.raises(UsageError, match="at least 1"):
        pipeline.search(QUESTION, top_k=0)


def test_a_stage_is_made_once_for_a_pipeline(pipeline: Pipeline) -> None:
    assert pipeline.stage(GraphWalk) is pipeline.stage(GraphWalk)
    assert pipeline.stage(GraphWalk).options == GraphWalkOptions()


def test_an_optional_stage_that_fails_is_skipped_loudly(pack: Pack) -> None:
    pipeline = Pipeline(Profile(), pack, offline=True)

    def fail(*_: object) -> None:
        raise ValueError("the walk broke")

    pipeline.stage(GraphWalk).run = fail  # type: ignore[method-assign,assignment]
    answer = pipeline.answer(QUESTION)
    assert answer.trace.degraded
    assert "graph_walk: the walk broke" in answer.trace.warnings
    without = Pipeline(Profile().override(GraphWalkOptions, enabled=False), pack, offline=True)
    assert answer.citations == without.answer(QUESTION).citations


def test_a_required_stage_that_fails_stops_the_question(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline(load_profile("baseline"), pack, offline=True)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the engine is gone")

    monkeypatch.setattr(pack, "nearest", fail)
    with pytest.raises(RuntimeError, match="the engine is gone"):
        pipeline.answer(QUESTION)


def test_offline_and_a_model_contradict_each_other(pack: Pack) -> None:
    with pytest.raises(ValueError, match="offline"):
        Pipeline(Profile(), pack, model=Claude(model="m", api_key="key"), offline=True)
