"""Several packs as one: opening, searching and asking them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.distribution.letters import build_triples
from tests.pack.joined.conftest import BIRDS, OpenAll, Record, build

from wikigr.answer.abstention import THRESHOLD_NAME
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import PackError, UsageError
from wikigr.graph_search.relation_paths.stage import RelationPathsOptions
from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.pack.joined import JoinedLexicalIndex, JoinedPack, open_packs
from wikigr.pack.layout import DATABASE, MANIFEST
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_files import load_profile
from wikigr.rerankers.graph_reranker import GraphReranking


def test_the_same_content_counts_once_wherever_it_is(birds: Path, machines: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(birds)
    shutil.copytree(birds, tmp_path / "copy")
    again = [str(birds / DATABASE), str(tmp_path / "link"), str(tmp_path / "copy")]
    alone = open_packs([str(birds), *again])
    with alone.pack as pack:
        assert not isinstance(pack, JoinedPack)
        assert alone.repeated == tuple(again)
    two = open_packs([str(birds), str(machines), *again])
    with two.pack as pack:
        assert [member.manifest.name for member in pack.members] == ["birds", "machines"]
        assert two.repeated == tuple(again)


def test_the_order_of_the_packs_does_not_matter(open_all: OpenAll, birds: Path, machines: Path) -> None:
    one, other = open_all(birds, machines), open_all(machines, birds)
    assert [member.label for member in one.members] == [member.label for member in other.members]
    assert one.manifest == other.manifest


def test_two_packs_of_one_name_are_told_apart(open_all: OpenAll, birds: Path, machines: Path, tmp_path: Path) -> None:
    manifest = (machines / MANIFEST).read_text().replace('"name": "machines"', '"name": "birds"', 1)
    shutil.copytree(machines, tmp_path / "other")
    (tmp_path / "other" / MANIFEST).write_text(manifest)
    digests = [member.manifest.digest[:12] for member in open_all(birds, tmp_path / "other").members]
    labels = [member.label for member in open_all(birds, tmp_path / "other").members]
    assert labels == [f"birds 1.0.0 {digest}" for digest in digests]
    (tmp_path / "other" / MANIFEST).write_text(manifest.replace('"version": "1.0.0"', '"version": "2.0.0"', 1))
    assert [m.label for m in open_all(tmp_path / "other", birds).members] == ["birds 1.0.0", "birds 2.0.0"]


@pytest.mark.parametrize("part", [DATABASE, MANIFEST, "lexical/meta.json"])
def test_an_unreadable_pack_is_named_and_no_other_stays_open(
    birds: Path, machines: Path, tmp_path: Path, part: str
) -> None:
    broken = shutil.copytree(machines, tmp_path / "broken")
    (broken / part).write_text("")
    with pytest.raises(PackError, match="nowhere"):
        open_packs([str(birds), str(tmp_path / "nowhere")])
    # The traceback in "caught" refers to the packs, so none is closed because nothing refers to it.
    with pytest.raises(PackError, match="broken") as caught:
        open_packs([str(birds), str(broken)], preload=True)
    assert caught.value.hint
    if sys.platform == "linux":
        files = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        assert str(birds / DATABASE) not in files


def test_models_are_loaded_once(open_all: OpenAll, birds: Path, machines: Path) -> None:
    pack = open_all(machines, birds)
    first, second = pack.members
    assert [first.label, second.label] == ["birds", "machines"]
    assert first.encoder is second.encoder is pack.encoder
    assert first.reader is second.reader is pack.reader


def test_a_pack_of_another_encoder_is_refused_with_the_command_that_rebuilds_it(birds: Path, waves: Path) -> None:
    with pytest.raises(UsageError, match="The packs 'birds' and 'waves' have different encoders") as refused:
        open_packs([str(birds), str(waves)])
    hint = refused.value.hint or ""
    assert f"wikigr pack build SOURCE -o {waves}" in hint
    assert "--embedding-model sentence-transformers/all-MiniLM-L6-v2" in hint


Make = Callable[[str, Mapping[str, str]], LexicalIndex]
# Every text has four tokens, so that the average length is the same in all indexes.
CODE = {
    "json#0": "json reads a string",
    "list#0": "list sorts a sequence",
    "set#0": "set drops a string",
    "wave#0": "wave module reads files",
}
PHYSICS = {"electron#0": "electron is a wave", "photon#0": "photon is a wave", "sound#0": "sound as wave_train"}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def index(name: str, texts: Mapping[str, str]) -> LexicalIndex:
        with LexicalWriter(tmp_path / name) as writer:
            for section_id, text in texts.items():
                writer.add(section_id, "", "", text)
        return LexicalIndex(tmp_path / name)

    return index


def test_scores_and_rarity_are_those_of_one_index(make: Make) -> None:
    joined = JoinedLexicalIndex([make("code", CODE), make("physics", PHYSICS)], lambda number, section_id: section_id)
    whole = make("whole", {**CODE, **PHYSICS})
    queries = ["wave", "a wave", "a wave a waves", "string reads", "wave_train", "WAVE AND string", "_", "nothing", ""]
    for query in queries:
        found, expected = joined.search(query, 10), whole.search(query, 10)
        assert {hit.section_id: hit.score for hit in found} == pytest.approx(
            {hit.section_id: hit.score for hit in expected}, rel=1e-4
        )
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        assert joined.search(query, 2) == found[:2]
        assert joined.search(query, 0) == []
    assert len(joined) == len(whole) == 7
    for stem in ("wave", "string", "a", "nothing"):
        assert joined.frequency(stem) == whole.frequency(stem)
        assert joined.rarity(stem) == whole.rarity(stem)


def test_a_rare_word_of_one_pack_does_not_outweigh_the_others(make: Make) -> None:
    code, physics = make("code", CODE), make("physics", PHYSICS)
    assert code.search("wave", 1)[0].score > 2 * physics.search("wave", 1)[0].score
    joined = JoinedLexicalIndex([code, physics], lambda number, section_id: f"{number}:{section_id}")
    scores = {hit.section_id: hit.score for hit in joined.search("wave", 10)}
    assert scores["0:wave#0"] == pytest.approx(scores["1:photon#0"], rel=1e-4)


QUESTIONS = ["Which bird waits for fish?", "What does a winch wind?", "How long does a crane live?", "horn"]


def test_sections_and_scores_are_those_of_one_pack_with_all_articles(
    open_all: OpenAll, birds: Path, lifts: Path, birds_and_lifts: Path
) -> None:
    joined = Pipeline(Profile(), open_all(birds, lifts), offline=True)
    with Pack(birds_and_lifts) as whole:
        pipeline = Pipeline(Profile(), whole, offline=True)
        for question in QUESTIONS:
            (vector,) = whole.encoder.encode([question])
            near, nearest = joined.pack.nearest(vector, 4), whole.nearest(vector, 4)
            assert [hit.section_id for hit in near] == [hit.section_id for hit in nearest]
            # Another batch of texts changes the last digits of the vectors.
            assert [hit.score for hit in near] == pytest.approx([hit.score for hit in nearest], abs=1e-5)
            expected, found = (each.search(question, top_k=4) for each in (pipeline, joined))
            assert [item.section for item in found] == [item.section for item in expected]
            # BM25 divides by the average length of a section, which each pack has of its own.
            assert [item.score for item in found] == pytest.approx([item.score for item in expected], abs=0.1)
            answer, answered = joined.answer(question), pipeline.answer(question)
            for part in ("text", "citations", "abstained"):
                assert getattr(answer, part) == getattr(answered, part)
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
