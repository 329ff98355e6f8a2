from __future__ import annotations

import pytest

from wikigr.question.answer_type import answer_type


@pytest.mark.parametrize(
    ("question", "holds", "lacks"),
    [
        ("When did the war end?", "It ended in 1945.", "It ended badly."),
        ("In what year was it built?", "Built in 1889 for a fair.", "Built for a fair."),
        ("Which century saw it?", "It was the 12th century.", "It was long ago."),
        ("How many moons has it?", "It has two moons.", "It has some moons."),
        ("What percentage is water?", "About 71 % of it.", "Most of it."),
        ("Who found it?", "It was found by Marie Curie.", "It was found by accident."),
        ("Where is it?", "It lies in Warsaw.", "It lies in the north."),
        ("Why does ice float?", "It floats because it is less dense.", "It floats on water."),
    ],
)
def test_the_wording_tells_the_type_of_answer(question: str, holds: str, lacks: str) -> None:
    expected = answer_type(question)
    assert expected is not None
    assert expected.found_by.search(holds)
    assert not expected.found_by.search(lacks)


def test_other_questions_expect_no_type() -> None:
    cases = ["What is spin?", "Describe tunnelling.", "Is light a wave?", ""]
    assert [question for question in cases if answer_type(question) is not None] == []
