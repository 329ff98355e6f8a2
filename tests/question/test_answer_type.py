from __future__ import annotations

import pytest

from wikigr.question.answer_type import expected_kind


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
def test_a_question_word_asks_for_a_kind_of_thing(question: str, holds: str, lacks: str) -> None:
    kind = expected_kind(question)
    assert kind is not None
    assert kind.search(holds)
    assert not kind.search(lacks)


@pytest.mark.parametrize("question", ["What is spin?", "Describe tunnelling.", "Is light a wave?", ""])
def test_other_questions_ask_for_nothing_in_particular(question: str) -> None:
    assert expected_kind(question) is None
