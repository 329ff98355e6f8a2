"""Seeds of the graph walk, reranking by its weights, and the walk as a stage of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import GraphIndex, index_graph
from wikigr.graph.neighborhood import Node, article
from wikigr.graph.schema import ddl
from wikigr.index.candidate import Candidate
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.rerankers.graph_walk import GraphWalkOptions, rerank_by_walk, seed_weights
from wikigr.retrieval.entity_linking import EntityLink
from wikigr.retrieval.trace import Trace

RESTART = 0.4


@pytest.fixture
def index(tmp_path: Path) -> GraphIndex:
    """Seed - Bridge - Far, Seed - thing - Other, and Alone."""
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        for title in ("Alone", "Bridge", "Far", "Other", "Seed"):
            graph.execute("CREATE (:Article {title: $title})", {"title": title})
        graph.execute("CREATE (:Entity {entity_id: 'thing', name: 'Thing', type: 'entity'})")
        graph.copy("LINKS_TO", pa.table({"from": ["Seed", "Far"], "to": ["Bridge", "Bridge"]}))
        graph.copy("HAS_ENTITY", pa.table({"from": ["Seed", "Other"], "to": ["thing", "thing"]}))
        return index_graph(graph, "")


def found(section: str, relevance: float, **scores: float) -> Candidate:
    return Candidate(section, relevance, {"relevance": relevance, **scores})


def link(node: Node, score: float) -> EntityLink:
    return EntityLink(node.name, 0, len(node.name), node, "exact", score)


def by_section(candidates: Sequence[Candidate]) -> Mapping[str, Candidate]:
    return {candidate.section_id: candidate for candidate in candidates}


def test_a_walk_starts_at_links_and_at_the_best_candidates(index: GraphIndex) -> None:
    candidates = [found("Seed#0", 0.5), found("Seed#1", 0.8), found("Nowhere#0", 0.7), found("Far#0", -0.2)]
    links = [link(article("Seed"), 0.25), link(Node("entity", "thing", "Thing"), 0.5), link(article("Gone"), 1.0)]
    seeds = seed_weights(index, candidates, links)
    seed, thing = index.numbers_of(["Seed"])["Seed"], index.named("thing")[0]
    assert seeds == {seed: pytest.approx(0.25 + 0.8**4), thing: 0.5}


def test_only_the_first_twenty_articles_are_seeds(tmp_path: Path) -> None:
    titles = [f"T{n:02}" for n in range(30)]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        for title in titles:
            graph.execute("CREATE (:Article {title: $title})", {"title": title})
        index = index_graph(graph, "")
    candidates = [found(f"{title}#{n}", 0.5) for title in titles for n in (0, 1)]
    assert sorted(seed_weights(index, candidates, [])) == list(range(20))


def test_articles_that_only_the_walk_reaches_add_their_leads(index: GraphIndex) -> None:
    candidates = [found("Seed#2", 0.9, dense=0.9), found("Alone#0", 0.3, dense=0.3)]
    ranked = rerank_by_walk(index, candidates, [], restart=RESTART)
    sections = by_section(ranked)
    assert set(sections) == {"Seed#2", "Bridge#0", "Far#0", "Other#0", "Alone#0"}
    assert (sections["Bridge#0"].relevance, "dense" in sections["Bridge#0"].scores) == (0.0, False)
    assert sections["Seed#2"].score > sections["Bridge#0"].score > sections["Far#0"].score > 0
    # What was known of a candidate stays, and its relevance is still that to the question.
    assert (sections["Seed#2"].relevance, sections["Seed#2"].scores["dense"]) == (0.9, 0.9)
    assert sections["Seed#2"].scores["walk"] == 1.0
    assert all(0.0 <= c.score <= 1.0 for c in ranked)
    assert [c.score for c in ranked] == sorted((c.score for c in ranked), reverse=True)


def test_a_section_is_scaled_by_its_relevance_within_its_article(index: GraphIndex) -> None:
    ranked = by_section(rerank_by_walk(index, [found("Seed#0", 0.8), found("Seed#1", 0.4)], [], restart=RESTART))
    assert ranked["Seed#0"].score == pytest.approx((1.0 + 0.05 * 0.8) / 1.05)
    assert ranked["Seed#1"].score == pytest.approx((0.5 + 0.05 * 0.4) / 1.05)


def test_links_change_the_ranking(index: GraphIndex) -> None:
    candidates = [found("Seed#0", 0.3), found("Alone#0", 0.4)]
    assert rerank_by_walk(index, candidates, [], restart=RESTART)[0].title == "Alone"
    ranked = rerank_by_walk(index, candidates, [link(article("Far"), 1.0)], restart=RESTART)
    assert ranked[0].section_id == "Far#0"
    assert by_section(ranked)["Bridge#0"].score > by_section(ranked)["Alone#0"].score


def test_without_a_seed_the_order_is_kept(index: GraphIndex) -> None:
    candidates = [
        Candidate("Seed#3", 0.5, {"relevance": 0.0}),
        Candidate("Alone#0", 0.4, {"relevance": 0.0}),
        Candidate("Far#0", 0.3, {"relevance": -0.1}),
        Candidate("Bridge#0", 0.2, {"relevance": 0.0}),
    ]
    assert rerank_by_walk(index, candidates, [], restart=RESTART) == candidates
    assert rerank_by_walk(index, [], [], restart=RESTART) == []


def test_ties_are_broken_by_section(index: GraphIndex) -> None:
    candidates = [found("Seed#1", 0.5), found("Seed#0", 0.5)]
    ranked = rerank_by_walk(index, candidates, [], restart=RESTART)
    again = rerank_by_walk(index, candidates[::-1], [], restart=RESTART)
    assert [c.section_id for c in ranked[:2]] == ["Seed#0", "Seed#1"]
    assert ranked == again


# -- as a stage

# "Breslau" answers where the author of the book was born, and has no word of the question.
RECORDS: list[Mapping[str, object]] = [
    {"id": "1", "title": "The Silent Orchard", "text": "The Silent Orchard is a novel by Ada Nowak.", "links": ["2"]},
    {"id": "2", "title": "Ada Nowak", "text": "Ada Nowak wrote. She came from Breslau.", "links": ["3"]},
    {"id": "3", "title": "Breslau", "text": "# Trams\nSteel rails need grease.\n# Ferries\nBoats cross."},
    *(
        {"id": f"n{n}", "title": f"Novel {n}", "text": f"Novel {n} is a book whose author was born in a town."}
        for n in range(220)
    ),
]
QUESTION = "In what town was the author of the novel The Silent Orchard born?"


@pytest.fixture(scope="module")
def books(pack_of: Callable[..., Path]) -> Path:
    return pack_of("books", {"books.jsonl": "".join(json.dumps(record) + "\n" for record in RECORDS)})


def without_walk() -> Profile:
    return Profile().override(GraphWalkOptions, enabled=False)


def test_the_stage_finds_articles_without_words_of_the_question(books: Path) -> None:
    with Pack(books) as pack:
        trace, plain = Trace(), Trace()
        context = Pipeline(Profile(), pack).retrieve(QUESTION, trace)
        before = Pipeline(without_walk(), pack).retrieve(QUESTION, plain)
    assert "Breslau" not in {c.title for c in before.candidates}
    assert "Breslau" not in {e.section.title for e in before.evidence}
    (lead,) = [e for e in context.evidence if e.section.title == "Breslau"]
    assert (lead.section.section_id, lead.section.position) == ("Breslau#0", 0)
    assert context.candidates[0].title == "The Silent Orchard"
    stages = {record.stage: record for record in trace.stages}
    assert stages["graph_walk"].scored == len(context.candidates) > len(before.candidates)
    notes = [note for record in trace.stages for note in record.notes.get("links", [])]
    assert any(note.startswith("The Silent Orchard → The Silent Orchard (") for note in notes)
    assert trace.warnings == []


def test_the_disabled_stage_does_not_run(books: Path) -> None:
    with Pack(books) as pack:
        trace = Trace()
        context = Pipeline(without_walk(), pack).retrieve(QUESTION, trace)
    assert not {"graph_walk", "entity_linking"} & {record.stage for record in trace.stages}
    assert context.candidates
    assert not any("walk" in candidate.scores for candidate in context.candidates)


def test_within_given_articles_there_is_no_walk(books: Path) -> None:
    with Pack(books) as pack:
        trace, plain = Trace(), Trace()
        context = Pipeline(Profile(), pack).retrieve(QUESTION, trace, within=["Ada Nowak", "Novel 7"])
        before = Pipeline(without_walk(), pack).retrieve(QUESTION, plain, within=["Ada Nowak", "Novel 7"])
    assert {c.title for c in context.candidates} == {"Ada Nowak", "Novel 7"}
    assert context.candidates == before.candidates
    assert "graph_walk" not in {record.stage for record in trace.stages}
