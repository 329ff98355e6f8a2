"""What a lead says by its form: definitions and dates of life."""

from __future__ import annotations

import pytest

from wikigr.answer.definition_patterns import BORN, DIED, is_definition, life_stems
from wikigr.index.lexical import stems
from wikigr.question import intent
from wikigr.question.intent import name_stems


@pytest.mark.parametrize(
    ("sentence", "title", "expected"),
    [
        ("Oxygen ( IPA: /x/) is a chemical element.", "Oxygen", True),
        ("In Greek mythology, Achilles (Ἀχιλλεύς) was a hero of the Trojan War.", "Achilles", True),
        ("Charles Robert Darwin FRS ( 12 February 1809 – 19 April 1882) was a naturalist.", "Charles Darwin", True),
        ("Mercury is the smallest planet.", "Mercury (planet)", True),
        ("The Battle of Hastings was fought in 1066.", "Battle of Hastings", True),
        ("The leaf is the primary site of photosynthesis.", "Photosynthesis", False),
        ("His mother Thetis comes to comfort Achilles.", "Achilles", False),
        ("It is a chemical element.", "Oxygen", False),
        (f"Oxygen, {'very ' * 20}much is to be said of it.", "Oxygen", False),
        ("", "Oxygen", False),
        ("The term hawk refers to birds of prey.", "Hawk", True),
        ("Cod denotes fish of the genus Gadus.", "Cod", True),
        ("Sir Isaac Newton, FRS (4 January 1643 – 31 March 1727) was an English physicist.", "Isaac Newton", True),
        ("Another improvement to quicksort is to use insertion sort.", "Quicksort", False),
        ("Until 1992 cod was caught off Newfoundland.", "Cod", False),
        ("Hawks were named among the most intelligent birds.", "Hawk", False),
        ("When a class definition is left normally, a class object is made.", "Class", False),
        ("Consequently, the term English poetry is ambiguous.", "English poetry", False),
    ],
)
def test_a_definition_names_the_thing_and_says_what_it_is(sentence: str, title: str, expected: bool) -> None:
    assert is_definition(sentence, title) is expected


@pytest.mark.parametrize(
    ("sentence", "title", "expected"),
    [
        ("Ray Charles Robinson (September 23, 1930 – June 10, 2004) was a singer.", "Ray Charles", BORN | DIED),
        ("Albert Einstein ( German pronunciation ) (1879-1955) was a physicist.", "Albert Einstein", BORN | DIED),
        ("Aristotle (384–322 BC) was a philosopher.", "Aristotle", BORN | DIED),
        ("Pat Cash (born May 27, 1965, in Melbourne) is a player.", "Pat Cash", BORN),
        ("Ada Nowak (1990-04-05) is a poet.", "Ada Nowak", BORN),
        ("Ada Nowak (1990– ) is a poet.", "Ada Nowak", BORN),
        ("Her brother Jan (1980–2001) was a poet.", "Ada Nowak", frozenset()),
        ("Ada Nowak (a poet) was born.", "Ada Nowak", frozenset()),
        ("Carbon (symbol C, number 6) is an element.", "Carbon", frozenset()),
        ("Elizabeth Rex (reigned 1558–1603) was a queen.", "Elizabeth Rex", frozenset()),
        ("Lou Reign (president 2001–2009) was born in Rome.", "Lou Reign", frozenset()),
        ("Mozart ( baptized as Johannes; January 27, 1756 – December 5, 1791) was a composer.", "Mozart", BORN | DIED),
    ],
)
def test_dates_beside_a_name_are_those_of_a_life(sentence: str, title: str, expected: frozenset[str]) -> None:
    assert life_stems(sentence, title) == expected


def test_the_stems_are_those_of_the_analyser() -> None:
    assert set(stems("born birth birthday birthplace")) == BORN
    assert set(stems("die died dies death dead")) == DIED
    assert set(stems("born birth birthday die died death date dates day year month")) == intent._LIFE_STEMS


def test_the_name_in_a_title_has_no_qualifier() -> None:
    assert name_stems("Mercury (planet)") == {"mercuri"}
    assert name_stems("The Battle of Hastings") == set(stems("Battle Hastings"))
