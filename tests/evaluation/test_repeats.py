from __future__ import annotations

import pytest

from wikigr.evaluation.groups import repeats
from wikigr.evaluation.samples import Sample


def test_figures_worked_by_hand() -> None:
    by_question = {"q1": (1.0, 1.0, 1.0), "q2": (0.0, 1.0, 1.0), "q3": (0.0, 0.0, 1.0), "q4": (0.0, 0.0, 0.0)}
    samples = [
        Sample("p", question, repeat, metrics={"accuracy": value, "mrr": 0.5})
        for question, values in by_question.items()
        for repeat, value in enumerate(values)
    ]
    # A question that failed once says nothing of what changes.
    samples += [Sample("p", "q5", 0, metrics={"accuracy": 1.0}), Sample("p", "q5", 1, error="down")]
    samples += [Sample("p", "q5", 2, metrics={"accuracy": 0.0})]
    found = repeats(samples, 3, "accuracy")
    assert found is not None
    # The means of the repeats are 1/4, 2/4 and 3/4.
    assert found["deviations"] == {"accuracy": pytest.approx(0.25), "mrr": 0.0}
    assert (found["questions"], found["judged"], found["unstable"], found["unstable_share"]) == (
        4,
        4,
        ("q2", "q3"),
        0.5,
    )


def test_a_metric_that_ceases_to_apply_has_changed() -> None:
    samples = [
        Sample("p", "q1", 0, metrics={"mrr": 0.5}),
        Sample("p", "q1", 1),
        Sample("p", "q2", 0),
        Sample("p", "q2", 1),
    ]
    found = repeats(samples, 2, "mrr")
    assert found is not None
    assert (found["questions"], found["judged"], found["unstable"], found["unstable_share"]) == (2, 1, ("q1",), 1.0)
    assert found["deviations"] == {}


def test_nothing_to_compare() -> None:
    samples = [Sample("p", "q1", 0, metrics={"accuracy": 1.0}), Sample("p", "q1", 1, error="down")]
    assert repeats(samples, 1, "accuracy") is None
    assert repeats(samples, 2, "accuracy") is None
