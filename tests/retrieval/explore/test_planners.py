"""The rule planner."""

from __future__ import annotations

from wikigr.graph.neighborhood import article
from wikigr.retrieval.explore.planners import Plan, PlannerState, RulePlanner

QUESTION = "Who directed The Iron Bell?"


FIRST = PlannerState(QUESTION, 0, (), (), ())


def test_the_rules_start_from_what_is_named_then_from_what_was_found() -> None:
    a, b, c = article("A"), article("B"), article("C")
    rules = RulePlanner([a, b], [b, c])
    assert rules.plan(FIRST) == Plan(nodes=(a, b))
    assert rules.plan(PlannerState(QUESTION, 1, (), (), (a, b))) == Plan(nodes=(c,))
    assert rules.plan(PlannerState(QUESTION, 2, (), (), ())).finish


def test_the_rules_without_a_name_start_from_what_was_found() -> None:
    rules = RulePlanner([], [article("C")])
    assert rules.plan(FIRST) == Plan(nodes=(article("C"),))
    assert rules.plan(PlannerState(QUESTION, 1, (), (), ())).finish
    assert RulePlanner([], []).plan(FIRST).finish
