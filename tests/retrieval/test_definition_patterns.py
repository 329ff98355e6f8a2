"""What a lead says by its form."""

from __future__ import annotations

from wikigr.index.lexical import stems
from wikigr.question.intent import name_stems
from wikigr.retrieval.definition_patterns import is_definition


def test_a_definition_names_the_thing_and_says_what_it_is() -> None:
    cases = {
        ("Oxygen ( IPA: /x/) is a chemical element.", "Oxygen"): True,
        ("In Greek mythology, Achilles (Ἀχιλλεύς) was a hero of the Trojan War.", "Achilles"): True,
        ("Charles Robert Darwin FRS ( 12 February 1809 – 19 April 1882) was a naturalist.", "Charles Darwin"): True,
        ("Mercury is the smallest planet.", "Mercury (planet)"): True,
        ("The Battle of Hastings was fought in 1066.", "Battle of Hastings"): True,
        ("The leaf is the primary site of photosynthesis.", "Photosynthesis"): False,
        ("His mother Thetis comes to comfort Achilles.", "Achilles"): False,
        ("It is a chemical element.", "Oxygen"): False,
        (f"Oxygen, {'very ' * 20}much is to be said of it.", "Oxygen"): False,
        ("", "Oxygen"): False,
        ("The term hawk refers to birds of prey.", "Hawk"): True,
        ("Cod denotes fish of the genus Gadus.", "Cod"): True,
        ("Sir Isaac Newton, FRS (4 January 1643 – 31 March 1727) was an English physicist.", "Isaac Newton"): True,
        ("Another improvement to quicksort is to use insertion sort.", "Quicksort"): False,
        ("Until 1992 cod was caught off Newfoundland.", "Cod"): False,
        ("Hawks were named among the most intelligent birds.", "Hawk"): False,
        ("When a class definition is left normally, a class object is made.", "Class"): False,
        ("Consequently, the term English poetry is ambiguous.", "English poetry"): False,
    }
    assert {(sentence, title): is_definition(sentence, title) for sentence, title in cases} == cases


def test_the_name_in_a_title_has_no_qualifier() -> None:
    assert name_stems("Mercury (planet)") == {"mercuri"}
    assert name_stems("The Battle of Hastings") == set(stems("Battle Hastings"))
