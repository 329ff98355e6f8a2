"""What is compared, by what, and which end is asked for."""

from __future__ import annotations

import pytest

from wikigr.question.comparison import compare, compared_sides, decompose_choice

# Each question with the two things, the question about one of them, and which end of what is asked for.
COMPARED = """
Who was born first, Niels Bohr or Max Born?
    Niels Bohr | Max Born | When was X born? | lowest date
Who is younger, Paul Dirac or Max Born?
    Paul Dirac | Max Born | When was X born? | highest date
Which of Ada Lovelace and Marie Curie was born earlier?
    Ada Lovelace | Marie Curie | When was X born? | lowest date
who was born first Iain Pears or Richard Llewellyn ?
    Iain Pears | Richard Llewellyn | When was X born? | lowest date
Which magazine was published most recently, The Lady or Chic?
    The Lady | Chic | When was X published? | highest date
Which person went into space at a later date, Jähn or Fuglesang?
    Jähn | Fuglesang | When did X went into space? | highest date
Who was born first: Niels Bohr or Max Born?
    Niels Bohr | Max Born | When was X born? | lowest date
Of the two physicists, who was born first, Bohr or Born?
    Bohr | Born | When was X born? | lowest date
Which opera has more acts, Parsifal or Manon?
    Parsifal | Manon | How many acts does X have? | highest number
Which mountain is lower, Nanda Devi or Broad Peak?
    Nanda Devi | Broad Peak | How high is X? | lowest number
"""


def test_comparisons(subtests: pytest.Subtests) -> None:
    lines = COMPARED.strip().split("\n")
    for question, expected in zip(lines[::2], lines[1::2], strict=True):
        with subtests.test(question=question):
            found = compare(question)
            assert found is not None
            end = "lowest" if found.lowest else "highest"
            shown = (found.first, found.second, found.ask_about("X"), f"{end} {found.measure}")
            assert " | ".join(shown) == expected.strip()


def test_other_questions_compare_nothing() -> None:
    cases = [
        "Who was born first?",
        "Which is a comedy film, The Million Dollar Duck or Don Quixote?",
        "Were both Alvin Lee and Chad Gray lead vocalists for bands?",
        "What did Bohr or Einstein say first?",
        "Should I use a list or a tuple?",
        # More than two things.
        "Who was born first, Niels Bohr, Max Born or Marie Curie?",
        "Who is older, Niels Bohr or Max Born or Marie Curie?",
        # More than a comparison.
        "Who is older, Max Born or Niels Bohr, and where was he born?",
        # Negated.
        "Who was not born first, Niels Bohr or Max Born?",
        "Which mountain is not higher, Nanda Devi or Broad Peak?",
        "",
    ]
    assert [question for question in cases if compare(question) is not None] == []


def test_no_wording_takes_long() -> None:
    # A pattern that backtracks needs hours for these.
    for question in (
        "Aa " * 330,
        "Who is first, " + "Aa or " * 160,
        "Which of " + "Aa bb Cc " * 100,
        "A" * 600,
        "Film 1 " * 80,
    ):
        compare(question)
        compared_sides(question)


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Which is cheaper, the small oven or the large oven?", "the small oven", "the large oven"),
        ("Can Lift-1 or Lift-3 carry more?", "Lift-1", "Lift-3"),
        ("Who has more pupils, Ida Falk or Otto Prim?", "Ida Falk", "Otto Prim"),
        ("What is the difference in price between oak and ash?", "oak", "ash"),
        ("Compare the ferry with the train: which one is later?", "the ferry", "the train"),
        ("Is M1 older than M2?", "M1", "M2"),
    ],
)
def test_two_things_are_compared_by_anything(question: str, first: str, second: str) -> None:
    assert compared_sides(question) == (first, second)


def test_a_choice_without_a_degree_compares_nothing() -> None:
    assert compared_sides("Where do we meet, in the hall or in the yard?") is None


def test_a_choice_inside_a_question_is_a_comparison_to_make_first() -> None:
    found = decompose_choice("In which city was the older of Enrico Fermi and Wolfgang Pauli born?")
    assert found is not None
    assert found.description == "Which is older, Enrico Fermi or Wolfgang Pauli?"
    assert found.ask_about("Wolfgang Pauli") == "In which city was Wolfgang Pauli born?"
    assert decompose_choice("Who was the mother of Castor and Pollux?") is None
    assert decompose_choice("") is None


def test_what_the_second_side_leaves_out_is_taken_from_the_first() -> None:
    assert compared_sides("Which is dearer, the repair of a bike or of a pram?") == (
        "the repair of a bike",
        "the repair of a pram",
    )
