"""The rule pruner, on graphs of films."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.graph_edges import edges_at
from tests.graph_search.explore.films import BELL, FACTS, MAYOR, WAY, by_rule, entity, fill, shown

from wikigr.embeddings.embedder import Embedder, EncoderIdentity
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import Neighborhood, article
from wikigr.graph_search.explore.rule_pruner import RulePruner
from wikigr.graph_search.explore.triplets import TripletRetriever


def test_a_path_of_several_hops_is_found(graph: Graph, encoder: Embedder) -> None:
    narrow = {"max_num_relations": 1, "max_num_entities": 1}
    result = by_rule(graph, encoder, MAYOR, max_num_iterations=3, **narrow)
    assert shown(result) == WAY
    assert result.explored == (BELL, entity("Clara Voss"), entity("Kelburg"))
    assert result.triplets[0].section_id == "The Iron Bell#0"
    company = by_rule(graph, encoder, "Which company employs the spouse of the director of The Iron Bell?", **narrow)
    assert shown(company)[-1] == "Emil Roth -> employer -> Sabel Group"


def test_synonyms_match_by_their_vectors(graph: Graph, encoder: Embedder) -> None:
    result = by_rule(graph, encoder, "Who is Clara Voss married to?", entity("Clara Voss"), max_num_relations=1)
    assert shown(result)[0] == "Clara Voss -> spouse -> Emil Roth"


def test_inverse_relations_are_followed(graph: Graph, encoder: Embedder) -> None:
    result = by_rule(
        graph,
        encoder,
        "Which films did Clara Voss direct?",
        entity("Clara Voss"),
        max_num_relations=1,
        max_num_iterations=1,
    )
    assert shown(result) == ["The Glass Door -> director -> Clara Voss", "The Iron Bell -> director -> Clara Voss"]
    assert result.stop_reason == "max_iterations"


def test_the_search_finishes_when_all_words_are_matched(graph: Graph, encoder: Embedder) -> None:
    result = by_rule(graph, encoder, "Who directed The Iron Bell?", max_num_iterations=8, max_num_relations=1)
    assert (result.stop_reason, result.explored) == ("finish", (BELL,))
    assert shown(result) == ["The Iron Bell -> director -> Clara Voss"]


def test_what_the_question_names_is_a_source_once_it_is_found(graph: Graph, encoder: Embedder) -> None:
    question = "Where was Clara Voss born?"
    result = by_rule(graph, encoder, question, BELL, max_num_relations=5, max_num_entities=1, max_num_iterations=2)
    assert shown(result)[0] == "The Iron Bell -> director -> Clara Voss"
    assert [str(edge) for edge in result.chain] == ["Clara Voss -> born_in -> Kelburg"]


def test_another_encoder_is_compared_by_cosines(graph: Graph, encoder: Embedder) -> None:
    class Narrow:
        """An encoder of other weights and another dimension."""

        identity = EncoderIdentity("other", 200, "0" * 64)

        def encode(self, texts: Sequence[str]) -> Any:
            vectors = encoder.encode(texts)[:, :200]
            return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    retriever = TripletRetriever(Neighborhood(graph), RulePruner(Narrow(), graph))
    result = retriever.retrieve("Who directed The Iron Bell?", [BELL])
    assert [str(edge) for edge in result.chain] == ["The Iron Bell -> director -> Clara Voss"]


def test_facts_come_before_links(graph: Graph, encoder: Embedder) -> None:
    result = by_rule(graph, encoder, MAYOR, max_num_iterations=1, max_num_relations=5)
    assert shown(result)[-1] == "The Iron Bell -> LINKS_TO -> The Glass Door"
    assert len(result.triplets) == 5
    assert "LINKS_TO" not in str(shown(by_rule(graph, encoder, MAYOR, max_num_iterations=1, max_num_relations=4)))


def test_linked_articles_are_ranked_by_their_leads(physics_pack: Path, encoder: Embedder) -> None:
    with Graph(physics_pack / "pack.db") as graph:
        title, _ = graph.rows(
            "MATCH (a:Article)-[r:LINKS_TO]->() RETURN a.title, count(r) AS n ORDER BY n DESC, a.title LIMIT 1"
        )[0]
        near = RulePruner(encoder, graph).lead_vectors([title])
        assert near[title].shape == (384,)
        result = by_rule(
            graph, encoder, "How do electrons absorb light?", article(title), max_num_triplets=3, max_num_iterations=1
        )
        assert len(result.triplets) == 3
        assert {edge.relation for edge in result.triplets} <= {"LINKS_TO", "MENTIONS"}
        question = encoder.encode(["How do electrons absorb light?"])[0]
        others = {e.other(article(title)).key for e in edges_at(Neighborhood(graph), article(title))}
        scores = {t: float(v @ question) for t, v in RulePruner(encoder, graph).lead_vectors(others).items()}
        kept = {edge.other(article(title)).key for edge in result.triplets}
        assert max(scores, key=scores.__getitem__) in kept


def test_few_texts_are_encoded_and_none_twice(tmp_path: Path, encoder: Embedder) -> None:
    class Counting:
        identity = encoder.identity

        def __init__(self) -> None:
            self.texts: list[str] = []

        def encode(self, texts: Sequence[str]) -> Any:
            self.texts += texts
            return encoder.encode(texts)

    facts = [("Hub", f"relation_{n}", f"thing {n}") for n in range(200)]
    counting = Counting()
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [*facts, ("Hub", "founder", "Ann")], [])
        retriever = TripletRetriever(Neighborhood(graph), RulePruner(counting, graph), max_num_iterations=1)
        result = retriever.retrieve("Who founded the Hub?", [entity("Hub")])
        assert shown(result)[0] == "Hub -> founder -> Ann"
        assert len(counting.texts) < 160
        assert len(counting.texts) == len(set(counting.texts))
        before = len(counting.texts)
        retriever.retrieve("Who founded the Hub?", [entity("Hub")])
        assert len(counting.texts) == before


PEOPLE = [
    ("Ada Lorn", "death_date", "22 November 1963"),
    ("Ada Lorn", "death_place", "Ostia"),
    ("Zorland", "capital", "Kelburg"),
    ("Kelburg", "mayor", "Ida"),
    ("Kelburg", "located_in", "Zorland"),
    ("Borland", "capital", "Dorn"),
]


MORE = [
    ("Clara Voss", "birth_year", "1921"),
    ("Otto Prim", "born_in", "Ostia"),
    ("Ostia", "mayor", "Ann Orr"),
    ("Ostia", "located_in", "Zorland"),
    ("Zorland", "continent", "Avia"),
    ("Nils Abt", "born_in", "Kelburg"),
    ("Dorn", "mayor", "Nils Abt"),
]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with Graph(tmp_path_factory.mktemp("people") / "pack.db", read_only=False) as graph:
        fill(graph, PEOPLE, [])
        yield graph


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with Graph(tmp_path_factory.mktemp("larger") / "pack.db", read_only=False) as graph:
        fill(graph, [*FACTS, *MORE], ["The Iron Bell", "The Glass Door"])
        yield graph


@pytest.mark.parametrize(
    ("question", "chain"),
    [
        ("Where did Ada Lorn die?", ["Ada Lorn -> death_place -> Ostia"]),
        ("When did Ada Lorn die?", ["Ada Lorn -> death_date -> 22 November 1963"]),
        ("Why did Ada Lorn die?", []),
        ("How did Ada Lorn die?", []),
        ("What is the capital of Zorland?", ["Zorland -> capital -> Kelburg"]),
        ("What was the first capital of Zorland?", []),
        ("What was the capital of Zorland in 1850?", []),
        # Kelburg is where the way begins, though another source leads there.
        ("Who is the mayor of Kelburg?", ["Kelburg -> mayor -> Ida"]),
        # The source that the question names is Borland, whatever else the search began from.
        ("What is the capital of Borland?", ["Borland -> capital -> Dorn"]),
    ],
)
def test_the_answer_is_of_the_type_asked_for(people: Graph, encoder: Embedder, question: str, chain: list[str]) -> None:
    result = by_rule(people, encoder, question, *map(entity, ("Zorland", "Ada Lorn", "Borland", "Kelburg")))
    assert [str(edge) for edge in result.chain] == chain


@pytest.mark.parametrize(
    ("question", "chain"),
    [
        (MAYOR, WAY),
        ("In which city was Clara Voss born?", ["Clara Voss -> born_in -> Kelburg"]),
        # A time is no number and the other way round.
        ("When was Clara Voss born?", ["Clara Voss -> birth_year -> 1921"]),
        ("When was Nils Abt born?", []),
        ("How many people live in Kelburg?", ["Kelburg -> population -> 90210"]),
        ("What are the headquarters of Lumen Works?", ["Lumen Works -> headquarters -> Ostia"]),
        # "Mayor of X": what is nearest to the name comes first, and not from the other end.
        ("Where was the mayor of Kelburg born?", ["Kelburg -> mayor -> Otto Prim", "Otto Prim -> born_in -> Ostia"]),
        ("Where was Kelburg's mayor born?", ["Kelburg -> mayor -> Otto Prim", "Otto Prim -> born_in -> Ostia"]),
        (
            "Which films did Clara Voss direct?",
            ["The Glass Door -> director -> Clara Voss", "The Iron Bell -> director -> Clara Voss"],
        ),
        ("What is the phone number of Clara Voss?", []),
    ],
)
def test_the_chain_ends_at_the_answer(larger: Graph, encoder: Embedder, question: str, chain: list[str]) -> None:
    names = ("Clara Voss", "Nils Abt", "Kelburg", "Lumen Works")
    sources = [entity(name) for name in names if name in question] or [BELL]
    result = by_rule(larger, encoder, question, *sources)
    assert sorted(map(str, result.chain)) == sorted(chain)
