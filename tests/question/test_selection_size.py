"""How much is read for a question, row by row of the reference's tuning table."""

from __future__ import annotations

import pytest

from wikigr.question.question import SelectionSize, selection_size


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is entanglement?", SelectionSize(3, 2)),
        ("Who was Bohr?", SelectionSize(3, 2)),
        ("How many moons has Mars?", SelectionSize(3, 2)),
        ("How does a laser work?", SelectionSize(5, 3)),
        ("Why is the sky blue?", SelectionSize(5, 3)),
        ("Tell me about quantum mechanics", SelectionSize(7, 5)),
        ("Describe the atom.", SelectionSize(7, 5)),
        ("What role does spin play in chemistry?", SelectionSize(3, 3)),
    ],
)
def test_selection_size_by_question_type(question: str, expected: SelectionSize) -> None:
    assert selection_size(question) == expected
