"""Several packs as one: compared with a pack that has all of their articles, and where these differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.distribution.letters import build_triples
from tests.joined.conftest import BIRDS, OpenAll, Record, build

from wikigr.answer.abstention import THRESHOLD_NAME
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import UsageError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.profiles.files import load_profile
from wikigr.retrieval.relation_paths.stage import RelationPathsOptions
from wikigr.retrieval.rerankers.graph_reranker import GraphReranking

QUESTIONS = ["Which bird waits for fish?", "What does a winch wind?", "How long does a crane live?", "horn"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_sections_and_scores_are_those_of_one_pack_with_all_articles(
    open_all: OpenAll, birds: Path, lifts: Path, birds_and_lifts: Path, question: str
) -> None:
    joined = Pipeline(Profile(), open_all(birds, lifts), offline=True)
    with Pack(birds_and_lifts) as whole:
        pipeline = Pipeline(Profile(), whole, offline=True)
        (vector,) = whole.encoder.encode([question])
        near, nearest = joined.pack.nearest(vector, 4), whole.nearest(vector, 4)
        assert [hit.section_id for hit in near] == [hit.section_id for hit in nearest]
        # Another batch of texts changes the last digits of the vectors.
        assert [hit.score for hit in near] == pytest.approx([hit.score for hit in nearest], abs=1e-5)
        expected = pipeline.search(question, top_k=4)
        found = joined.search(question, top_k=4)
        assert [item.section for item in found] == [item.section for item in expected]
        # BM25 divides by the average length of a section, which each pack has of its own.
        assert [item.score for item in found] == pytest.approx([item.score for item in expected], abs=0.1)
        answer, answered = joined.answer(question), pipeline.answer(question)
        assert (answer.text, answer.citations, answer.abstained) == (
            answered.text,
            answered.citations,
            answered.abstained,
        )
        assert answer.confidence == pytest.approx(answered.confidence, abs=0.05)
        assert not answer.trace.warnings


def test_pagerank_is_that_of_all_articles_without_links_between_packs(
    open_all: OpenAll, birds: Path, lifts: Path, birds_and_lifts: Path
) -> None:
    pipeline = Pipeline(Profile(), open_all(birds, lifts), offline=True)
    pipeline.search("bird", top_k=1)
    found = pipeline.stage(GraphReranking).reranker.compute_pagerank()
    with Pack(birds_and_lifts) as whole:
        other = Pipeline(Profile(), whole, offline=True)
        other.search("bird", top_k=1)
        expected = other.stage(GraphReranking).reranker.compute_pagerank()
    assert found.keys() == expected.keys()
    assert sorted(found, key=lambda title: -found[title])[0] == "Heron"
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-4)
    assert found == pytest.approx(expected, abs=0.05)


def test_articles_of_a_pack_without_links_have_the_lowest_pagerank(
    open_all: OpenAll, birds: Path, tmp_path: Path, encoder: Embedder
) -> None:
    plain = build(tmp_path / "plain", [{"id": "w", "title": "Winch", "text": "A winch winds a rope."}], encoder)
    pipeline = Pipeline(Profile(), open_all(birds, plain), offline=True)
    pipeline.search("bird", top_k=1)
    found = pipeline.stage(GraphReranking).reranker.compute_pagerank()
    assert found.keys() == {"Crane", "Heron", "Owl", "Winch"}
    assert found["Winch"] == min(found.values()) < found["Heron"]


def test_articles_of_one_title_stay_apart(open_all: OpenAll, birds: Path, machines: Path) -> None:
    pack = open_all(machines, birds)
    pipeline = Pipeline(Profile(), pack, offline=True)
    ids = [item.section.section_id for item in pipeline.search("crane", top_k=4)]
    assert {"Crane#0", "Crane (machines)#0"} <= set(ids)
    assert [pack.origin(id_)[0].label for id_ in ("Crane#0", "Crane (machines)#0")] == ["birds", "machines"]
    assert pack.origin("Crane (machines)#0")[1] == "Crane#0"
    assert pack.id_of(pack.members[1], "Crane#0") == "Crane (machines)#0"
    assert pack.title_of(pack.members[1], "Crane") == "Crane (machines)"
    stored = pack.sections(["Crane (machines)#0", "Nothing#0", "Crane#0"])
    assert list(stored) == ["Crane (machines)#0", "Crane#0"]
    assert "machine" in stored["Crane (machines)#0"].content
    assert "bird" in stored["Crane#0"].content
    assert {section.title for section in stored.values()} == {"Crane"}
    assert pack.find_title("crane (MACHINES)") == "Crane (machines)"
    assert pack.headings("Crane (machines)") == pack.members[1].headings("Crane")
    assert pack.headings("Nothing") == []
    patent = pipeline.answer("In which year was the tower crane patented?")
    assert "1949" in patent.text
    assert patent.citations[0].section_id == "Crane (machines)#0"
    assert patent.citations[0].title == "Crane"
    age = pipeline.answer("For how many years does a crane live?")
    assert "forty" in age.text
    assert age.citations[0].section_id == "Crane#0"


def test_what_the_packs_do_not_cover_is_declined(open_all: OpenAll, birds: Path, machines: Path) -> None:
    answer = Pipeline(Profile(), open_all(birds, machines), offline=True).answer("Who wrote the opera Aida?")
    assert answer.abstained


def test_the_threshold_is_that_of_the_pack_that_answers(open_all: OpenAll, birds: Path, machines: Path) -> None:
    pack = open_all(birds, machines)
    question = "In which year was the tower crane patented?"
    pipeline = Pipeline(Profile(), pack, offline=True)
    answer = pipeline.answer(question)
    assert not answer.abstained
    pack.members[0].manifest.thresholds[THRESHOLD_NAME] = 0.999  # type: ignore[index]
    assert not pipeline.answer(question).abstained
    pack.members[1].manifest.thresholds[THRESHOLD_NAME] = 0.999  # type: ignore[index]
    assert pipeline.answer(question).abstained


def test_a_pack_of_another_encoder_is_searched_with_its_own(open_all: OpenAll, birds: Path, waves: Path) -> None:
    pack = open_all(birds, waves)
    own, other = (member.encoder for member in pack.members)
    (vector,) = pack.encoder.encode(["the wave"])
    assert vector @ vector == pytest.approx(1.0)
    assert pack.encoder.identity.dimension == len(vector) == 384 + 24
    found = {hit.section_id: hit.score for hit in pack.nearest(vector, 10)}
    birds_only = pack.members[0].nearest(own.encode(["the wave"])[0], 10)
    assert [found[hit.section_id] for hit in birds_only] == pytest.approx([hit.score for hit in birds_only], abs=1e-5)
    low, high = (member.manifest.thresholds["min_relevance"] for member in pack.members)
    waves_only = pack.members[1].nearest(other.encode(["the wave"])[0], 10)
    for hit in waves_only:
        # The cosine of unrelated texts becomes that of the first encoder, and 1 stays 1.
        share = (hit.score - min(0.9, high)) / (1.0 - min(0.9, high))
        assert found[hit.section_id] == pytest.approx(low + share * (1.0 - low), abs=1e-4)
    pipeline = Pipeline(Profile(), pack, offline=True)
    made = pipeline.answer("When was a laser wave first made?")
    assert "1960" in made.text
    assert pack.origin(made.citations[0].section_id)[0].label == "waves"
    heron = pipeline.answer("Which bird waits for fish?")
    assert pack.origin(heron.citations[0].section_id)[0].label == "birds"


def test_a_path_of_relations_answers_from_the_pack_of_triples(
    open_all: OpenAll, tmp_path: Path, encoder: Embedder
) -> None:
    people = build_triples(tmp_path / "people", encoder)
    records: list[Record] = [*BIRDS[1:], {"id": "m", "title": "Mira Holt", "text": "Mira Holt is a song of the sea."}]
    pack = open_all(people, build(tmp_path / "notes", records, encoder))
    question = "Where was the spouse of Ben Ode born?"
    with Pack(people) as alone:
        expected = Pipeline(Profile(), alone, offline=True).answer(question)
    answer = Pipeline(Profile(), pack, offline=True).answer(question)
    assert "relation_paths" in [record.stage for record in answer.trace.stages]
    assert (answer.text, answer.confidence) == (expected.text, expected.confidence)
    assert {pack.origin(citation.section_id)[0].label for citation in answer.citations} == {"people"}
    assert [pack.origin(citation.section_id)[1] for citation in answer.citations] == [
        citation.section_id for citation in expected.citations
    ]
    assert {citation.section_id.partition("#")[0] for citation in answer.citations} >= {"Mira Holt (people)"}
    bird = Pipeline(Profile(), pack, offline=True).answer("Which bird waits for fish?")
    assert bird.citations[0].section_id == "Heron#0"
    without = Profile().override(RelationPathsOptions, enabled=False)
    assert Pipeline(without, pack, offline=True).answer(question).citations != answer.citations


def test_a_hop_may_lead_to_another_pack(open_all: OpenAll, tmp_path: Path, encoder: Embedder) -> None:
    films = build(
        tmp_path / "films",
        [{"id": "1", "title": "The Glass Door", "text": "The Glass Door is a film that Clara Voss directed in 1967."}],
        encoder,
    )
    people = build(
        tmp_path / "people",
        [{"id": "1", "title": "Clara Voss", "text": "Clara Voss was born in the town of Varnstad in 1921."}],
        encoder,
    )
    pack = open_all(films, people)
    answer = Pipeline(Profile(), pack, offline=True).answer(
        "In which town was the director of the film The Glass Door born?"
    )
    assert "Varnstad" in answer.text


def test_a_profile_that_explores_one_graph_is_refused(open_all: OpenAll, birds: Path, machines: Path) -> None:
    with pytest.raises(UsageError, match="one pack, not of 2"):
        Pipeline(load_profile("multi-strategy"), open_all(birds, machines), offline=True)
