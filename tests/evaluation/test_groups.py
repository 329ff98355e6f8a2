"""Figures by number of hops and by type."""

from __future__ import annotations

from typing import Any

import pytest

from wikigr.evaluation.groups import group_figures, hops_of

QUESTIONS: dict[str, dict[str, Any]] = {
    "a": {"type": "single", "answerable": True, "hops": None},
    "b": {"type": "two-hop", "answerable": True},
    "c": {"type": "comparison", "answerable": True, "hops": 2},
    "d": {"type": "comparison", "answerable": True, "hops": None},
    "e": {"type": "", "answerable": True},
    "u": {"type": "single", "answerable": False, "hops": 1},
}
MEANS = {
    "a": {"accuracy": 1.0, "recall@5": 1.0},
    "b": {"accuracy": 1.0, "all_found@5": 0.0},
    "c": {"accuracy": 0.0, "all_found@5": 1.0},
    "d": {"accuracy": 0.5},
    "u": {"accuracy": 1.0},
}


def test_hops_come_from_the_question_or_its_type() -> None:
    found = {id_: hops_of(question) for id_, question in QUESTIONS.items()}
    assert found == {"a": 1, "b": 2, "c": 2, "d": None, "e": None, "u": None}


def test_a_metric_counts_the_questions_that_have_it() -> None:
    found = group_figures("type", lambda asked: asked["type"] or None, MEANS, QUESTIONS, seed=0, resamples=99)
    groups = {group["type"]: group for group in found}
    assert list(groups) == ["comparison", "single", "two-hop"]
    assert groups["comparison"]["questions"] == groups["single"]["questions"] == 2
    found = groups["comparison"]["metrics"]["all_found@5"]
    assert (found["mean"], found["questions"]) == (1.0, 1)


def test_questions_of_a_cluster_are_drawn_together() -> None:
    questions = {f"q{n}": {"type": "two-hop", "answerable": True} for n in range(40)}
    means = {id_: {"accuracy": float(n < 20)} for n, id_ in enumerate(questions)}
    clusters = {id_: str(n // 10) for n, id_ in enumerate(questions)}
    (alone,) = group_figures("hops", hops_of, means, questions, seed=0, resamples=499)
    (drawn,) = group_figures("hops", hops_of, means, questions, seed=0, resamples=499, clusters=clusters)
    one, other = (group["metrics"]["accuracy"] for group in (alone, drawn))
    assert one["high"] - one["low"] < other["high"] - other["low"]
    assert one["mean"] == pytest.approx(other["mean"])
