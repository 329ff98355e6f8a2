"""Questions over a pack made of triples, as ``wikigr ask --offline`` answers them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.graph_search.relation_paths.conftest import tsv

from wikigr.answer.answer import Answer
from wikigr.graph_search.relation_paths.stage import RelationPathsOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile


def path_of(answer: Answer) -> str:
    """Return the relations of the path that the trace shows first."""
    paths = next(record.notes["paths"] for record in answer.trace.stages if record.stage == "relation_paths")
    return str(paths[0]).partition("  ")[0] if paths else ""


def test_a_question_is_answered_along_the_path_that_it_describes(pipeline: Pipeline, subtests: pytest.Subtests) -> None:
    for question, path, named in [
        ("a film directed by clara voss", "~directed_by", ["The Glass Door", "The Iron Bell"]),
        ("Who wrote The Iron Bell?", "written_by", ["Otto Prim"]),
        ("the release year of the iron bell", "release_year", ["1961"]),
        ("when did the movies directed by Clara Voss release", "~directed_by > release_year", ["1961", "1967"]),
        ("who acted in the films directed by Clara Voss", "~directed_by > starred_actors", ["Emil Roth", "Ida Falk"]),
        ("the parent of Ada Prim", "parent", ["Leo Prim"]),
        ("Ada Prim is the parent of whom", "~parent", ["Otto Prim"]),
        ("whose parent is ada prim", "~parent", ["Otto Prim"]),
        ("who is the parent of the parent of Otto Prim", "parent > parent", ["Leo Prim"]),
        ("To whom did Ada Prim write?", "wrote to", ["Leo Prim"]),
        ("movies directed by the director of The Iron Bell", "directed_by > ~directed_by", ["The Glass Door"]),
        ("who acted in the films written by the writer of The Iron Bell", "written_by > ~written_by > starred_actors",
         ["Ida Falk"]),
    ]:  # fmt: skip
        with subtests.test(question=question):
            answer = pipeline.answer(question)
            assert path_of(answer) == path
            assert [name for name in named if name in answer.text] == named


@pytest.mark.parametrize("question", ["Did Otto Prim direct The Iron Bell?", "Was The Iron Bell written by Otto Prim?"])
def test_a_path_answers_no_question_for_yes_or_no(pipeline: Pipeline, question: str) -> None:
    answer = pipeline.answer(question)
    assert answer.kind != "path"
    assert "relation_paths" not in [record.stage for record in answer.trace.stages]


def test_every_fact_on_the_way_is_a_verified_citation(pipeline: Pipeline) -> None:
    answer = pipeline.answer("when did the movies directed by Clara Voss release")
    assert [citation.quote for citation in answer.citations] == [
        "The Iron Bell — directed by: Clara Voss.",
        "The Iron Bell — release year: 1961.",
        "The Glass Door — directed by: Clara Voss.",
        "The Glass Door — release year: 1967.",
    ]
    stored = pipeline.pack.sections([citation.section_id for citation in answer.citations])
    for citation in answer.citations:
        assert stored[citation.section_id].content[citation.start : citation.end] == citation.quote


def test_a_single_answer_is_the_short_answer(pipeline: Pipeline) -> None:
    span = pipeline.answer("Who wrote The Iron Bell?").span
    assert span is not None
    assert span.text == "Otto Prim"
    assert pipeline.pack.sections([span.section_id])[span.section_id].content[span.start : span.end] == span.text


def test_a_name_that_another_one_begins_with_has_its_own_fact_and_place(pipeline: Pipeline) -> None:
    held = pipeline.answer("what does Shelf hold")
    assert [citation.quote for citation in held.citations] == ["Shelf — holds: Book 10.", "Shelf — holds: book 1."]
    span = pipeline.answer("the spouse of Zoe").span
    assert span is not None
    assert (span.text, span.start) == ("Zo", len("Zoe — spouse: "))


def test_a_long_list_is_cut_with_its_total(graph_pack: Pack) -> None:
    profile = Profile().override(RelationPathsOptions, max_answers=20)
    answer = Pipeline(profile, graph_pack, offline=True).answer("films directed by Nora Hub")
    assert answer.text.startswith("20 of 45 answers: Film 00; Film 01;")
    assert len(answer.citations) == 20


def test_the_trace_shows_the_other_paths_with_their_scores(pipeline: Pipeline) -> None:
    answer = pipeline.answer("Who wrote The Iron Bell?")
    paths = next(record.notes["paths"] for record in answer.trace.stages if record.stage == "relation_paths")
    assert len(paths) > 1
    assert "from The Iron Bell, score" in paths[0]


def test_what_no_path_explains_is_declined(pipeline: Pipeline) -> None:
    cases = [
        "how do I cook rice",
        "What is the melting point of The Iron Bell?",
        "What was the first film directed by Clara Voss?",
        "which films were not directed by Clara Voss",
        "Why did Clara Voss direct The Iron Bell?",
        "the films directed by Clara Voss in 1975",
        "the teacher of the student of the teacher of the student of the teacher of Zanzibar Quux",
        # Leo Prim's parent is not known, so no answer follows from fewer steps.
        "who is the parent of the parent of Ada Prim",
        "Ada Prim's parent's parent",
        "the parent of the parent of the parent of the parent of Otto Prim",
    ]
    assert [question for question in cases if not pipeline.answer(question).abstained] == []


@pytest.mark.parametrize(
    "question",
    [
        "Clara Voss",
        "любимый цвет Ida Falk",
        "not directed by Clara Voss nor written by Otto Prim " * 30,
        "the director of the film of the director of the film of the director of The Iron Bell",
        "The Iron Bell The Glass Door Clara Voss Emil Roth Ida Falk Otto Prim Kelburg Zorland 1961 1967",
    ],
)
def test_odd_questions_do_not_fail(pipeline: Pipeline, question: str) -> None:
    answer = pipeline.answer(question)
    assert "relation_paths" in [record.stage for record in answer.trace.stages]
    assert not answer.trace.degraded


@pytest.mark.trust
def test_a_hub_and_hundreds_of_relations_are_bounded(
    pack_of: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine, the limit for users passes.
    monkeypatch.setattr("wikigr.graph_search.relation_paths.stage._MAX_SECONDS", 60.0)
    facts = [("Hub", f"links to part {n}", f"Part {n}") for n in range(150)]
    facts += [(f"Leaf {n}", "belongs_to", "Center") for n in range(100)]
    with Pack(pack_of("hub", {"hub.tsv": tsv(facts)})) as pack:
        pipeline = Pipeline(Profile(), pack, offline=True)
        answer = pipeline.answer("what belongs to Center")
        assert answer.text.startswith("30 of 100 answers: ")
        assert not pipeline.answer("what is part 123 of the hub").trace.degraded


def test_a_pack_of_text_does_not_look_for_paths(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        answer = Pipeline(Profile(), pack, offline=True).answer("Who discovered the electron?")
    assert "relation_paths" not in [record.stage for record in answer.trace.stages]


def test_no_path_leaves_the_articles_to_which_a_question_is_restricted(pipeline: Pipeline) -> None:
    answer = pipeline.answer("who acted in the films directed by Clara Voss", within=["Clara Voss"])
    assert "relation_paths" not in [record.stage for record in answer.trace.stages]


def test_vectors_of_another_encoder_are_not_matched(graph_pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.graph_search.relation_paths.stage.DEFAULT_WEIGHTS_SHA256", "another")
    answer = Pipeline(Profile(), graph_pack, offline=True).answer("a film directed by clara voss")
    (record,) = [record for record in answer.trace.stages if record.stage == "relation_paths"]
    assert "default encoder" in record.notes["skipped"]
    assert not record.degraded


def test_a_search_that_runs_out_of_time_says_so(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.graph_search.relation_paths.stage._MAX_SECONDS", -1.0)
    answer = pipeline.answer("Who wrote The Iron Bell?")
    assert path_of(answer) == ""
    assert answer.trace.warnings == ["relation_paths: Not all paths were tried: the limit of -1 s passed."]
