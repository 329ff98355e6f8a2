from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from wikigr.errors import UsageError
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.usage import Usage

HAIKU = "claude-haiku-4-5"


def test_without_limits_everything_passes() -> None:
    Budget().reserve("any model", 10**9, 10**6)


@pytest.mark.parametrize(("limit", "passes"), [(1101, False), (1102, True)])
def test_a_call_is_stopped_by_its_worst_case_in_tokens(limit: int, passes: bool) -> None:
    budget = Budget(max_tokens=limit)
    # ceil(1003 / 2) + 500 tokens of input, and 100 of output.
    if passes:
        assert budget.reserve(HAIKU, 1003, 100).tokens == 1102
    else:
        with pytest.raises(BudgetError, match="1,101 tokens"):
            budget.reserve(HAIKU, 1003, 100)


@pytest.mark.parametrize(("limit", "passes"), [(0.00175, True), (0.00174, False)])
def test_a_call_is_stopped_by_its_worst_case_in_dollars(limit: float, passes: bool) -> None:
    budget = Budget(max_cost_usd=limit)
    # 1000 tokens of input at the price of writing the cache (1.25), 100 of output at 5.
    if passes:
        assert budget.reserve(HAIKU, 1000, 100).cost_usd == pytest.approx(0.00175)
    else:
        with pytest.raises(BudgetError):
            budget.reserve(HAIKU, 1000, 100)


def test_settling_counts_the_usage_and_releases_the_rest() -> None:
    budget = Budget(max_tokens=2000)
    held = budget.reserve(HAIKU, 1000, 900)
    with pytest.raises(BudgetError):
        budget.reserve(HAIKU, 1000, 900)
    budget.settle(Usage(60, 10, 20, 10, 1, 0.1), held)
    assert budget.spent.total_tokens == 100
    held = budget.reserve(HAIKU, 1000, 900)
    budget.settle(Usage(), held)
    budget.settle(Usage(1, calls=1))
    with pytest.raises(BudgetError):
        budget.reserve(HAIKU, 1000, 900)


def test_dollars_need_a_known_price() -> None:
    with pytest.raises(UsageError) as refused:
        Budget(max_cost_usd=1.0).reserve("llama3.2", 10, 10)
    assert "llama3.2" in refused.value.message
    assert "budget.max_tokens" in (refused.value.hint or "")
    spent = Budget(max_cost_usd=1.0)
    spent.settle(Usage(5, calls=1, cost_usd=None))
    with pytest.raises(UsageError):
        spent.reserve(HAIKU, 10, 10)
    Budget(max_tokens=10_000).reserve("llama3.2", 10, 10)


@pytest.mark.parametrize("limits", [{"max_tokens": -1}, {"max_cost_usd": -0.1}, {"max_cost_usd": float("nan")}])
def test_a_limit_must_be_a_number_from_zero(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Budget(**limits)


def test_threads_cannot_pass_it_together() -> None:
    budget = Budget(max_tokens=10 * 1100)
    together = threading.Barrier(16)

    def call(_: int) -> bool:
        together.wait(10)
        try:
            budget.reserve(HAIKU, 1000, 100)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(call, range(16))) == 10


def test_a_call_that_broke_off_counts_as_its_worst_case() -> None:
    budget = Budget(max_tokens=3000)
    held = budget.reserve("claude-opus-4-6", 1000, 1000)
    budget.settle(Usage(input_tokens=100), held, worst_case=True)
    with pytest.raises(BudgetError, match="2,000 are spent or in use"):
        budget.reserve("claude-opus-4-6", 1000, 1000)
