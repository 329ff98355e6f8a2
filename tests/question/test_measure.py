"""What a question measures things by, and the attributes whose values have a form of their own."""

from __future__ import annotations

import pytest

from wikigr.question.measure import Grade, are_sums, asked_attribute, comparative, operation, states, superlative


@pytest.mark.parametrize(
    ("question", "dimension", "highest", "words"),
    [
        ("Which boat is the longest?", "length", True, "longest"),
        ("the heaviest parcel of the day", "mass", True, "heaviest"),
        ("Which hall is the biggest?", "amount", True, "biggest"),
        ("Which ticket is the least expensive?", "money", False, "least expensive"),
        ("Who has the most books?", "amount", True, "most"),
        ("Which member is the oldest?", "time", False, "oldest"),
    ],
)
def test_a_superlative_says_what_is_measured(question: str, dimension: str, highest: bool, words: str) -> None:
    assert superlative(question) == Grade(dimension, highest, words)  # type: ignore[arg-type]


@pytest.mark.parametrize("question", ["At most how many guests may come?", "Where is the harvest kept?", "a request"])
def test_other_words_of_the_form_are_no_superlatives(question: str) -> None:
    assert superlative(question) is None


def test_of_two_things_either_degree_compares() -> None:
    assert comparative("Is the oboe cheaper than the horn?") == Grade("money", False, "cheaper")
    assert comparative("Which is the tallest, A or B?") == Grade("length", True, "tallest")
    assert comparative("Which team has more players?") == Grade("amount", True, "more")
    assert comparative("Which water is it?") is None


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many hives are strong?", "count"),
        ("number of open invoices", "count"),
        ("How many of the boats are rented?", "count"),
        ("How many of K-7 do we have?", None),
        ("What do the three courses cost altogether?", "sum"),
        ("Which loan has the highest deposit?", "extreme"),
        ("When was the oboe lent?", None),
    ],
)
def test_what_is_to_be_done_with_rows(question: str, wanted: str | None) -> None:
    assert operation(question) == wanted


@pytest.mark.parametrize(
    ("question", "attribute", "stated", "other"),
    [
        ("How much does the ferry for cars cost?", "money", "vehicle: car | summer: 31.50", "The ferry takes 40 cars."),
        ("How heavy is the anvil?", "mass", "anvil | weight_kg: 69", "The anvil is 40 cm long."),
        ("What is Ida Falk's phone number?", "phone", "Ida Falk, 555-0133", "Ida Falk lives at number 14."),
        ("What is the e-mail address of the choir?", "email", "choir@example.org", "The choir meets on Monday."),
        ("How old is the mill?", "age", "built in 1843", "The mill has 3 floors."),
        ("When is Rosa's birthday?", "birthday", "Rosa: 4 March", "Rosa sings in November."),
        ("When is Nils's birthday?", "birthday", "born: 1961-02-11", "phone: 555-0133"),
        ("How many square metres has the loft?", "area", "Loft: 24 m²", "The loft has 16 chairs."),
    ],
)
def test_a_value_has_the_form_of_its_attribute(question: str, attribute: str, stated: str, other: str) -> None:
    assert asked_attribute(question) == attribute
    assert states(attribute, stated)
    assert not states(attribute, other)


def test_the_numbers_of_a_table_may_be_sums_by_its_heading() -> None:
    assert are_sums("money", "Revenue by quarter")
    assert not are_sums("mass", "Revenue by quarter")
    assert not are_sums("money", "Visitors by quarter")


def test_most_questions_ask_for_no_such_attribute() -> None:
    for question in ("Who repairs the oboe?", "Where was Ida Falk born?", "What is the run-time cost of a lookup?"):
        assert asked_attribute(question) == ""
    assert states("", "anything")
