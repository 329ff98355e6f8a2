"""The table of stages: everything that knows stages agrees with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.graph_search.relation_paths.stage import RelationPaths
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile, profile_names
from wikigr.pipeline.profile_files import load_profile
from wikigr.pipeline.profile_schema import profile_values
from wikigr.pipeline.stages import ANSWER_STAGES, RETRIEVAL_STAGES, SECTIONS, rankers_only
from wikigr.rerankers.graph_walk import GraphWalkOptions
from wikigr.retrieval.candidates import RetrievalOptions
from wikigr.retrieval.trace import Trace

QUESTION = "Who discovered the electron?"


def test_names_and_sections_are_unique() -> None:
    names = [stage.name for stage in (*RETRIEVAL_STAGES, *ANSWER_STAGES)]
    assert len(set(names)) == len(names) > 10
    sections = [kind.section for kind in SECTIONS]
    assert len(set(sections)) == len(sections)


def test_every_section_is_a_section_of_a_profile() -> None:
    assert list(profile_values(Profile())) == ["name", "description", *(kind.section for kind in SECTIONS)]


def test_the_pipeline_runs_the_enabled_rows_in_order(physics_pack: Path, subtests: pytest.Subtests) -> None:
    for name in profile_names():
        with subtests.test(name=name):
            profile = load_profile(name)
            with Pack(physics_pack) as pack:
                trace = Pipeline(profile, pack, offline=True).answer(QUESTION).trace
            # The physics pack is made of text, where no relation paths are looked for.
            rows = [stage for stage in RETRIEVAL_STAGES if stage.run is not RelationPaths]
            expected = [stage.name for stage in rows if stage.applies_to(profile)]
            expected += [stage.name for stage in ANSWER_STAGES if stage.applies_to(profile)]
            known = {stage.name for stage in (*RETRIEVAL_STAGES, *ANSWER_STAGES)}
            assert [record.stage for record in trace.stages if record.stage in known] == expected


def test_a_score_key_is_written_by_its_stage(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        answer = Pipeline(Profile(), pack, offline=True).answer("Where was the man born who discovered the neutron?")
    written = {key for candidate in answer.ranking for key in candidate.scores}
    enabled = {stage.score for stage in RETRIEVAL_STAGES if stage.score and stage.applies_to(Profile())}
    assert enabled == {"dense", "hops", "lexical", "unit", "walk"}
    assert enabled <= written


def test_a_plain_ranker_is_not_reranked(physics_pack: Path) -> None:
    profile = rankers_only(Profile()).override(RetrievalOptions, mode="lexical")
    trace = Trace()
    with Pack(physics_pack) as pack:
        Pipeline(profile, pack, offline=True).search(QUESTION, top_k=3, trace=trace)
    assert [record.stage for record in trace.stages] == ["aliases", "lexical", "fuse", "fetch"]


def test_a_walk_alone_still_links_the_names_of_the_question() -> None:
    linking = next(stage for stage in RETRIEVAL_STAGES if stage.name == "entity_linking")
    assert linking.applies_to(Profile())
    assert not linking.applies_to(Profile().override(GraphWalkOptions, enabled=False))


def test_ablations_come_from_the_options() -> None:
    found = {name for kind in SECTIONS for name in Profile()[kind].ablations()}
    assert found == {
        "lexical", "dense", "graph_reranker", "graph_walk", "multi_doc", "section_quality", "few_shot", "reader",
        "relation_paths", "hops", "unit_match",
    }  # fmt: skip
