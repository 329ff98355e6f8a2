"""Selection of the facts that answer a question, by words and answer type."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.retrieval.explore.films import BELL, FACTS, MAYOR, WAY, by_rule, entity, fill

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph

PEOPLE = [
    ("Ada Lorn", "death_date", "22 November 1963"),
    ("Ada Lorn", "death_place", "Ostia"),
    ("Zorland", "capital", "Kelburg"),
    ("Kelburg", "mayor", "Ida"),
    ("Kelburg", "located_in", "Zorland"),
    ("Borland", "capital", "Dorn"),
]


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
def test_the_answer_is_of_the_type_asked_for(
    tmp_path: Path, encoder: Embedder, question: str, chain: list[str]
) -> None:
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, PEOPLE, [])
        result = by_rule(graph, encoder, question, *map(entity, ("Zorland", "Ada Lorn", "Borland", "Kelburg")))
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
def test_the_chain_ends_at_the_answer(tmp_path: Path, encoder: Embedder, question: str, chain: list[str]) -> None:
    more = [
        ("Clara Voss", "birth_year", "1921"),
        ("Otto Prim", "born_in", "Ostia"),
        ("Ostia", "mayor", "Ann Orr"),
        ("Ostia", "located_in", "Zorland"),
        ("Zorland", "continent", "Avia"),
        ("Nils Abt", "born_in", "Kelburg"),
        ("Dorn", "mayor", "Nils Abt"),
    ]
    with Graph(tmp_path / "pack.db", read_only=False) as graph:
        fill(graph, [*FACTS, *more], ["The Iron Bell", "The Glass Door"])
        names = ("Clara Voss", "Nils Abt", "Kelburg", "Lumen Works")
        sources = [entity(name) for name in names if name in question] or [BELL]
        result = by_rule(graph, encoder, question, *sources)
    assert sorted(map(str, result.chain)) == sorted(chain)
