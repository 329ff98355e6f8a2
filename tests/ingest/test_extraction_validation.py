from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from tests.ingest.extractions import graph

from wikigr.ingest.extraction_format import Entity, Extraction, Relation, SectionText, parse_extraction
from wikigr.ingest.extraction_validation import validate

PAULI = SectionText("Pauli (physicist)", ("Life",), "He was born in Vienna.\nUS and C++ < C, he said; it was the UNO.")


def validated(given: Mapping[str, Any], section: SectionText = PAULI) -> tuple[Extraction, Counter[str]]:
    found = parse_extraction(given)
    assert found is not None
    dropped: Counter[str] = Counter()
    return validate(found, section, dropped), +dropped


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        (("Berlin", "place"), "an entity that is not in the section"),
        (("Vien", "place"), "an entity that is not in the section"),
        (("it", "object"), "a name that is none"),
        (("He", "person"), "a name that is none"),
        (("  ", "object"), "a name that is none"),
        (("It Was", "work"), "an entity that is not in the section"),
        (("Vienna", "city"), "an entity of no known type"),
        (("Vienna " * 20, "place"), "a name that is too long"),
    ],
)
def test_a_name_that_the_section_does_not_contain_is_dropped(entity: tuple[str, str], reason: str) -> None:
    found, dropped = validated(graph([entity]))
    assert found == Extraction((), ())
    assert dropped == {reason: 1}


def test_names_in_the_text_the_title_or_the_headings_are_validated() -> None:
    found, dropped = validated(graph([("Pauli", "person", "Vienna ", "Berlin"), ("life", "concept"), ("US", "place")]))
    assert found.entities == (
        Entity("Pauli", "person", ("Vienna",)),
        Entity("life", "concept", ()),
        Entity("US", "place", ()),
    )
    assert not dropped


def test_names_are_found_in_scripts_without_spaces() -> None:
    section = SectionText("東京", (), "東京は日本の首都である。アメリカンもある。")
    found, dropped = validated(graph([("日本", "place"), ("アメリカ", "place")]), section)
    assert found.entities == (Entity("日本", "place", ()),)
    assert dropped == {"an entity that is not in the section": 1}


HELD = [("Pauli", "person"), ("Vienna", "place"), ("C++", "work"), ("C", "work"), ("UNO", "value")]


def test_a_relation_without_evidence_is_dropped(subtests: pytest.Subtests) -> None:
    for relation, reason in [
        (("Pauli", "lived in", "Vienna", "He lived in Vienna."), "evidence that is not in the section"),
        (("Pauli", "born in", "Vienna", "he was born in vienna."), "evidence that is not in the section"),
        (("Pauli", "born in", "Vienna", " "), "evidence that is not in the section"),
        (("Pauli", "born in", "Vienna", "he said"), "evidence that names neither side"),
        (("Pauli", "born in", "Berlin", "He was born in Vienna."), "a relation of something that is no entity"),
        (("Vienna", "is", "vienna", "He was born in Vienna."), "a relation of a thing to itself"),
        (("UNO", "in", "Vienna", "it was the UNO"), "a relation whose subject is a value"),
        (("Pauli", "born -> in", "Vienna", "He was born in Vienna."), "a relation without a usable name"),
        (("Pauli", "~in", "Vienna", "He was born in Vienna."), "a relation without a usable name"),
        (("Pauli", "born " * 20, "Vienna", "He was born in Vienna."), "a relation without a usable name"),
    ]:
        with subtests.test(relation=relation):
            found, dropped = validated(graph(HELD, [relation]))
            assert found.relations == ()
            assert dropped == {reason: 1}


def test_evidence_is_compared_without_regard_to_white_space_and_escapes() -> None:
    said = [("pauli", "Born_In", "Vienna", "born  in\nVienna.\nUS and"), ("C++", "less than", "C", "C++ &lt; C")]
    found, dropped = validated(graph(HELD, said))
    assert found.relations == (
        Relation("Pauli", "born in", "Vienna", "born in Vienna. US and"),
        Relation("C++", "less than", "C", "C++ < C"),
    )
    assert not dropped


def test_items_beyond_the_limits_are_ignored() -> None:
    text = " ".join(f"N{n}" for n in range(50))
    many = graph([(f"N{n}", "object") for n in range(50)], [("N0", f"before {n}", "N1", "N0 N1") for n in range(45)])
    found, dropped = validated(many, SectionText("T", (), text))
    assert (len(found.entities), len(found.relations)) == (40, 40)
    assert dropped == {"too many entities in a section": 10, "too many relations in a section": 5}
