"""The sentences that state a chain of facts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.answer.evidence import evidence, material

from wikigr.answer.candidates.path import sentences_stating
from wikigr.graph.neighborhood import Edge, Node, article
from wikigr.pack.open import Pack

TEXT = "Light is described by physics. Light is a wave (de Broglie). It has no mass in C++ or elsewhere."


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("de", "Light is a wave (de Broglie)."),
        ("C++", "It has no mass in C++ or elsewhere."),
        ("physic", None),
        ("Light", None),
    ],
)
def test_a_name_is_found_as_whole_words(physics_pack: Path, name: str, stated: str | None) -> None:
    with Pack(physics_pack) as pack:
        found_in = material(pack, "What is light?", evidence("Light#0", TEXT, 0.9))
    edge = Edge(article("Light"), "has", Node("entity", name.casefold(), name), "Light#0")
    assert [sentence.text for sentence in sentences_stating([edge], found_in)] == ([stated] if stated else [])


def test_one_of_several_facts_may_be_unstated_but_no_step(physics_pack: Path) -> None:
    with Pack(physics_pack) as pack:
        found_in = material(pack, "What is light?", evidence("Light#0", TEXT, 0.9))
    light = article("Light")

    def edge(relation: str, name: str) -> Edge:
        return Edge(light, relation, Node("entity", name.casefold(), name), "Light#0")

    stated, sibling, step = edge("described_by", "physics"), edge("described_by", "Nobody"), edge("is", "Nothing")
    assert [s.text for s in sentences_stating([stated, sibling], found_in)] == ["Light is described by physics."]
    assert sentences_stating([stated, step], found_in) == []
