"""What calls use and cost: sums, and the list of prices."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml

import wikigr.llm.usage
from wikigr.llm.usage import Price, Usage, cost, price_of

LISTED = yaml.safe_load(Path(wikigr.llm.usage.__file__).with_name("prices.yaml").read_text())


def test_usages_add_up_unless_a_cost_is_unknown() -> None:
    first, second = Usage(1, 2, 3, 4, 1, 0.5), Usage(10, 20, 30, 40, 2, 0.25)
    assert first + second == Usage(11, 22, 33, 44, 3, 0.75)
    assert (first + second - first, first.total_tokens) == (second, 10)
    unknown = Usage(1, 1, calls=1, cost_usd=None)
    assert (Usage(cost_usd=3.0) + unknown + Usage(cost_usd=1.0)).cost_usd is None
    assert unknown.to_dict()["cost_usd"] is None


def test_every_listed_price_is_plausible() -> None:
    assert isinstance(LISTED["as_of"], datetime.date)
    assert LISTED["unit"] == "USD per million tokens"
    prices = {model: price_of(model) for model in LISTED["models"]}
    assert prices
    for model, price in prices.items():
        assert price is not None, model
        assert 0 < price.cache_read < price.input < price.cache_write < price.output, model
        assert price.cache_write == pytest.approx(1.25 * price.input), model
        assert price.output == pytest.approx(5 * price.input), model


@pytest.mark.parametrize(
    ("snapshot", "alias"),
    [
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"),
    ],
)
def test_a_snapshot_costs_as_much_as_its_alias(snapshot: str, alias: str) -> None:
    assert price_of(snapshot) == price_of(alias) is not None


@pytest.mark.parametrize(
    "model",
    ["", "llama3.2", "claude-opus-4-60", "claude-opus-4-6-2025", "claude-opus-4-6-202511011", "x-claude-opus-4-6"],
)
def test_an_unlisted_model_has_no_price(model: str) -> None:
    assert price_of(model) is None
    assert cost(model, input_tokens=1) is None


def test_the_cost_is_that_of_each_kind_of_token() -> None:
    assert price_of("claude-opus-4-6") == Price(input=5.0, output=25.0, cache_write=6.25, cache_read=0.5)
    million = 1_000_000
    for kind, dollars in {"input": 5.0, "output": 25.0, "cache_write": 6.25, "cache_read": 0.5}.items():
        assert cost("claude-opus-4-6", **{f"{kind}_tokens": million}) == pytest.approx(dollars)
    assert cost("claude-haiku-4-5", input_tokens=2000, output_tokens=300) == pytest.approx(0.0035)
