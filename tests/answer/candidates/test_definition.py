"""Definitions and reference entries are found where a question asks for them."""

from __future__ import annotations

import pytest
from tests.answer.evidence import candidates, evidence

from wikigr.index.candidate import Evidence
from wikigr.pack.open import Pack
from wikigr.sources.facts import FACTS


def defining(pack: Pack, question: str, *items: Evidence) -> str:
    """Return the first definition that is found, or nothing."""
    return next((found.text for found in candidates(pack, "definition", question, *items)), "")


def test_what_defines_comes_first_where_a_definition_is_asked_for(pack: Pack) -> None:
    lead = "A picture of Spin. Spin is a kind of angular momentum. It has no size."
    other = "Spin, spin and again spin: what is spin? Nobody asked for spin more than Pauli."
    items = [evidence("Spin#3", other, 1.0), evidence("Spin#0", lead, 0.1)]
    assert defining(pack, "What is spin?", *items) == "Spin is a kind of angular momentum."
    plain = "This is a featured article. Something turns, and yet it does not turn at all. It stays."
    best = defining(pack, "What is spin?", items[0], evidence("Spin#0", plain, 0.1))
    assert best == "Something turns, and yet it does not turn at all."


def test_facts_say_what_something_without_a_text_is(pack: Pack) -> None:
    facts = "Ida Falk — born in: the old town of Kelburg in Zorland.\nIda Falk — profession: actor."
    film = evidence("The Glass Door#0", "The Glass Door — starred actors: Ida Falk.", 0.9, FACTS)
    own = evidence("Ida Falk#0", facts, 1.0, FACTS)
    assert defining(pack, "Who is Ida Falk?", film, own) == facts
    text = evidence("Ida Falk#0", "Ida Falk is an actor. She lives in Kelburg.", 0.1)
    assert defining(pack, "Who is Ida Falk?", film, evidence("Ida Falk#1", facts, 1.0, FACTS), text) == (
        "Ida Falk is an actor."
    )
    assert defining(pack, "Where was Ida Falk born?", film, own) == ""


def test_an_entry_of_a_reference_explains_what_it_is_called(pack: Pack) -> None:
    signature = "@spin.turn_cache(size=128)\n@spin.turn_cache(function)"
    entry = evidence("spin#4", f"{signature}\n\nTurn a spin. New in version 3.4.", 0.2, "@spin.turn_cache")
    other = evidence("News#0", "A decorator spin.turn_cache was added, and turn_cache is faster now.", 1.0)
    for question in ("What does spin.turn_cache do?", "what is turn_cache", "spin.turn_cache"):
        assert defining(pack, question, entry, other) == "Turn a spin."
    # Not what is asked for, no entry, and an entry of just that name beside it.
    for question in ("What does spin do?", "Where does turn_cache come from?"):
        assert defining(pack, question, entry, other) != "Turn a spin."
    prose = evidence("spin#4", "What turn_cache means.\n\nTurn a spin.", 0.2, "turn_cache")
    assert defining(pack, "What does turn_cache do?", prose, other) == ""


@pytest.mark.parametrize(
    "signature", ["int turn(int spin, ...)", "turn: int = 5", "class turn(x)\nclass turn(x, y)", "turn (enum)", "turn"]
)
def test_an_entry_is_told_by_its_signature(pack: Pack, signature: str) -> None:
    content = f"{signature}\n\nReturn value: New reference. New in version 3.3. turn(1, ...) Turns a spin round."
    entry, other = evidence("spin#4", content, 0.2, "turn"), evidence("News#0", "How to turn. A turn is done.", 1.0)
    assert defining(pack, "What does turn do?", entry, other) == "Turns a spin round."


@pytest.mark.parametrize(
    ("heading", "content"),
    [
        ("Energy", "Energy (kcal) by food:\n\nSee what others say."),
        ("Energy", "Energy values\n\nThe table was made by Bob."),
        ("Energy", "Energy (1961) | Peak | Weeks\n\nThe table was made by Bob."),
        ("Energy", "Main article: History of Energy supply\n\nThe table was made by Bob."),
        ("E", "Energy\n\nThe table was made by Bob."),
        ("Energy", "Energy is conserved.\n\nThe table was made by Bob."),
        ("Energy", "Energy\nThe table was made by Bob."),
    ],
)
def test_an_ordinary_section_is_no_entry(pack: Pack, heading: str, content: str) -> None:
    assert defining(pack, f"What is {heading}?", evidence("Diet#3", content, 0.2, heading)) == ""


def test_where_an_article_defines_it_no_entry_does(pack: Pack) -> None:
    lead = evidence("Energy#0", "Energy is the ability to do work.", 0.3)
    entry = evidence("Diet#3", "energy\n\nEnergy is what food gives you.", 1.0, "energy")
    assert defining(pack, "What is energy?", lead, entry) == "Energy is the ability to do work."


def test_an_entry_of_just_that_name_comes_before_those_whose_name_ends_so(pack: Pack) -> None:
    method = evidence("spin#4", "spin.cache(x)\n\nIt returns what it kept.", 1.0, "spin.cache")
    exact = evidence("Glossary#1", "cache\n\nGalileo saw the moons of Jupiter in 1610.", 0.1, "cache")
    assert defining(pack, "What is a cache?", method, exact) == "Galileo saw the moons of Jupiter in 1610."
    assert defining(pack, "What is spin.cache?", method, exact) == "It returns what it kept."
