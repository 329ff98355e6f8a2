"""Chains of hops on the demo pack: found, cited, ranked and left out where one hop is enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.answer.answer import Answer
from wikigr.graph_search.hops.chain_search import HopsOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.reader.passage import ReaderOptions

TWO_HOPS = "In which town was the critic born who asked whether the Moon is there when nobody looks?"
WITHOUT = Profile().override(HopsOptions, enabled=False)


@pytest.fixture(scope="module")
def pack(physics_pack: Path) -> Pack:
    return Pack(physics_pack, preload=True)


def ask(pack: Pack, question: str, profile: Profile | None = None) -> Answer:
    return Pipeline(profile or Profile(), pack, offline=True).answer(question)


def notes(answer: Answer, stage: str) -> dict[str, object]:
    (record,) = [record for record in answer.trace.stages if record.stage == stage]
    assert not record.degraded
    return record.notes


def test_a_described_person_is_found_first_and_every_hop_is_cited(pack: Pack) -> None:
    answer = ask(pack, TWO_HOPS)
    assert answer.span is not None
    assert answer.span.text == "Ulm"
    first, last = answer.chain
    assert first.question.startswith("Who is the critic who asked whether the Moon")
    assert "Einstein" in first.answer
    assert last.question == "In which town was Albert Einstein born?"
    for hop in answer.chain:
        assert hop.answer in answer.citations[hop.n - 1].quote
        assert 0.0 < hop.probability <= 1.0
    # The answer is cited first, and nothing that is no hop is.
    assert last.n == 1
    assert len(answer.citations) == 2


def test_the_sections_of_a_chain_are_ranked_and_read(pack: Pack) -> None:
    answer = ask(pack, TWO_HOPS)
    cited = {citation.section_id for citation in answer.citations}
    assert cited <= {item.section.section_id for item in answer.evidence}
    in_chain = {candidate.section_id for candidate in answer.ranking if candidate.scores["hops"] > 0.0}
    assert cited <= in_chain
    assert cited <= {candidate.section_id for candidate in answer.ranking[:10]}
    assert all(0.0 <= candidate.score <= 1.0 for candidate in answer.ranking)


def test_search_ranks_both_articles_before_others(pack: Pack) -> None:
    found = Pipeline(Profile(), pack, offline=True).search(TWO_HOPS, top_k=5)
    assert {"Copenhagen interpretation", "Albert Einstein"} <= {evidence.section.title for evidence in found}


def test_a_question_in_one_hop_is_answered_as_without_the_stage(pack: Pack) -> None:
    for question in ("Where was Werner Heisenberg born?", "Who discovered the neutron?", "What is spin?"):
        answer, without = ask(pack, question), ask(pack, question, WITHOUT)
        assert notes(answer, "hops")["skipped"] == "the question describes and compares nothing"
        assert answer.text == without.text
        assert answer.confidence == pytest.approx(without.confidence, abs=1e-6)
        assert answer.chain == ()


def test_a_name_is_found_beside_a_likelier_span_of_its_sentence(pack: Pack) -> None:
    question = "What was the executed son called of the theorist who guessed a radiation curve on a Sunday evening?"
    answer = ask(pack, question)
    first = answer.chain[0]
    quote = "Rubens told Planck of his data on a Sunday visit in October 1900, and Planck guessed the right curve"
    assert first.answer == "Planck"
    assert quote in answer.citations[first.n - 1].quote


def test_without_the_reader_there_are_no_hops(pack: Pack) -> None:
    answer = ask(pack, TWO_HOPS, Profile().override(ReaderOptions, enabled=False))
    assert answer.chain == ()
    assert "hops" not in {record.stage for record in answer.trace.stages}


def test_a_comparison_reads_both_dates_and_names_the_one_asked_for(pack: Pack) -> None:
    for question, name in (
        ("Who was born first, Werner Heisenberg or Marie Curie?", "Marie Curie"),
        ("Who was born later, Werner Heisenberg or Marie Curie?", "Werner Heisenberg"),
    ):
        answer = ask(pack, question)
        assert [hop.question for hop in answer.chain][-1] == f"When was {name} born?"
        # Each hop has the date that it asks for, and the choice between them is the short answer.
        years = {"When was Werner Heisenberg born?": "1901", "When was Marie Curie born?": "1867"}
        assert all(years[hop.question] in hop.answer for hop in answer.chain)
        assert answer.citations[0].title == name
        assert {citation.title for citation in answer.citations} == {"Werner Heisenberg", "Marie Curie"}
        if answer.span is not None:
            assert answer.span.text == name


@pytest.mark.parametrize(
    "question", ["Who was born first, Albert Born or Paul Dirac?", "Who was born first, Zorblax Curie or Paul Dirac?"]
)
def test_nothing_is_compared_with_what_the_pack_does_not_name(pack: Pack, question: str) -> None:
    assert ask(pack, question).chain == ()


def test_the_number_of_further_questions_is_bounded(pack: Pack) -> None:
    for most in (1, 2):
        answer = ask(pack, TWO_HOPS, Profile().override(HopsOptions, max_questions=most))
        asked = notes(answer, "hops")["questions"]
        assert isinstance(asked, list)
        assert 1 <= len(asked) <= most
        assert notes(answer, "hops")["out_of_questions"] is True
    assert notes(ask(pack, TWO_HOPS), "hops")["out_of_questions"] is False


def test_no_further_question_begins_after_the_time_and_a_warning_says_so(pack: Pack) -> None:
    answer = ask(pack, TWO_HOPS, Profile().override(HopsOptions, seconds=1e-9))
    (record,) = [record for record in answer.trace.stages if record.stage == "hops"]
    assert record.notes["questions"] == []
    assert answer.trace.degraded
    assert answer.trace.warnings == ["hops: Not all hops were tried: the limit of 1e-09 s (hops.seconds) passed."]
    assert answer.chain == ()
    assert answer.text == ask(pack, TWO_HOPS, WITHOUT).text


@pytest.mark.parametrize(
    "question",
    [
        "Who is the teacher of the student of the teacher of the student who was the teacher of Zorblax Quux?",
        "Where was the man born who " + "knew the man who " * 60 + "knew nobody?",
        "Where did the person not live who never discovered anything?",
        "Who was born first, Zorblax Quux or Blarg Foo?",
        "Where was the physicist born who who who?",
        "哪里 the 人 who 的",
    ],
)
def test_odd_questions_end_in_an_abstention_or_a_supported_chain(pack: Pack, question: str) -> None:
    answer = ask(pack, question)
    for hop in answer.chain:
        assert hop.answer in answer.citations[hop.n - 1].quote
    assert len(answer.chain) <= 3


def test_a_restricted_question_does_not_leave_its_articles(pack: Pack) -> None:
    answer = Pipeline(Profile(), pack, offline=True).answer(TWO_HOPS, within=["Copenhagen interpretation"])
    assert {item.section.title for item in answer.evidence} <= {"Copenhagen interpretation"}
    assert answer.chain == ()
