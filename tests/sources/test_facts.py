"""Facts are stated in the text of an article, one line each."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wikigr.segmentation import has_statement, sentence_spans
from wikigr.sources.article import SourceSection, Triple
from wikigr.sources.facts import FACTS, MAX_LINE_START, Infobox, add_facts, fact_line, readable_relation


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (["1815", "London"], "Ada — born: 1815; London."),
        (["London, U.K."], "Ada — born: London, U.K."),
        (["Who?"], "Ada — born: Who?"),
        (["London\n now", "London now"], "Ada — born: London now."),
        (["Captain", "(1832)", "Private"], "Ada — born: Captain (1832); Private."),
        (["Ann", "Songs:", "Bo"], "Ada — born: Ann; Songs: Bo."),
    ],
)
def test_the_values_of_a_field_share_a_line(values: Sequence[str], line: str) -> None:
    assert fact_line("Ada", "born", values) == line


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        ("birth_place", "birth place"),
        ("birthPlace", "birth place"),
        ("term_end2", "term end 2"),
        ("area_km2", "area km2"),
        ("P19", "P19"),
        ("DNA", "DNA"),
    ],
)
def test_relations_are_words(relation: str, words: str) -> None:
    assert readable_relation(relation) == words


def box(path: Sequence[str], *facts: tuple[str, str]) -> Infobox:
    return Infobox(tuple(path), tuple(Triple("S", relation, value) for relation, value in facts))


def outline(sections: Sequence[SourceSection], *boxes: Infobox) -> list[tuple[str, str]]:
    return [("/".join(section.heading_path), section.text) for section in add_facts(sections, boxes)[0]]


LEAD, PART, SUBPART, OTHER = (SourceSection(path, "Text.") for path in ((), ("A",), ("A", "B"), ("C", "D")))


def test_the_facts_of_the_lead_are_the_last_section() -> None:
    assert outline((LEAD, PART), box((), ("a", "1"), ("b", "2"))) == [
        ("", "Text."),
        ("A", "Text."),
        (FACTS, "S — a: 1.\nS — b: 2."),
    ]
    assert outline((), box((), ("a", "1"))) == [(FACTS, "S — a: 1.")]
    assert outline((LEAD,), box(())) == [("", "Text.")]
    assert outline((LEAD,)) == [("", "Text.")]


def test_the_facts_of_a_heading_follow_its_own_text() -> None:
    assert outline((LEAD, PART, SUBPART), box(("A",), ("a", "1"))) == [
        ("", "Text."), ("A", "Text."), (f"A/{FACTS}", "S, A — a: 1."), ("A/B", "Text."),
    ]  # fmt: skip
    # A heading may have no text of its own, or none at all.
    assert outline((LEAD, OTHER), box(("C",), ("a", "1")), box(("C", "E"), ("b", "2")), box(("F",), ("c", "3"))) == [
        ("", "Text."), (f"C/{FACTS}", "S, C — a: 1.\nS, C — b: 2."), ("C/D", "Text."), (FACTS, "S — c: 3."),
    ]  # fmt: skip


def test_infoboxes_of_one_section_keep_their_fields_apart() -> None:
    boxes = (
        box((), ("label", "Okeh"), ("label", "Stax"), ("year", "1951")),
        box((), ("year", "1951"), ("label", "Apple")),
    )
    sections, triples = add_facts((), boxes)
    assert [section.text for section in sections] == ["S — label: Okeh; Stax.\nS — year: 1951.\nS — label: Apple."]
    lines = ["S — label: Okeh; Stax."] * 2 + ["S — year: 1951."] * 2 + ["S — label: Apple."]
    assert [triple.line for triple in triples] == lines


def test_facts_are_in_the_order_of_the_text_and_their_lines_are_short() -> None:
    sections, triples = add_facts((LEAD, PART), (box((), ("a", "x" * 2 * MAX_LINE_START)), box(("A",), ("b", "2"))))
    assert [triple.relation for triple in triples] == ["b", "a"]
    assert [len(triple.line) for triple in triples] == [len("S, A — b: 2."), MAX_LINE_START]
    assert triples[1].line in sections[-1].text


def test_each_line_is_a_sentence() -> None:
    facts = ("label", "Impulse!"), ("label", "A–2"), ("recorded", "R.P.M. Studios"), ("place", "Ada, U.S."), ("n", "1")
    (section,), _ = add_facts((), [Infobox((), tuple(Triple("Yes Indeed! (album)", *fact) for fact in facts))])
    spans = [section.text[start:end] for start, end in sentence_spans(section.text)]
    assert spans == section.text.split("\n")
    assert has_statement(section.text)
