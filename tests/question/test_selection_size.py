"""How much is read for a question, row by row of the reference's tuning table."""

from __future__ import annotations

import pytest

from wikigr.question.question import COMPREHENSIVE, EXPLANATORY, FACTUAL, SPECIFIC, SelectionSize, selection_size


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
def test_selection_size_by_question_type(question: str, expected: SelectionSize, figures: tuple[int, int]) -> None:
    assert selection_size(question) == expected
    assert (expected.num_docs, expected.max_sections) == figures
