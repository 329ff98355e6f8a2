"""Which nodes may answer a question, by their labels."""

from __future__ import annotations

import pytest

from wikigr.question.label_type import label_fits


@pytest.mark.parametrize(
    ("question", "fits", "does_not"),
    [
        ("When was it released?", "12 May 1931", "Rex Ingram"),
        ("Which day was it released?", "1931-05-12", "Metro"),
        ("How many moons has it?", "79 moons", "12 May 1931"),
        ("Who directed it?", "Rex Ingram", "1931"),
        ("Where is it?", "Elmira", "12 May 1931"),
    ],
)
def test_a_node_must_be_of_the_expected_type(question: str, fits: str, does_not: str) -> None:
    assert label_fits(question, fits)
    assert not label_fits(question, does_not)


@pytest.mark.parametrize("question", ["Why was it made?", "How was it made?"])
def test_no_node_is_a_reason_or_a_manner(question: str) -> None:
    assert not label_fits(question, "Rex Ingram")
    assert label_fits("What is it?", "Rex Ingram")
