"""The breadth of a question, row by row of the reference's tuning table."""

from __future__ import annotations

import pytest

from wikigr.question.breadth import COMPREHENSIVE, EXPLANATORY, FACTUAL, SPECIFIC, Breadth, breadth


@pytest.mark.parametrize(
    ("question", "expected", "figures"),
    [
        ("What is entanglement?", FACTUAL, (3, 2)),
        ("Who was Bohr?", FACTUAL, (3, 2)),
        ("How many moons has Mars?", FACTUAL, (3, 2)),
        ("How does a laser work?", EXPLANATORY, (5, 3)),
        ("Why is the sky blue?", EXPLANATORY, (5, 3)),
        ("Tell me about quantum mechanics", COMPREHENSIVE, (7, 5)),
        ("Describe the atom.", COMPREHENSIVE, (7, 5)),
        ("What role does spin play in chemistry?", SPECIFIC, (3, 3)),
    ],
)
def test_breadth_by_question_type(question: str, expected: Breadth, figures: tuple[int, int]) -> None:
    assert breadth(question) == expected
    assert (expected.num_docs, expected.max_sections) == figures
